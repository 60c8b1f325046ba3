"""`GET /api/history`: what a picture of the last hour needs, of the whole service only."""

import pytest

from models.totals import BOUNDS_MS
from pipeline.errors import QueueUnavailable
from pipeline.queue import History, Sample
from pipeline.queue.keys import Keys
from tests.support.callers import guest
from tests.support.service import on_sqlite


def note(service, ended, waits=(), **changes):
    """A sample of lane `ocr` now, and 15 s pass."""
    fields = {"waiting": 5, "running": 1, "oldest_wait_ms": 900, **changes}
    service.history.sample("ocr", Sample(**fields, ended=ended, waits=waits), service.clock.now_ms())
    service.clock.advance(15_000)


def buckets(**times):
    """How many waited so long: `le_1000=3` for at most a second."""
    found = {int(name[3:]): count for name, count in times.items()}
    return tuple(found.get(bound, 0) for bound in (*BOUNDS_MS, 0))


def asked(service, query=""):
    return service.http().simulate_get("/api/history", query_string=query)


def samples(service):
    (lane,) = asked(service, "lane=ocr").json["lanes"]
    return lane["samples"]


@pytest.mark.feature("H4")
def test_samples_come_in_their_order_with_what_ended_in_between(service):
    began_ms = service.clock.now_ms() // 15_000 * 15_000
    for ended in (10, 14, 14):
        note(service, ended)

    answer = asked(service).json

    assert (answer["interval_ms"], [lane["lane"] for lane in answer["lanes"]]) == (15_000, ["ocr", "text", "notify"])
    first, second, third = answer["lanes"][0]["samples"]
    assert first == {
        "at_ms": began_ms,
        "waiting": 5,
        "running": 1,
        "oldest_wait_ms": 900,
        "ended": None,
        "p95_wait_ms": None,
    }
    assert (second["at_ms"], second["ended"], third["ended"]) == (began_ms + 15_000, 4, 0)
    assert answer["lanes"][1]["samples"] == []


@pytest.mark.feature("H4")
def test_the_95th_percentile_is_that_of_the_waits_in_between(service):
    note(service, 0, buckets(le_60000=100))
    note(service, 0, buckets(le_60000=100, le_1000=100))
    note(service, 0, buckets(le_60000=100, le_1000=100))
    note(service, 0, buckets(le_60000=100, le_1000=100, le_0=3))

    assert [sample["p95_wait_ms"] for sample in samples(service)] == [None, 975, None, 3_600_000]


def test_after_a_loss_of_data_counts_begin_anew(service):
    note(service, 1_000)
    note(service, 4)

    assert samples(service)[1]["ended"] == 4


def test_a_sample_without_waits_has_no_percentile(service):
    note(service, 1, buckets(le_1000=5))
    note(service, 2)
    note(service, 3, buckets(le_1000=9))

    assert [sample["p95_wait_ms"] for sample in samples(service)] == [None, None, None]


@on_sqlite
@pytest.mark.parametrize("query", ["lane=gpu", "lane=", "lane=ocr&lane=text", "lane=ocr,text"])
def test_a_lane_that_there_is_not_is_refused(service, query):
    result = asked(service, query)
    assert (result.status_code, result.json["type"]) == (400, "/problems/invalid-parameter")


@pytest.mark.feature("H4")
@on_sqlite
def test_it_is_for_those_who_may_see_what_all_sites_share(service):
    assert guest(service, role="viewer", site="*").ask("GET", "/api/history").status_code == 200
    assert guest(service, role="viewer", site="local").ask("GET", "/api/history").status_code == 403
    assert guest(service, role="device").ask("GET", "/api/history").status_code == 403


@on_sqlite
def test_a_silent_queue_is_a_503(service):
    class SilentHistory(History):
        def samples(self, lane):
            raise QueueUnavailable("XRANGE: no answer from redis://10.1.2.3")

    silent = SilentHistory(service.client, Keys("sensitive:"), interval_ms=15_000)
    result = service.http(measured=service.measured(history=silent)).simulate_get("/api/history")
    assert (result.status_code, result.json["type"]) == (503, "/problems/dependency-unavailable")
