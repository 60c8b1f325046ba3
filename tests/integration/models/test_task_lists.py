"""Lists of tasks: every filter alone and together, pages that insertions do not shift, each read off an index."""

import pytest

from models.base import Database
from models.ledger import DetectionRecord, Ledger
from models.scope import Scope
from models.task_lists import Place, TaskLists, Wanted
from tests.support.clock import FakeClock
from tests.support.records import finished, new_task

START_MS = 1_760_000_000_000
OTHER_MAC = "aabbccddee01"


@pytest.fixture
def lists(database: Database) -> TaskLists:
    return TaskLists(database)


@pytest.fixture
def ledger(database: Database, clock: FakeClock) -> Ledger:
    """Six tasks, two to a millisecond: t0, t1 at the start; t3 and t5 are done, t3 with a hit; t4 failed."""
    ledger = Ledger(database, clock)
    for number in range(6):
        ledger.accept(
            new_task(
                f"t{number}",
                lane="text" if number % 2 else "ocr",
                mac=OTHER_MAC if number < 2 else "aabbccddeeff",
                detection_id=f"d{number}" if number == 4 else None,
                image_sha256="4" * 64 if number == 4 else None,
                created_ms=START_MS + number // 2,
            )
        )
    for task_id, detection in (
        ("t3", finished("Loan 50% now").detection),
        ("t5", DetectionRecord("no_thing here", "pass", [])),
    ):
        ledger.start(task_id, 1, 1)
        ledger.finish(task_id, 1, finished(ocr=None, detection=detection))
    ledger.close("t4", "failed", "bad_image", "broken")
    return ledger


def ids(lists: TaskLists, after: Place | None = None, limit: int = 100, **wanted: object) -> list[str]:
    return [task.task_id for task in lists.page(Wanted(**wanted), after=after, limit=limit).tasks]  # type: ignore[arg-type]


@pytest.mark.feature("H1")
@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({}, "543210"),
        ({"mac": OTHER_MAC}, "10"),
        ({"state": "queued"}, "210"),
        ({"state": "failed"}, "4"),
        ({"lane": "ocr"}, "420"),
        ({"from_ms": START_MS + 1}, "5432"),
        ({"until_ms": START_MS + 1}, "10"),
        ({"from_ms": START_MS + 1, "until_ms": START_MS + 2}, "32"),
        ({"has_hit": True}, "3"),
        ({"has_hit": False}, "54210"),
        ({"text": "loan"}, "3"),
        ({"text": "%"}, "3"),
        ({"text": "_"}, "5"),
        ({"text": "nowhere"}, ""),
        ({"detection_id": "d4"}, "4"),
        ({"image_sha256": "4" * 64, "lane": "ocr"}, "4"),
        ({"image_sha256": "3" * 64}, ""),
        ({"within": Scope(site="local")}, "543210"),
        ({"within": Scope(site="other")}, ""),
        ({"lane": "text", "state": "done", "has_hit": False, "text": "HERE", "mac": "aabbccddeeff"}, "5"),
        ({"lane": "ocr", "has_hit": True}, ""),
        ({"within": Scope("local", frozenset({OTHER_MAC, "aabbccddeeff"}))}, "543210"),
        ({"within": Scope("local", frozenset({OTHER_MAC})), "state": "queued", "lane": "ocr"}, "0"),
        ({"within": Scope("local", frozenset({OTHER_MAC})), "mac": "aabbccddeeff"}, ""),
        ({"within": Scope("local", frozenset({OTHER_MAC})), "mac": OTHER_MAC}, "10"),
        ({"within": Scope("local", frozenset({OTHER_MAC})), "detection_id": "d4"}, ""),
        ({"within": Scope(macs=frozenset({*map(str, range(60)), OTHER_MAC}))}, "10"),
    ],
)
def test_filters_combine(ledger: Ledger, lists: TaskLists, wanted: dict[str, object], found: str) -> None:
    assert ids(lists, **wanted) == [f"t{digit}" for digit in found]


def test_a_task_in_a_list_says_what_was_found(ledger: Ledger, lists: TaskLists) -> None:
    (task,) = lists.page(Wanted(has_hit=True), after=None, limit=5).tasks
    assert (task.suggestion, task.hit_count, task.words, task.text) == ("block", 1, ("one",), None)
    (task,) = lists.page(Wanted(has_hit=True), after=None, limit=5, with_text=True).tasks
    assert task.text == "Loan 50% now"
    (task,) = lists.page(Wanted(state="failed"), after=None, limit=5).tasks
    assert (task.code, task.reason, task.suggestion, task.words) == ("bad_image", "broken", None, ())


@pytest.mark.feature("H1")
def test_pages_hold_each_task_once_though_others_come_in_between(ledger: Ledger, lists: TaskLists) -> None:
    seen: list[str] = []
    after: Place | None = None
    for number in range(3):
        page = lists.page(Wanted(), after=after, limit=2)
        seen += [task.task_id for task in page.tasks]
        after = page.after
        ledger.accept(new_task(f"later{number}", created_ms=START_MS + 100 + number))
    assert seen == ["t5", "t4", "t3", "t2", "t1", "t0"]
    assert after is None


def test_a_search_for_a_text_goes_on_beyond_what_one_page_looks_at(
    ledger: Ledger, lists: TaskLists, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("models.task_search._LOOKED_AT_FIRST", 1)
    monkeypatch.setattr("models.task_search.LOOKED_AT_MAX", 2)
    first = lists.page(Wanted(text="loan"), after=None, limit=1)
    assert (first.tasks, first.after) == ((), Place(START_MS + 2, "t4"))
    second = lists.page(Wanted(text="loan"), after=first.after, limit=1)
    assert [task.task_id for task in second.tasks] == ["t3"]
    assert [task.task_id for task in lists.every(Wanted(text="loan"), page=1, limit=9)] == ["t3"]


def test_every_task_is_given_once_and_no_more_than_asked_for(ledger: Ledger, lists: TaskLists) -> None:
    assert [task.task_id for task in lists.every(Wanted(), page=2, limit=100)] == ["t5", "t4", "t3", "t2", "t1", "t0"]
    assert [task.task_id for task in lists.every(Wanted(), page=2, limit=3)] == ["t5", "t4", "t3"]


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    ("wanted", "index"),
    [
        (Wanted(), "task_created_ms"),
        (Wanted(from_ms=1, until_ms=START_MS * 2), "task_created_ms"),
        (Wanted(text="x"), "task_created_ms"),
        (Wanted(within=Scope(site="local")), "task_site_created_ms"),
        (Wanted(within=Scope(site="local"), lane="text"), "task_site_created_ms"),
        (Wanted(within=Scope(site="local"), mac=OTHER_MAC), "task_site_mac_created_ms"),
        (Wanted(within=Scope(site="local"), state="done"), "task_site_state_created_ms"),
        (Wanted(within=Scope(site="local"), has_hit=True), "task_site_has_hit_created_ms"),
        (Wanted(within=Scope("local", frozenset({OTHER_MAC})), state="failed"), "task_site_mac_created_ms"),
        (Wanted(within=Scope(site="local"), image_sha256="0" * 64), "task_image_sha256_created_ms"),
        (Wanted(mac=OTHER_MAC), "task_mac_created_ms"),
        (Wanted(mac=OTHER_MAC, state="failed", has_hit=True, lane="ocr", text="x"), "task_mac_created_ms"),
        (Wanted(state="done"), "task_state_created_ms"),
        (Wanted(state="failed", has_hit=True), "task_state_created_ms"),
        (Wanted(state="done", has_hit=True), "task_has_hit_created_ms"),
        (Wanted(lane="ocr"), "task_lane_created_ms"),
        (Wanted(has_hit=True), "task_has_hit_created_ms"),
        (Wanted(detection_id="d"), "task_detection_id_created_ms"),
        (Wanted(image_sha256="0" * 64), "task_image_sha256_created_ms"),
    ],
)
def test_each_filter_is_read_off_an_index_in_the_order_of_the_pages(
    ledger: Ledger, lists: TaskLists, database: Database, monkeypatch: pytest.MonkeyPatch, wanted: Wanted, index: str
) -> None:
    plans: list[str] = []
    ask = database.execute_sql

    def explain(sql: str, parameters: object = None, *rest: object) -> object:
        if sql.startswith("SELECT"):
            plans.append(" ".join(row[3] for row in ask(f"EXPLAIN QUERY PLAN {sql}", parameters).fetchall()))
        return ask(sql, parameters, *rest)

    monkeypatch.setattr(database, "execute_sql", explain)
    lists.page(wanted, after=Place(START_MS + 9, "z"), limit=2)
    assert f"INDEX {index} " in plans[0]
    assert not [plan for plan in plans if "SCAN" in plan or "TEMP" in plan]
