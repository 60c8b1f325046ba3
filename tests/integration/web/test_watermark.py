"""The snapshot over HTTP: whole, and short for autoscalers; a refusal when no scheduler has published."""

import pytest

from pipeline.scheduler.watermark import publish_watermark
from pipeline.submission import TextSubmission
from tests.support.service import MAC, on_sqlite

PATHS = ["/api/watermark", "/api/scale"]

each_path = pytest.mark.parametrize("path", PATHS)


def published(service):
    publish_watermark(service.inspector, service.roster, interval_ms=15_000)
    return service.http()


@pytest.mark.feature("S8")
def test_the_watermark_is_shown(service):
    service.intake().submit_text(TextSubmission(mac=MAC, text="x"))
    service.clock.advance(1_500)

    shown = published(service).simulate_get("/api/watermark").json

    assert (shown["total_pending"], shown["mac_count"], shown["active_workers"]) == (1, 1, 0)
    assert shown["timestamp"] == service.clock.now_ms()
    text = shown["lanes"]["text"]
    assert (text["waiting"], text["oldest_wait_ms"], text["slots"]["effective"]) == (1, 1_500, 0)
    assert text["expected_wait_ms"] is None


@pytest.mark.feature("S8")
def test_an_autoscaler_reads_the_wanted_workers_of_a_lane_as_a_flat_number(service):
    service.intake().submit_text(TextSubmission(mac=MAC, text="x"))
    worker = {"hostname": "h", "queues": "text", "effective_concurrency": "2", "active_tasks": "1"}
    service.roster.enter("h:1", worker, ttl_ms=60_000)

    shown = published(service).simulate_get("/api/scale").json

    assert shown["target_wait_seconds"] == 60
    assert shown["lanes"]["ocr"]["desired_workers"] == 0
    assert shown["lanes"]["text"] == {
        "desired_workers": 1,
        "workers": 1,
        "busy_workers": 1,
        "slots": 2,
        "waiting": 1,
        "delayed": 0,
        "in_flight": 0,
        "work_seconds": 0.1,
        "expected_wait_seconds": 0.05,
    }


@pytest.mark.feature("S8")
@on_sqlite
@each_path
def test_without_a_scheduler_the_answer_is_503_and_when_to_ask_again(service, path):
    result = service.http().simulate_get(path)

    assert (result.status_code, result.json["type"]) == (503, "/problems/no-watermark")
    assert result.headers["Retry-After"] == "5"


@on_sqlite
@each_path
def test_a_snapshot_of_another_version_is_none(service, path):
    service.roster.publish_watermark({"total_pending": 3, "timestamp": 1.5}, ttl_ms=20_000)

    assert service.http().simulate_get(path).status_code == 503
