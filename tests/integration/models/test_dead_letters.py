"""Dead letters: written with the end itself, found by what is known of them, dropped for good."""

from dataclasses import replace

import pytest

from models import base
from models.base import Database
from models.dead_letters import Chosen, DeadLetters
from models.ledger import Ledger
from models.migrate import migrate, revert
from models.replays import Replays
from models.scope import Scope
from models.statistics import Statistics
from models.tasks import Task
from pipeline.errors import LeaseLost
from tests.support.clock import FakeClock
from tests.support.databases import close_all
from tests.support.records import new_task

RED, BLUE = "aabbccddeeff", "112233445566"


@pytest.fixture
def letters(database: Database, clock: FakeClock) -> DeadLetters:
    return DeadLetters(database, clock)


def die(ledger: Ledger, task_id: str, code: str = "bad_image", state: str = "failed", token: int = 7, **task) -> None:
    ledger.accept(new_task(task_id, **task))
    ledger.start(task_id, token, 3)
    ledger.end(task_id, token, state, code, "not\x00 an image")


def chosen_ids(letters: DeadLetters, chosen: Chosen, limit: int = 100) -> list[str]:
    return [letter.task_id for letter in letters.page(chosen, before=None, limit=limit)]


@pytest.mark.feature("Q16")
def test_the_full_record_of_a_task_that_ends_badly_is_kept(
    ledger: Ledger, letters: DeadLetters, clock: FakeClock
) -> None:
    die(ledger, "t1", mac=RED, lane="ocr")

    (letter,) = letters.page(Chosen(), before=None, limit=10)
    assert letters.get(letter.id) == letter
    assert (letter.task_id, letter.mac, letter.site, letter.lane) == ("t1", RED, "local", "ocr")
    assert (letter.state, letter.code, letter.message, letter.attempts) == (
        "failed",
        "bad_image",
        "not\ufffd an image",
        3,
    )
    assert (letter.created_ms, letter.dead_ms, letter.payload) == (
        new_task().created_ms,
        clock.now_ms(),
        new_task().payload,
    )
    assert (letter.replay_asked_ms, letter.replayed_ms, letter.replay_refusal) == (None, None, "")


@pytest.mark.feature("Q16")
@pytest.mark.parametrize(("state", "is_kept"), [("dead", True), ("expired", False), ("cancelled", False)])
def test_a_task_closed_as_dead_leaves_a_letter_and_other_ends_none(
    ledger: Ledger, letters: DeadLetters, state: str, is_kept: bool
) -> None:
    ledger.accept(new_task())

    assert ledger.close("t1", state, "worker_crash", "")
    assert not ledger.close("t1", "dead", "worker_crash", "")

    assert letters.count(Chosen()) == int(is_kept)


def test_a_task_that_ends_well_and_a_late_worker_leave_no_letter(ledger: Ledger, letters: DeadLetters) -> None:
    ledger.accept(new_task())
    ledger.start("t1", 9, 2)

    with pytest.raises(LeaseLost):
        ledger.end("t1", 7, "failed", "bad_image", "")

    assert letters.count(Chosen()) == 0


@pytest.fixture
def several(ledger: Ledger, clock: FakeClock) -> int:
    """Four letters, a second apart; the time of the third."""
    die(ledger, "a", mac=RED, lane="ocr")
    clock.advance(1000)
    die(ledger, "b", mac=BLUE, lane="text", code="engine_timeout", state="dead")
    clock.advance(1000)
    die(ledger, "c", mac=RED, lane="text", code="object_missing")
    third_ms = clock.now_ms()
    clock.advance(1000)
    die(ledger, "d", mac=RED, lane="ocr")
    return third_ms


@pytest.mark.feature("Q16")
@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        (Chosen(), "dcba"),
        (Chosen(mac=RED), "dca"),
        (Chosen(mac=RED, lane="ocr"), "da"),
        (Chosen(code="object_missing"), "c"),
        (Chosen(state="dead"), "b"),
        (Chosen(task_id="b"), "b"),
        (Chosen(mac="000000000000"), ""),
        (Chosen(code="no\x00such"), ""),
        (Chosen(ids=()), ""),
    ],
)
def test_letters_are_found_by_what_is_known_of_them(
    letters: DeadLetters, several: int, chosen: Chosen, expected: str
) -> None:
    assert "".join(chosen_ids(letters, chosen)) == expected
    assert letters.count(chosen) == len(expected)


@pytest.mark.feature("Q16")
def test_older_and_newer_divide_the_letters_without_a_gap(letters: DeadLetters, several: int) -> None:
    assert chosen_ids(letters, Chosen(older_than_ms=several)) == ["b", "a"]
    assert chosen_ids(letters, Chosen(newer_than_ms=several)) == ["d", "c"]


@pytest.mark.feature("Q16")
def test_pages_go_from_the_newest_to_the_oldest_whatever_dies_meanwhile(
    ledger: Ledger, letters: DeadLetters, several: int
) -> None:
    first = letters.page(Chosen(), before=None, limit=3)
    die(ledger, "e")
    second = letters.page(Chosen(), before=first[-1].id, limit=3)

    assert [letter.task_id for letter in first + second] == ["d", "c", "b", "a"]


@pytest.mark.feature("Q16")
def test_drop_deletes_what_is_chosen_and_nothing_else(ledger: Ledger, letters: DeadLetters, several: int) -> None:
    row = ledger.get("a")

    assert letters.drop(Chosen(mac=RED, lane="ocr")) == 2
    assert letters.drop(Chosen(mac=RED, lane="ocr")) == 0

    assert chosen_ids(letters, Chosen()) == ["c", "b"]
    assert ledger.get("a") == row, "the task itself stays as it is"


def test_the_id_of_a_dropped_letter_is_never_given_again(ledger: Ledger, letters: DeadLetters) -> None:
    die(ledger, "a")
    (old,) = letters.page(Chosen(), before=None, limit=1)
    letters.drop(Chosen())
    die(ledger, "b")

    (new,) = letters.page(Chosen(), before=None, limit=1)
    assert new.id > old.id
    assert letters.get(old.id) is None


def test_many_letters_are_asked_for_and_dropped_in_several_statements(
    ledger: Ledger, letters: DeadLetters, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("models.dead_letters._CHUNK", 2)
    for number in range(5):
        die(ledger, f"t{number}")

    assert letters.count_asked() == 0
    assert letters.ask_replay(Chosen()) == 5
    assert letters.count_asked() == 5
    assert letters.drop(Chosen()) == 5
    assert letters.count(Chosen()) == 0


@pytest.mark.feature("Q16")
def test_asking_marks_each_letter_once(letters: DeadLetters, several: int, clock: FakeClock) -> None:
    assert letters.count_replayable(Chosen(mac=RED)) == 3

    assert letters.ask_replay(Chosen(lane="text")) == 2
    assert letters.ask_replay(Chosen(mac=RED)) == 2
    assert letters.count_replayable(Chosen()) == 0

    marks = {letter.replay_asked_ms for letter in letters.page(Chosen(), before=None, limit=9)}
    assert marks == {clock.now_ms()}


def test_a_total_looks_at_the_newest_only_and_says_so(
    ledger: Ledger, letters: DeadLetters, several: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("models.dead_letters._TOTAL_SCAN", 3)

    assert letters.total(Chosen()) == (3, True)
    assert letters.total(Chosen(state="dead")) == (1, True)
    assert letters.total(Chosen(older_than_ms=several - 1000)) == (0, True), "the oldest was not looked at"
    assert letters.total(Chosen(mac=RED)) == (3, False), "an index finds them among any number"
    assert letters.total(Chosen(mac=RED, code="object_missing")) == (1, False)
    assert letters.total(Chosen(ids=())) == (0, True)
    assert letters.total(Chosen(within=Scope(site="elsewhere"))) == (0, True)


def test_known_tells_which_ids_there_are(letters: DeadLetters, several: int) -> None:
    (newest,) = letters.page(Chosen(), before=None, limit=1)

    assert letters.known((newest.id, newest.id + 1)) == {newest.id}


@pytest.mark.feature("Q16")
def test_a_database_of_before_gets_the_letters_of_its_dead_tasks(empty_database_url: str, clock: FakeClock) -> None:
    database = base.connect(empty_database_url)
    base.bind(database)
    migrate(database)
    ledger, letters = Ledger(database, clock), DeadLetters(database, clock)
    with base.connection():
        die(ledger, "a")
        ledger.accept(new_task("b"))
        before = letters.page(Chosen(), before=None, limit=9)

    assert "0002_dead_letters" in revert(database, "0002_dead_letters")
    with base.connection():
        assert [task_id for (task_id,) in Task.select(Task.task_id).order_by(Task.task_id).tuples()] == ["a", "b"]
    migrate(database)

    with base.connection():
        after = letters.page(Chosen(), before=None, limit=9)
    assert [replace(letter, id=0) for letter in after] == [replace(letter, id=0) for letter in before]
    close_all(database)


@pytest.mark.feature("Q16")
def test_filters_pages_and_the_look_for_what_is_asked_use_their_indexes(database: Database, clock: FakeClock) -> None:
    page = "SELECT id FROM dead_letter WHERE {} = 'x' AND id < 9 ORDER BY id DESC LIMIT 10"
    queries = {f"dead_letter_{name}": page.format(name) for name in ("mac", "code", "lane")}
    queries["dead_letter_asked"] = (
        "SELECT id FROM dead_letter WHERE replay_asked_ms IS NOT NULL AND replayed_ms IS NULL ORDER BY id LIMIT 10"
    )
    queries["dead_letter_replayed"] = "SELECT count(*) FROM dead_letter WHERE replayed_ms > 5"
    is_postgres = isinstance(database, base.peewee.PostgresqlDatabase)
    explain = "EXPLAIN" if is_postgres else "EXPLAIN QUERY PLAN"
    for index, query in queries.items():
        if is_postgres:
            database.execute_sql("SET enable_seqscan = off")
            database.execute_sql("SET enable_sort = off")
        plan = " ".join(str(row) for row in database.execute_sql(f"{explain} {query}").fetchall())
        assert index in plan
    assert Replays(database, clock, Statistics(database, 0)).asked(passing_over=(), limit=1) == []
