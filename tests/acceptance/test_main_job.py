"""The main job: a picture or a text in, what it says and what was found out."""

import pytest

from pipeline.queue import LANES
from pipeline.samples import sample_images
from tests.acceptance.conftest import Running
from tests.support.processes import wait_until

PHONE, KIOSK = "0a:00:00:00:00:01", "0a:00:00:00:00:02"


def picture(name: str) -> bytes:
    return next(data for found, data in sample_images() if name in found)


@pytest.mark.feature("H1")
@pytest.mark.feature("O4")
@pytest.mark.feature("R2")
def test_a_picture_is_read_screened_and_stored(fairlane: Running) -> None:
    receipt = fairlane.api.submit_image("chat.png", picture("part_time_job"), PHONE, ["兼职助手"])
    task = fairlane.api.task(receipt["task_id"], wait_s=30)

    assert (task["state"], task["mac"], task["attempts"]) == ("done", "0a0000000001", 1)
    found = {(hit["word"], hit["list"]) for hit in task["detection"]["hits"]}
    assert {("兼职助手", "request"), ("加微信", "global"), ("刷单返利", "global")} <= found
    text = task["ocr"]["text"]
    for hit in task["detection"]["hits"]:
        assert text[hit["start"] : hit["end"]] == hit["surface"]
    assert all(len(line["box"]) == 4 and 0 < line["confidence"] <= 1 for line in task["ocr"]["lines"])
    steps = {step["name"]: step["state"] for step in task["steps"]}
    assert steps == {
        "enqueued": "done",
        "fetch": "done",
        "ocr": "done",
        "screen": "done",
        "store": "done",
        "notify": "skipped",
        "archive": "done",
        "cleanup": "skipped",
    }


@pytest.mark.feature("D1")
def test_a_text_is_screened(fairlane: Running) -> None:
    receipt = fairlane.api.submit_text("有事加微信,不加ＷＥＣＨＡＴ", PHONE, ["wechat"])
    task = fairlane.api.task(receipt["task_id"], wait_s=30)

    spans = {(hit["word"], hit["start"], hit["end"]) for hit in task["detection"]["hits"]}
    assert spans == {("加微信", 2, 5), ("wechat", 8, 14)}
    assert task["detection"]["suggestion"] == "block"
    assert task["ocr"] is None


def test_a_picture_that_breaks_off_fails_once_and_says_why(fairlane: Running) -> None:
    whole = picture("water_notice")
    receipt = fairlane.api.submit_image("cut.png", whole[: len(whole) // 2], PHONE)
    task = fairlane.api.task(receipt["task_id"], wait_s=30)

    assert (task["state"], task["attempts"], task["error"]["code"]) == ("failed", 1, "bad_image")


@pytest.mark.feature("Q5")
def test_a_light_device_does_not_wait_behind_a_flood(fairlane: Running) -> None:
    image = picture("receipt")
    flood = [fairlane.api.submit_image("r.png", image, PHONE)["task_id"] for _ in range(12)]
    light = fairlane.api.submit_image("r.png", image, KIOSK)["task_id"]

    fairlane.api.task(light, wait_s=30)
    states = [fairlane.api.task(task_id)["state"] for task_id in flood]

    # Up to two of the flood were served while the light one was on its way; the rest still waits.
    assert states.count("queued") >= 6
    for task_id in flood:
        assert fairlane.api.task(task_id, wait_s=30)["state"] == "done"


@pytest.mark.feature("S8")
def test_status_shows_every_lane_every_worker_and_the_watermark(fairlane: Running) -> None:
    queue, workers = fairlane.api._ask("/api/queue"), fairlane.api._ask("/api/workers")
    wait_until(lambda: fairlane.inspector.watermark())
    watermark = fairlane.api._ask("/api/watermark")

    assert [lane["lane"] for lane in queue["lanes"]] == list(LANES)
    assert sorted(worker["queues"] for worker in workers["workers"]) == ["notify,text", "notify,text", "ocr"]
    assert {"timestamp", "total_pending", "mac_count", "active_workers"} <= set(watermark)


def test_the_text_worker_has_no_engine_process(fairlane: Running) -> None:
    (master, *_) = fairlane.processes("dramatiq", "--queues text")

    assert not [child for child in master.children(recursive=True) if "spawn_main" in " ".join(child.cmdline())]


def test_all_books_balance_after_it_all(fairlane: Running) -> None:
    fairlane.assert_books_balance()
