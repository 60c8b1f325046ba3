"""`GET /metrics`: complete, in both formats, right while parts are down, for those who may see the house."""

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics_families
from prometheus_client.parser import text_string_to_metric_families

from models.ledger import DetectionRecord, Finished
from models.totals import Totals
from pipeline.errors import DatabaseUnavailable, QueueUnavailable
from pipeline.metrics import METRICS
from pipeline.queue import Pulse, Task
from pipeline.queue.keys import Keys
from pipeline.queue.types import DeviceRules
from pipeline.scheduler.watermark import publish_watermark
from pipeline.simulation.live.statistics import ServerStatistics
from pipeline.submission import TextSubmission
from tests.support.records import new_task
from tests.support.service import MAC, BrokenStore, on_sqlite

OPENMETRICS = "application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.3,*/*;q=0.2"
WORKER = {"hostname": "h", "pid": "1", "queues": "ocr,text", "effective_concurrency": "3", "lane_slots": "ocr=1 text=2"}


def scrape(service, **parts):
    """By name and labels, every value there is."""
    result = service.http(measured=service.measured(**parts)).simulate_get("/metrics")
    assert result.status_code == 200
    return samples(result.text)


def samples(text, parse=text_string_to_metric_families):
    return {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in parse(text)
        for sample in family.samples
    }


def of(found, name, **labels):
    return found[f"fairlane_{name}", *sorted(labels.items())]


def end(service, task_id, wait_ms=0):
    service.ledger.accept(new_task(task_id, lane="text", created_ms=service.clock.now_ms()))
    service.clock.advance(wait_ms)
    service.ledger.start(task_id, 1, 1)
    found = DetectionRecord("x", "block", [{"word": "x"}] * 2)
    service.ledger.finish(task_id, 1, Finished(None, found, [], 300))
    service.statistics.count()


class SilentPulse(Pulse):
    def lanes(self):
        raise QueueUnavailable("lanes: no answer from redis://10.1.2.3")


@pytest.mark.feature("H5")
def test_every_declared_metric_is_exported_and_no_other_in_both_formats(service):
    end(service, "a")
    plain = service.http().simulate_get("/metrics")
    assert plain.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    names = {
        family.name + ("_total" if family.type == "counter" else "")
        for family in text_string_to_metric_families(plain.text)
    }
    assert names == {metric.name for metric in METRICS}

    exact = service.http().simulate_get("/metrics", headers={"Accept": OPENMETRICS})
    assert exact.headers["Content-Type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8"
    units = {family.name: family.unit for family in openmetrics_families(exact.text)}
    assert units == {metric.name.removesuffix("_total"): metric.unit for metric in METRICS}


@pytest.mark.feature("H5")
def test_lanes_devices_and_the_limit_are_told_as_they_are(service):
    for number in range(3):
        service.intake().submit_text(TextSubmission(mac=MAC, text=f"x{number}"))
    service.clock.advance(40_000)
    service.queue.claim("text")
    service.queue.set_device("112233445566", DeviceRules(is_paused=True))

    found = scrape(service)

    text = {"lane": "text"}
    assert (of(found, "waiting_tasks", **text), of(found, "running_tasks", **text)) == (2, 1)
    assert (of(found, "oldest_wait_seconds", **text), of(found, "starved_devices", **text)) == (40, 1)
    assert (of(found, "waiting_devices", **text), of(found, "queued_tasks_total", **text)) == (1, 3)
    assert (of(found, "paused_devices"), of(found, "backing_off_devices"), of(found, "full_devices")) == (1, 0, 0)
    assert (of(found, "pending_tasks"), of(found, "pending_tasks_limit")) == (3, 5_000)


@pytest.mark.feature("H5")
def test_workers_slots_and_what_the_scheduler_publishes_are_told_by_lane(service):
    now = str(service.clock.now_ms())
    rest = {"last_heartbeat": now}
    service.roster.enter("h:1", {**WORKER, **rest, "engine": "rapid", "gpu_available": "0"}, ttl_ms=60_000)
    gpu = {"pid": "2", "queues": "ocr", "lane_slots": "ocr=4", "engine": "paddle", "gpu_available": "1"}
    service.roster.enter("h:2", {**WORKER, **rest, **gpu}, ttl_ms=60_000)
    service.roster.enter(
        "h:3", {**WORKER, **gpu, "pid": "3", "state": "held", "engine": "of no known kind"}, ttl_ms=60_000
    )
    publish_watermark(service.inspector, service.roster, interval_ms=15_000)
    service.clock.advance(2_000)

    found = scrape(service)

    engines = {name: of(found, "workers", lane="ocr", engine=name) for name in ("rapid", "paddle", "none", "other")}
    assert engines == {"rapid": 1, "paddle": 1, "none": 0, "other": 1}
    assert (of(found, "gpu_workers", lane="ocr"), of(found, "held_workers", lane="ocr")) == (2, 1)
    assert of(found, "slots", lane="ocr", state="effective") == 5
    assert of(found, "slots", lane="text", state="idle") == 2
    assert of(found, "worker_heartbeat_age_seconds", lane="ocr") < 30
    assert (of(found, "watermark_age_seconds"), of(found, "desired_workers", lane="text")) == (2, 1)
    assert of(found, "up", part="scheduler") == 1


@pytest.mark.feature("H5")
def test_ends_hits_and_durations_come_from_the_ledger_and_add_up(service):
    end(service, "a", wait_ms=700)
    end(service, "b", wait_ms=20_000)

    found = scrape(service)

    assert of(found, "task_ends_total", lane="text", outcome="done") == 2
    assert (of(found, "hits_total", lane="text"), of(found, "tasks_with_hits_total", lane="text")) == (4, 2)
    buckets = {
        le: of(found, "wait_seconds_bucket", lane="text", le=le) for le in ("0.5", "1.0", "10.0", "30.0", "+Inf")
    }
    assert buckets == {"0.5": 0, "1.0": 1, "10.0": 1, "30.0": 2, "+Inf": 2}
    assert (of(found, "wait_seconds_sum", lane="text"), of(found, "run_seconds_sum", lane="text")) == (20.7, 0.6)
    assert of(found, "wait_seconds_count", lane="ocr") == 0
    assert of(found, "stage_seconds_count", lane="ocr", stage="fetch") == 0


@pytest.mark.feature("H5")
def test_what_ended_and_is_not_counted_yet_is_a_lag(service):
    service.ledger.accept(new_task("a"))
    service.ledger.close("a", "cancelled", "cancelled", "")
    service.clock.advance(9_000)

    assert of(scrape(service), "tally_lag_seconds") == 9


@pytest.mark.feature("H5")
def test_refusals_are_counted_by_reason_those_inside_a_batch_too(service_of):
    service = service_of(max_per_mac_pending=1)
    http = service.http()
    for text in ("a", "b"):
        http.simulate_post("/api/ocr/text", json={"mac": MAC, "text": text})
    batch = {"tasks": [{"mac": MAC, "text": text} for text in ("c", "d")]}
    assert http.simulate_post("/api/ocr/text", json=batch).json["refused"] == 2
    service.counters.flush()

    found = scrape(service)

    assert of(found, "refusals_total", reason="device_backlog_full") == 3
    assert of(found, "refusals_total", reason="queue_full") == 0
    posted = {"method": "POST", "route": "/api/ocr/text"}
    assert of(found, "http_requests_total", **posted, status="202") == 2
    assert of(found, "http_requests_total", **posted, status="429") == 1
    assert of(found, "http_request_seconds_count", **posted) == 3


@pytest.mark.feature("H5")
def test_requests_are_counted_by_template_and_those_without_a_route_as_one(service):
    http = service.http()
    for path in ("/api/ocr/tasks/a", "/api/ocr/tasks/b", "/wp-login.php", "/x"):
        http.simulate_get(path)
    http.simulate_request("TRACE", "/x")
    service.counters.flush()

    found = scrape(service)

    assert of(found, "http_requests_total", method="GET", route="/api/ocr/tasks/{task_id}", status="404") == 2
    assert of(found, "http_requests_total", method="GET", route="other", status="404") == 2
    assert {dict(key[1:])["method"] for key in found if key[0] == "fairlane_http_requests_total"} == {"GET", "other"}


def test_a_long_poll_counts_once_with_its_wait(service):
    receipt = service.intake().submit_text(TextSubmission(mac=MAC, text="x"))
    service.http().simulate_get(f"/api/ocr/tasks/{receipt.task_id}", query_string="wait=2")
    assert len(service.pauses) > 1
    service.counters.flush()

    found = scrape(service)

    polled = {"method": "GET", "route": "/api/ocr/tasks/{task_id}"}
    assert of(found, "http_requests_total", **polled, status="200") == 1
    assert of(found, "http_request_seconds_sum", **polled) >= 2


@pytest.mark.feature("H5")
@on_sqlite
@pytest.mark.parametrize(
    ("part", "broken"),
    [
        ("queue", lambda service: {"pulse": SilentPulse(service.client, [Keys("sensitive:")])}),
        ("scheduler", lambda service: {"inspector": service.silent_inspector()}),
        ("storage", lambda service: {"store": BrokenStore()}),
    ],
)
def test_a_part_that_is_down_is_named_and_the_others_are_told(service, part, broken):
    end(service, "a")
    found = scrape(service, **broken(service))

    assert of(found, "up", part=part) == 0
    assert of(found, "up", part="database") == 1
    assert of(found, "task_ends_total", lane="text", outcome="done") == 1
    if part != "scheduler":
        assert ("fairlane_waiting_tasks", ("lane", "text")) in found, "what was read before the failure is kept"


@pytest.mark.feature("H5")
@on_sqlite
def test_a_silent_database_leaves_what_the_queue_says(service, monkeypatch):
    def silent(self):
        raise DatabaseUnavailable("no answer from 10.1.2.3")

    monkeypatch.setattr(Totals, "ends", silent)
    found = scrape(service)

    assert (of(found, "up", part="database"), of(found, "up", part="queue")) == (0, 1)
    assert not [key for key in found if key[0] == "fairlane_task_ends_total"]


@on_sqlite
def test_a_bug_in_one_reader_is_logged_and_hides_no_other(service, monkeypatch, caplog):
    monkeypatch.setattr(Totals, "ends", lambda self: 1 / 0)

    assert of(scrape(service), "up", part="database") == 0
    assert "ZeroDivisionError" in caplog.text


@pytest.mark.feature("H5")
def test_without_a_watermark_the_scheduler_is_down(service):
    assert of(scrape(service), "up", part="scheduler") == 0


@pytest.mark.feature("H5")
@on_sqlite
def test_a_scrape_takes_no_more_commands_with_many_devices_and_never_scans(service, valkey):
    statistics = ServerStatistics(valkey)

    def commands():
        with statistics.recording() as calls:
            scrape(service)
        return [command for call in calls for command in call]

    def submit(first, last):
        for number in range(first, last):
            mac = f"{number:012x}"
            service.queue.enqueue(Task(f"t{number}", "text", mac, service.clock.now_ms()))

    submit(0, 300)
    few = commands()
    submit(300, 900)
    many = commands()

    assert len(many) == len(few) < 120
    assert not {command[0].upper() for command in many} & {b"SCAN", b"KEYS", b"SMEMBERS", b"HSCAN", b"ZSCAN"}


@on_sqlite
def test_no_label_tells_a_device_site_or_host(service):
    service.roster.enter("secret-host:1", {**WORKER, "hostname": "secret-host"}, ttl_ms=60_000)
    service.intake().submit_text(TextSubmission(mac=MAC, text="x", site="local"))
    text = service.http().simulate_get("/metrics").text

    assert MAC not in text
    assert "secret-host" not in text
