"""Health, lanes, workers, watermark, and the description of the interface."""

import json

import falcon.inspect
import pytest

from pipeline.errors import DatabaseUnavailable
from pipeline.submission import TextSubmission
from tests.support.service import MAC, BrokenLedger, BrokenStore, on_sqlite
from web.dashboard.pages import dashboard_routes
from web.router import HeadRouter

WORKER = {
    "hostname": "host1",
    "pid": "12",
    "queues": "ocr,text",
    "cpu_percent": "12.5",
    "version": "1",
    "engine": "rapid",
}

falcon.inspect.register_router(HeadRouter)(falcon.inspect.inspect_compiled_router)


def get(service, path, **parts):
    return service.http(**parts).simulate_get(path)


def reasons(result):
    assert (result.status_code, result.json["type"]) == (503, "/problems/not-ready")
    assert "10.1.2.3" not in result.text
    return [error["pointer"] for error in result.json["errors"]]


class SilentLedger(BrokenLedger):
    def get(self, task_id):
        raise DatabaseUnavailable("get: no answer from 10.1.2.3")


def silent(service):
    return {
        "inspector": service.silent_inspector(),
        "ledger": SilentLedger(service.database, service.clock),
        "store": BrokenStore(),
    }


@pytest.mark.feature("H5")
def test_the_process_is_alive_whatever_else_is_down(service):
    assert get(service, "/livez", **silent(service)).json == {"status": "alive"}


@pytest.mark.feature("H5")
def test_the_service_is_ready_when_every_part_answers(service):
    assert get(service, "/readyz").json == {"status": "ready"}
    assert service.objects() == []


@pytest.mark.feature("H5")
def test_the_service_is_not_ready_and_says_all_that_is_down(service):
    assert reasons(get(service, "/readyz", **silent(service))) == ["/queue", "/database", "/storage"]


@pytest.mark.feature("H5")
def test_the_service_is_not_ready_while_tasks_wait_and_nobody_serves_their_lane(service):
    service.intake().submit_text(TextSubmission(mac=MAC, text="x"))
    service.roster.enter("h:1", {**WORKER, "queues": "ocr"}, ttl_ms=60_000)
    result = get(service, "/readyz")
    assert reasons(result) == ["/queue"]
    assert "lane text" in result.json["errors"][0]["detail"]
    service.roster.enter("h:2", {**WORKER, "queues": "text"}, ttl_ms=60_000)
    assert get(service, "/readyz").status_code == 200


def test_lanes_are_shown(service):
    service.intake().submit_text(TextSubmission(mac=MAC, text="x"))
    service.clock.advance(1_500)
    assert get(service, "/api/queue").json["lanes"] == [
        {"lane": "ocr", "waiting": 0, "delayed": 0, "leased": 0, "devices": 0, "oldest_wait_ms": 0},
        {"lane": "text", "waiting": 1, "delayed": 0, "leased": 0, "devices": 1, "oldest_wait_ms": 1_500},
        {"lane": "notify", "waiting": 0, "delayed": 0, "leased": 0, "devices": 0, "oldest_wait_ms": 0},
    ]


@pytest.mark.feature("S3")
def test_workers_are_shown_with_both_concurrencies_state_and_age(service):
    held = {"state": "held", "holds": "CPU over its watermark; stopping", "cpu_count": "0.50", "gpu_available": "0"}
    slots = {"declared_concurrency": "4", "effective_concurrency": "1", "active_tasks": "1", "idle_slots": "0"}
    heard = {"last_heartbeat": str(service.clock.now_ms())}
    service.roster.enter("host1:12", {**WORKER, **held, **slots, **heard}, ttl_ms=60_000)
    service.clock.advance(1_500)
    (worker,) = get(service, "/api/workers").json["workers"]
    assert (worker["pid"], worker["queues"], worker["cpu_percent"], worker["version"]) == (12, "ocr,text", 12.5, "1")
    assert (worker["state"], worker["holds"]) == ("held", ["CPU over its watermark", "stopping"])
    assert (worker["declared_concurrency"], worker["effective_concurrency"], worker["idle_slots"]) == (4, 1, 0)
    assert (worker["heartbeat_age_ms"], worker["cpu_count"], worker["gpu_available"]) == (1_500, 0.5, False)


def test_an_entry_that_no_fairlane_wrote_is_shown_with_nulls(service):
    service.roster.enter("host1:12", {"pid": "²", "cpu_percent": "nan", "last_heartbeat": "9" * 40}, ttl_ms=60_000)
    (worker,) = get(service, "/api/workers").json["workers"]
    assert (worker["pid"], worker["cpu_percent"], worker["heartbeat_age_ms"], worker["state"]) == (
        None,
        None,
        None,
        "working",
    )


@on_sqlite
@pytest.mark.parametrize("path", ["/api/queue", "/api/watermark", "/api/scale"])
def test_a_silent_queue_is_a_503(service, path):
    result = get(service, path, **silent(service))
    assert (result.status_code, result.json["type"]) == (503, "/problems/dependency-unavailable")
    assert "10.1.2.3" not in result.text


@on_sqlite
def test_an_unacceptable_accept_header_is_ignored(service):
    result = service.http().simulate_get("/livez", headers={"Accept": "image/png"})
    assert (result.status_code, result.headers["Content-Type"]) == (200, "application/json")


@pytest.mark.feature("H2")
@on_sqlite
def test_the_description_names_exactly_the_routes_and_methods_of_the_router(service):
    for_browsers = {path for path, _ in dashboard_routes()}
    routed = {
        (route.path, method.method.lower())
        for route in falcon.inspect.inspect_routes(service.app())
        if route.path not in for_browsers
        for method in route.methods
        if not method.internal and method.method != "HEAD"  # which is GET without a body
    }
    described = {
        (path, name)
        for path, item in get(service, "/openapi.json").json["paths"].items()
        for name in item
        if name != "parameters"
    }
    assert described == routed


@pytest.mark.feature("H2")
@on_sqlite
def test_every_schema_that_the_description_refers_to_is_there(service):
    document = get(service, "/openapi.json").json
    assert document["openapi"] == "3.1.0"
    referred = {part.partition('"')[0] for part in json.dumps(document).split("#/components/schemas/")[1:]}
    assert referred == set(document["components"]["schemas"])


@pytest.mark.feature("H2")
@on_sqlite
def test_every_operation_describes_its_problems(service):
    for item in get(service, "/openapi.json").json["paths"].values():
        for name, operation in item.items():
            if name != "parameters":
                assert operation["summary"]
                refusals = [answer for status, answer in operation["responses"].items() if int(status) >= 400]
                assert refusals
                assert all("application/problem+json" in answer["content"] for answer in refusals)
