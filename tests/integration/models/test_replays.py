"""Replays in the ledger: a task is reopened once, as a new one, and whoever held it before can write nothing."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from models.base import Database, connection
from models.dead_letters import Chosen, DeadLetterRow, DeadLetters
from models.ledger import Ledger, TaskRow
from models.replays import AskedReplay, Replays, enqueued_times
from models.sites import Site
from models.statistics import Statistics
from pipeline.errors import LeaseLost, TaskConflict, TaskNotFound
from tests.support.clock import FakeClock
from tests.support.records import everything, finished, new_task, step

RED = "aabbccddeeff"


class Office:
    """A ledger with its dead letters and replays."""

    def __init__(self, database: Database, clock: FakeClock) -> None:
        self.database, self.clock = database, clock
        self.ledger, self.letters = Ledger(database, clock), DeadLetters(database, clock)
        self.replays = Replays(database, clock, Statistics(database, 0))

    def die(self, task_id: str = "t1", token: int = 7, mac: str = RED, site: str = "local") -> None:
        self.ledger.accept(new_task(task_id, mac=mac, site=site))
        self.ledger.start(task_id, token, 3)
        self.ledger.end(task_id, token, "dead", "engine_timeout", "10 attempts", [step("fetch"), step("ocr", "failed")])

    def ask(self, chosen: Chosen | None = None) -> AskedReplay:
        self.letters.ask_replay(chosen or Chosen())
        return self.replays.asked(passing_over=(), limit=1)[0]

    def reopen(self, asked: AskedReplay, *, above_token: int = 0) -> TaskRow | None:
        return self.replays.reopen(asked, above_token=above_token, begun_ms=self.clock.now_ms())

    def newest(self) -> DeadLetterRow:
        return self.letters.page(Chosen(), before=None, limit=1)[0]


@pytest.fixture
def office(database: Database, clock: FakeClock) -> Office:
    return Office(database, clock)


@pytest.mark.feature("Q16")
def test_a_reopened_task_is_a_new_one_that_waits(office: Office) -> None:
    office.die()
    asked = office.ask()
    office.clock.advance(5000)

    row = office.reopen(asked, above_token=7)

    assert row == office.ledger.get("t1")
    assert row is not None
    assert (row.state, row.token, row.attempts, row.code, row.reason) == ("queued", 8, 0, "", "")
    assert (row.started_ms, row.ended_ms, row.due_ms, row.run_ms) == (None, None, None, None)
    assert (row.created_ms, row.payload) == (new_task().created_ms, new_task().payload)
    view = office.ledger.view("t1")
    assert view is not None
    assert [(step.name, step.state, step.ended_ms) for step in view.steps] == [
        ("enqueued", "done", office.clock.now_ms())
    ]
    assert enqueued_times(["t1", "nobody"]) == {"t1": office.clock.now_ms()}
    assert office.newest().replayed_ms == office.clock.now_ms()
    assert office.replays.asked(passing_over=(), limit=9) == []


@pytest.mark.feature("Q16")
def test_a_letter_is_carried_out_once(office: Office) -> None:
    office.die()
    asked = office.ask()
    office.reopen(asked)
    before = everything()

    assert office.reopen(asked) is None

    assert everything() == before


@pytest.mark.feature("Q16")
def test_of_many_that_carry_out_one_letter_one_gets_the_task(office: Office) -> None:
    office.die()
    asked, begin = office.ask(), Barrier(4)

    def reopen(_: int) -> object:
        with connection(office.database):
            begin.wait(30)
            return office.reopen(asked)

    with ThreadPoolExecutor(4) as threads:
        got = list(threads.map(reopen, range(4)))

    assert sum(row is not None for row in got) == 1


WRITES: dict[str, Callable[[Ledger, int], object]] = {
    "start": lambda ledger, token: ledger.start("t1", token, 4),
    "note_steps": lambda ledger, token: ledger.note_steps("t1", token, [step("ocr")]),
    "finish": lambda ledger, token: ledger.finish("t1", token, finished()),
    "put_back": lambda ledger, token: ledger.put_back("t1", token, "delayed", "storage_unavailable", "", 5),
    "end": lambda ledger, token: ledger.end("t1", token, "failed", "bad_image", ""),
}


@pytest.mark.feature("Q16")
@pytest.mark.feature("Q7")
@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES.keys())
@pytest.mark.parametrize("token", [7, 20])
def test_a_worker_that_slept_over_a_replay_changes_nothing(
    office: Office, write: Callable[[Ledger, int], object], token: int
) -> None:
    # 20: a lease that the queue gave and of which the ledger has never heard.
    office.die()
    office.reopen(office.ask(), above_token=20)
    before = everything()

    with pytest.raises(LeaseLost):
        write(office.ledger, token)

    assert everything() == before


@pytest.mark.feature("Q16")
def test_a_replayed_task_that_dies_again_has_two_letters_linked_by_its_id(office: Office) -> None:
    office.die()
    office.reopen(office.ask(), above_token=7)
    office.ledger.start("t1", 30, 1)
    office.ledger.end("t1", 30, "failed", "object_missing", "gone")

    new, old = office.letters.page(Chosen(task_id="t1"), before=None, limit=9)

    assert (old.code, old.attempts, old.replayed_ms is None) == ("engine_timeout", 3, False)
    assert (new.code, new.attempts, new.replayed_ms) == ("object_missing", 1, None)
    assert office.letters.ask_replay(Chosen()) == 1, "the old one has been replayed"


@pytest.mark.parametrize("state", ["queued", "running", "done", "cancelled"])
def test_only_what_failed_or_died_is_reopened(office: Office, state: str) -> None:
    office.die()
    asked = office.ask()
    office.reopen(asked)
    if state in ("running", "done"):
        office.ledger.start("t1", 30, 1)
    if state == "done":
        office.ledger.finish("t1", 30, finished())
    if state == "cancelled":
        office.ledger.close("t1", "cancelled", "cancelled", "")
    _mark_again(office)
    before = everything()

    with pytest.raises(TaskConflict, match=state):
        office.reopen(asked)

    assert everything() == before


def _mark_again(office: Office) -> None:
    """Make the letter look as if nobody had replayed it, as a database restored from a copy may."""
    office.database.execute_sql("UPDATE dead_letter SET replayed_ms = NULL, replay_asked_ms = 1")


def test_a_letter_whose_task_is_gone_cannot_be_replayed(office: Office) -> None:
    office.die()
    asked = office.ask()
    office.database.execute_sql("DELETE FROM task")

    with pytest.raises(TaskNotFound, match="t1"):
        office.reopen(asked)

    assert office.replays.asked(passing_over=(), limit=1) == [asked]


@pytest.mark.feature("Q16")
def test_a_refused_replay_says_why_and_may_be_asked_for_again(office: Office) -> None:
    office.die()
    asked = office.ask()

    office.replays.refuse(asked, "its object\x00 is gone")

    letter = office.newest()
    assert (letter.replay_asked_ms, letter.replay_refusal) == (None, "its object\ufffd is gone")
    assert office.ask() == asked
    assert office.newest().replay_refusal == ""


@pytest.mark.feature("Q16")
def test_the_oldest_are_replayed_first_and_devices_may_be_passed_over(office: Office) -> None:
    for number, mac in enumerate((RED, RED, "112233445566")):
        office.die(f"t{number}", mac=mac)
    office.letters.ask_replay(Chosen())

    def tasks(*macs: str) -> list[str]:
        return [asked.task_id for asked in office.replays.asked(passing_over=macs, limit=9)]

    assert tasks() == ["t0", "t1", "t2"]
    assert tasks(RED) == ["t2"]
    assert tasks(RED, "112233445566") == []


def test_a_device_is_passed_over_in_its_own_site_only(office: Office) -> None:
    Site.insert(site="north", created_ms=1).returning(Site.site).execute()
    for number, site in enumerate(("local", "north")):
        office.die(f"t{number}", mac=RED, site=site)
    office.letters.ask_replay(Chosen())

    def tasks(*devices: str) -> list[str]:
        return [asked.task_id for asked in office.replays.asked(passing_over=devices, limit=9)]

    assert tasks(RED) == ["t1"]
    assert tasks(f"{RED}@north") == ["t0"]
    assert [asked.line for asked in office.replays.asked(passing_over=(), limit=9)] == [RED, f"{RED}@north"]


def test_replays_are_counted_over_the_last_while(office: Office) -> None:
    for number in range(2):
        office.die(f"t{number}")
        office.reopen(office.ask())
        office.clock.advance(600)

    assert office.replays.count_replayed(within_ms=1000) == 1
    assert office.replays.count_replayed(within_ms=2000) == 2


def test_a_task_is_not_closed_by_whoever_looked_before_its_replay(office: Office) -> None:
    office.die()
    office.reopen(office.ask())

    assert not office.ledger.close("t1", "dead", "engine_timeout", "", seen_token=7)
    assert office.ledger.close("t1", "dead", "engine_timeout", "", seen_token=8)
