"""What is wrong is told, by what makes it wrong; what is well is not."""

import pytest

from pipeline.alarms import Alarm, alarms
from pipeline.queue import Inspector
from pipeline.scheduler.watermark import publish_watermark
from pipeline.submission import TextSubmission
from tests.support.callers import guest
from tests.support.clock import FakeClock
from tests.support.service import MAC, on_sqlite

pytestmark = on_sqlite

WORKER = {"hostname": "h", "queues": "text", "effective_concurrency": "2", "active_tasks": "0", "version": "1"}
#: The server of the tests is told to keep nothing.
UNKEPT = Alarm("warning", "no_persistence")


def told(service):
    found = alarms(service.inspector, service.roster, service.devices, service.clock, service.settings)
    return [alarm for alarm in found if alarm != UNKEPT]


def work(service, **changes):
    """A live worker and a snapshot of it."""
    service.roster.enter("h:1", {**WORKER, **changes}, ttl_ms=60_000)
    publish(service)


def publish(service):
    publish_watermark(service.inspector, service.roster, interval_ms=15_000)


def submit(service, task_id="t1"):
    service.intake().submit_text(TextSubmission(mac=MAC, text="x", task_id=task_id))


@pytest.mark.feature("H4")
def test_a_service_that_works_has_no_alarm(service):
    work(service)
    submit(service)
    assert told(service) == []


def test_without_a_snapshot_there_is_no_scheduler(service):
    service.roster.enter("h:1", WORKER, ttl_ms=60_000)
    assert told(service) == [Alarm("critical", "no_scheduler")]


@pytest.mark.feature("H4")
def test_tasks_that_nobody_serves_are_critical(service):
    publish(service)
    submit(service)
    assert told(service) == [Alarm("critical", "no_worker", "text", "1")]


def test_a_host_over_its_watermark_is_told_once(service):
    work(service, state="held", queues="text,notify")
    assert told(service) == [Alarm("warning", "held", "h", "text, notify")]


def test_devices_that_wait_too_long_are_told_by_lane(service):
    submit(service)
    service.clock.advance(service.settings.mac_starvation_hint_seconds * 1000 + 1)
    work(service)
    assert told(service) == [Alarm("warning", "starved", "text", "1")]


def test_a_service_that_fills_up_warns_before_it_refuses(service_of):
    service = service_of(max_total_pending=10, max_per_mac_pending=10)
    work(service)
    for number in range(10):
        assert told(service) == ([] if number < 9 else [Alarm("warning", "nearly_full", "", "9 / 10")])
        submit(service, f"t{number}")
    assert told(service) == [Alarm("critical", "overloaded", "", "10 / 10")]


def test_clocks_that_differ_are_told(service):
    work(service)
    theirs = FakeClock(service.clock.now_ms() + 5_000)
    inspector = Inspector(service.client, service.queue.rules, theirs)
    found = alarms(inspector, service.roster, service.devices, service.clock, service.settings)
    assert Alarm("warning", "clock_skew", "", "5.0 s") in found


@pytest.mark.feature("H4")
def test_a_server_that_may_forget_tasks_is_critical(service):
    work(service)
    service.client.config_set("maxmemory-policy", "allkeys-lru")
    try:
        assert told(service) == [Alarm("critical", "eviction_policy", "", "allkeys-lru")]
    finally:
        service.client.config_set("maxmemory-policy", "noeviction")


def test_a_server_that_is_nearly_full_is_critical(service):
    work(service)
    used = int(service.client.info("memory")["used_memory"])
    service.client.config_set("maxmemory", int(used * 1.05))
    try:
        (alarm,) = told(service)
    finally:
        service.client.config_set("maxmemory", 0)
    assert (alarm.severity, alarm.code) == ("critical", "memory")


@pytest.mark.feature("H4")
def test_devices_that_are_paused_are_counted(service):
    work(service)
    submit(service)
    boss = guest(service, site="*")
    boss.ask("PATCH", f"/api/devices/{MAC}", json={"lanes": {"ocr": {"paused": True}}})
    assert told(service) == [Alarm("warning", "paused", "", "1")]
    boss.ask("PATCH", f"/api/devices/{MAC}", json={"lanes": None, "weight": 2})
    assert told(service) == []


class Nodes(Inspector):
    """A Cluster of two nodes, as it is told where they differ."""

    def server_facts(self, *, with_config=False):
        memory = {"used_memory": "950, 100", "maxmemory": "1000, 2000"}
        return {"maxmemory_policy": "noeviction, allkeys-lru", "aof_enabled": "1, 0", **memory}


def test_of_a_cluster_the_worst_node_is_told(service):
    work(service)
    nodes = Nodes(service.client, service.queue.rules, service.clock)
    assert alarms(nodes, service.roster, service.devices, service.clock, service.settings) == [
        Alarm("critical", "eviction_policy", "", "noeviction, allkeys-lru"),
        Alarm("critical", "memory", "", "95%"),
        UNKEPT,
    ]


def test_workers_of_several_versions_and_lists_that_fail_are_told(service):
    service.roster.enter("h:2", {**WORKER, "pid": "2", "version": "2"}, ttl_ms=60_000)
    work(service, word_faults="global/house: damaged")
    assert told(service) == [Alarm("warning", "versions", "", "1, 2"), Alarm("warning", "words", "h")]


def test_the_critical_come_first_over_http_and_only_for_those_of_every_site(service):
    submit(service)
    work(service, queues="ocr", state="held")
    house, town = guest(service, site="*"), guest(service, site="north")
    shown = house.ask("GET", "/api/alarms").json["alarms"]
    assert [alarm["severity"] for alarm in shown] == sorted(alarm["severity"] for alarm in shown)
    assert (shown[0]["code"], shown[0]["subject"]) == ("no_worker", "text")
    assert town.ask("GET", "/api/alarms").status_code == 403
