"""`GET /api/stats`: sums and percentiles of the days asked for, each site its own."""

import pytest

from models.ledger import DetectionRecord
from tests.support.callers import guest
from tests.support.records import finished, new_task
from tests.support.service import MAC, on_sqlite

#: The fake clock stands on 2025-10-09.
TODAY = "2025-10-09"


def end(service, task_id, hits=0, mac=MAC, site="local"):
    service.ledger.accept(new_task(task_id, mac=mac, site=site, created_ms=service.clock.now_ms()))
    service.clock.advance(100)
    service.ledger.start(task_id, 1, 1)
    found = DetectionRecord("x", "pass", [{"word": "x"}] * hits)
    service.ledger.finish(task_id, 1, finished(detection=found))
    service.statistics.count()


def stats(service, query=""):
    return service.http().simulate_get("/api/stats", query_string=query)


@pytest.mark.feature("R6")
def test_the_last_days_are_summed_by_day_lane_and_outcome(service):
    end(service, "a", hits=2)
    end(service, "b")

    answer = stats(service).json

    assert (answer["from_day"], answer["to_day"], answer["is_cut"]) == ("2025-10-03", TODAY, False)
    (count,) = answer["counts"]
    assert count == {
        "day": TODAY,
        "site": None,
        "mac": None,
        "lane": "ocr",
        "outcome": "done",
        "tasks": 2,
        "with_hits": 1,
        "hits": 2,
    }
    (waits,) = answer["waits"]
    assert (waits["day"], waits["lane"], waits["tasks"]) == (TODAY, "ocr", 2)
    assert 100 <= waits["p50_ms"] <= waits["p99_ms"] <= 120


@pytest.mark.feature("R6")
def test_other_dimensions_and_days_can_be_asked_for(service):
    end(service, "a")
    end(service, "b", mac="112233445566")
    end(service, "c", mac="112233445566")

    assert [(one["mac"], one["tasks"]) for one in stats(service, "by=mac").json["counts"]] == [
        ("112233445566", 2),
        (MAC, 1),
    ]
    assert stats(service, "from=2025-10-10&to=2025-10-11").json["counts"] == []
    assert stats(service, f"from={TODAY}&to={TODAY}&by=outcome").json["counts"][0]["tasks"] == 3


@pytest.mark.feature("R6")
@pytest.mark.feature("H3")
def test_a_key_of_a_site_sees_the_sums_of_that_site(service):
    north = guest(service, "viewer", "north")
    end(service, "a")
    end(service, "b", site="north")

    answer = north.ask("GET", "/api/stats").json

    assert [one["tasks"] for one in answer["counts"]] == [1]
    assert [one["tasks"] for one in answer["waits"]] == [1]


@on_sqlite
@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("from=yesterday", "from"),
        ("from=2025-13-01", "from"),
        ("from=2025-W41-4", "from"),
        ("to=20251009", "to"),
        ("to=", "to"),
        ("from=2025-10-09&to=2025-10-08", "from"),
        ("from=2023-01-01&to=2025-01-01", "from"),
        ("from=2025-10-01&from=2025-10-02", "from"),
        ("by=colour", "by"),
        ("by=day,day", "by"),
        ("by=", "by"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused_by_name(service, query, name):
    result = stats(service, query)

    assert (result.status_code, result.json["type"]) == (400, "/problems/invalid-parameter")
    assert result.json["errors"][0]["pointer"] == name
