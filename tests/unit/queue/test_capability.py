"""Who is capable: what a registry entry must say for a lane."""

from typing import Any

import pytest

from pipeline.queue import Needs, has_slots_by_lane, lanes_served, serving, slots_in

GPU = Needs(gpu=frozenset({"ocr"}))


def entry(queues: str = "ocr", **fields: Any) -> dict[str, str]:
    return {"queues": queues, **fields}


@pytest.mark.feature("S5")
def test_where_a_gpu_is_required_only_workers_that_have_one_are_capable() -> None:
    workers = [entry(gpu_available="0"), entry(), has := entry(gpu_available="1")]

    assert GPU.capable(workers, "ocr") == [has]
    assert Needs().capable(workers, "ocr") == workers
    assert serving(workers, "ocr") == workers


def test_a_worker_is_capable_of_the_lanes_it_serves_only() -> None:
    assert GPU.capable([entry("text", gpu_available="1")], "ocr") == []
    assert GPU.capable([entry("ocr,text")], "text") == [entry("ocr,text")]


@pytest.mark.feature("S5")
def test_a_worker_of_the_downgrade_queue_uses_no_gpu_even_if_its_host_has_one() -> None:
    worker = entry("ocr_cpu", gpu_available="1")

    assert GPU.capable([worker], "ocr") == []
    assert Needs().capable([worker], "ocr") == [worker]
    assert lanes_served(worker) == ["ocr"]


def test_a_held_worker_is_capable() -> None:
    assert GPU.capable([entry(gpu_available="1", state="held")], "ocr")


@pytest.mark.feature("S3")
def test_a_worker_of_several_lanes_has_the_slots_of_each_for_itself() -> None:
    worker = entry("notify,text", effective_concurrency="6", lane_slots="notify=2 text=4")

    assert (slots_in([worker], "text"), slots_in([worker], "notify")) == (4, 2)
    assert has_slots_by_lane(worker)
    assert not has_slots_by_lane(entry("ocr,text", effective_concurrency="6"))


def test_slots_are_what_can_really_run_and_what_no_fairlane_wrote_counts_for_nothing() -> None:
    workers = [entry(effective_concurrency="2"), entry(), entry(effective_concurrency="1")]
    assert slots_in(workers, "ocr") == 3
    assert lanes_served({"queues": "ocr,mystery,ocr_cpu"}) == ["ocr"]
    assert lanes_served({}) == []
