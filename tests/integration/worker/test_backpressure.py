"""A worker whose host is over a watermark: it claims nothing, hands back what it had not begun, and comes back."""

import threading
from typing import Any

import pytest

from pipeline.queue import TaskState
from pipeline.workers.sampler import CPU_OVER, MEMORY_OVER
from tests.integration.worker.conftest import CLOCK, Shop
from tests.support.processes import wait_until


def state_of(shop: Shop, task_id: str) -> tuple[str, str, int, int, int]:
    """State in queue and ledger; attempts in both, defers."""
    queued, row = shop.inspector.find(task_id), shop.ledger.get(task_id)
    assert queued is not None
    assert row is not None
    return queued.state.value, row.state, queued.attempts, row.attempts, queued.defers


def entry_of(shop: Shop) -> tuple[str, str]:
    (entry,) = shop.roster.workers()
    return entry["state"], entry["holds"]


def hold(shop: Shop) -> None:
    shop.host.load_percent = 100.0
    wait_until(lambda: shop.broker.slots.holds("text") == [CPU_OVER])


def release(shop: Shop) -> None:
    shop.host.load_percent = 0.0
    wait_until(lambda: not shop.broker.slots.holds("text"))


@pytest.mark.feature("M1")
def test_an_overloaded_host_claims_nothing_and_starts_again_by_itself(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.start()
    hold(shop)
    rooms: list[int] = []
    room = shop.broker.slots.room
    monkeypatch.setattr(shop.broker.slots, "room", lambda lane, **waits: rooms.append(room(lane, **waits)) or rooms[-1])
    for number in range(3):
        shop.submit(f"t{number}")
    wait_until(lambda: len(rooms) >= 4)
    assert not any(rooms)
    assert [state_of(shop, f"t{number}")[0] for number in range(3)] == ["queued"] * 3

    release(shop)

    for number in range(3):
        wait_until(lambda number=number: state_of(shop, f"t{number}") == ("done", "done", 1, 1, 0))


@pytest.mark.feature("M1")
@pytest.mark.feature("M2")
def test_what_was_claimed_but_not_begun_goes_back_without_attempt_or_backoff(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim, claimed = shop.broker._queue.claim, []

    def claim_just_before_the_verdict(lane: Any, **wanted: int) -> Any:
        found = claim(lane, **wanted)
        if found and not claimed:
            claimed.extend(found)
            hold(shop)
        return found

    monkeypatch.setattr(shop.broker._queue, "claim", claim_just_before_the_verdict)
    shop.submit("t")
    shop.submit("u")
    shop.start(threads=1)

    wait_until(lambda: claimed and state_of(shop, "t") == ("queued", "queued", 0, 0, 0))
    assert shop.calls == []
    assert [task.waiting for task in shop.inspector.lanes()] == [0, 2, 0]
    assert shop.queue._client.zcard(shop.queue.keys.backoff()) == 0
    assert all(books.balances for books in shop.inspector.audit())

    release(shop)
    wait_until(lambda: state_of(shop, "t") == ("done", "done", 1, 1, 0))
    wait_until(lambda: state_of(shop, "u") == ("done", "done", 1, 1, 0))
    assert shop.calls == ["t", "u"]  # it went back to the head of its line
    assert all(books.balances for books in shop.inspector.audit())


@pytest.mark.feature("M1")
def test_what_runs_runs_on_while_the_host_is_held(shop: Shop) -> None:
    go_on = shop.work_until_told()
    shop.submit("t")
    shop.start()
    wait_until(lambda: shop.calls)

    hold(shop)
    go_on.set()

    wait_until(lambda: state_of(shop, "t")[:2] == ("done", "done"))
    assert shop.broker.slots.holds("text") == [CPU_OVER]


@pytest.mark.feature("M1")
def test_a_host_that_is_full_gets_the_memory_of_an_idle_engine_back_once(shop: Shop) -> None:
    go_on = shop.work_until_told()
    shop.submit("t")
    shop.start()
    wait_until(lambda: shop.calls)

    shop.host.memory_percent = 90.0
    wait_until(lambda: shop.broker.slots.holds("text") == [MEMORY_OVER])
    assert shop.host.renewals == 0  # what runs runs on
    go_on.set()

    wait_until(lambda: shop.host.renewals == 1)
    shop.host.memory_percent = 10.0
    wait_until(lambda: not shop.broker.slots.holds("text"))
    assert shop.host.renewals == 1


@pytest.mark.feature("S2")
@pytest.mark.feature("M3")
def test_the_registry_is_told_at_once_of_a_hold_and_of_its_end(shop: Shop) -> None:
    # The next heartbeat is 20 s away: the waits below would fail at 10.
    shop.start()
    assert entry_of(shop) == ("working", "")

    hold(shop)
    wait_until(lambda: entry_of(shop) == ("held", CPU_OVER), 10)

    release(shop)
    wait_until(lambda: entry_of(shop) == ("working", ""), 10)


@pytest.mark.feature("S2")
def test_a_worker_that_stops_says_so_until_it_is_gone(shop: Shop) -> None:
    go_on = shop.work_until_told()
    shop.submit("t")
    shop.start()
    wait_until(lambda: shop.calls)

    stopping = threading.Thread(target=shop.stop)
    stopping.start()
    wait_until(lambda: entry_of(shop) == ("held", "stopping"), 10)
    go_on.set()
    stopping.join()

    assert shop.roster.workers() == []


def test_a_worker_that_stops_does_not_ask_for_work_without_a_pause(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on, asked = threading.Event(), 0
    claims = shop.broker.claims

    def count(lane: Any) -> Any:
        nonlocal asked
        asked += shop.broker.slots.is_closed
        return claims(lane)

    monkeypatch.setattr(shop.broker, "claims", count)
    shop.work = lambda task_id, token, attempt: go_on.wait(30) and None
    shop.submit("t")
    shop.start()
    wait_until(lambda: shop.calls)
    stopping = threading.Thread(target=shop.stop)
    stopping.start()
    wait_until(lambda: asked)
    first, begin_ms = asked, CLOCK.monotonic_ms()
    wait_until(lambda: asked >= first + 5)
    took_ms = CLOCK.monotonic_ms() - begin_ms
    go_on.set()
    stopping.join()

    assert took_ms > 250  # five pauses of 100 ms, less what a look is late


def test_a_worker_that_starts_on_an_overloaded_host_claims_nothing(shop: Shop) -> None:
    shop.host.load_percent = 100.0
    shop.submit("t")
    shop.start()
    assert entry_of(shop) == ("held", CPU_OVER)
    assert shop.inspector.find("t").state is TaskState.QUEUED  # type: ignore[union-attr]

    release(shop)
    wait_until(lambda: state_of(shop, "t") == ("done", "done", 1, 1, 0))


@pytest.mark.feature("M1")
def test_of_two_workers_the_one_that_is_not_held_takes_all(shop: Shop, second_shop: Shop) -> None:
    shop.start()
    second_shop.start()
    hold(shop)
    for number in range(6):
        shop.submit(f"t{number}")

    for number in range(6):
        wait_until(lambda number=number: state_of(shop, f"t{number}") == ("done", "done", 1, 1, 0))
    assert shop.calls == []
    assert sorted(second_shop.calls) == [f"t{number}" for number in range(6)]
