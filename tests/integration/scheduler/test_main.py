"""The scheduler as it is wired: early for what is due, cheap when nothing is, harmless when there are several."""

import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import redis

from models.base import Database
from models.ledger import Ledger, NewTask
from pipeline.clock import SystemClock
from pipeline.queue import (
    Claim,
    FairQueue,
    Inspector,
    Task,
    TaskState,
    open_consumer_queue,
    open_inspector,
    open_queue,
)
from pipeline.scheduler.__main__ import build_loop
from pipeline.scheduler.bell import Bell
from pipeline.scheduler.loop import Loop
from pipeline.settings import Settings, child_environment
from tests.support.processes import wait_until
from tests.support.service import on_sqlite

CLOCK = SystemClock()
MACS = [f"aa000000000{number}" for number in range(5)]


@pytest.fixture
def settings_of(valkey: redis.Redis, valkey_url: str, database_url: str, tmp_path: Path) -> Callable[..., Settings]:
    def build(**options: object) -> Settings:
        own = {"redis_url": valkey_url, "database_url": database_url, "data_dir": tmp_path, **options}
        return Settings(_env_file=None, **own)

    return build


@contextmanager
def scheduler(settings: Settings, database: Database) -> Iterator[Loop]:
    """A whole scheduler, in threads of this process."""
    loop = build_loop(settings, database)
    bell = Bell(open_consumer_queue(settings), loop.wake, listen_s=0.2)
    running = threading.Thread(target=loop.run)
    bell.start()
    running.start()
    yield loop
    loop.stop()
    running.join()
    bell.stop()


def accept(queue: FairQueue, ledger: Ledger, task_id: str, mac: str) -> None:
    now_ms = CLOCK.now_ms()
    ledger.accept(NewTask(task_id, "text", mac, "local", "0" * 64, {}, 1, None, now_ms))
    queue.enqueue(Task(task_id, "text", mac, now_ms))


def claimed(queue: FairQueue) -> Claim:
    """The next claim, waited for."""
    claims: list[Claim] = []
    wait_until(lambda: claims.extend(queue.claim("text")) or claims, limit_s=10)
    return claims[0]


@on_sqlite
@pytest.mark.feature("S1")
def test_what_is_due_in_120_ms_is_back_in_about_120_ms_though_the_scheduler_sleeps_for_10_s(
    settings_of: Callable[..., Settings], database: Database
) -> None:
    settings = settings_of(scheduler_tick_seconds=10)
    queue = open_queue(settings)
    accept(queue, Ledger(database, CLOCK), "t", MACS[0])
    waits = []
    with scheduler(settings, database):
        for _ in range(5):
            claim, began_ms = claimed(queue), CLOCK.monotonic_ms()
            queue.retry("t", claim.token, cost_ms=1, delay_ms=120)
            queue.hand_back("t", claimed(queue).token)
            waits.append(CLOCK.monotonic_ms() - began_ms)

    assert min(waits) >= 115
    assert sorted(waits)[2] < 200


def commands_of(valkey: redis.Redis, action: Callable[[], None]) -> int:
    """How many commands the server does for it, those inside scripts included."""
    before = int(valkey.info("stats")["total_commands_processed"])
    action()
    return int(valkey.info("stats")["total_commands_processed"]) - before


@on_sqlite
@pytest.mark.feature("S1")
def test_an_idle_round_costs_the_same_however_many_devices_wait(
    settings_of: Callable[..., Settings], database: Database, valkey: redis.Redis
) -> None:
    settings = settings_of()
    queue, loop = open_queue(settings), build_loop(settings, database)
    loop.tick()
    costs = []
    for count in (2, 400):
        for number in range(count):
            queue.enqueue(Task(f"{count}-{number}", "text", f"{number:012x}", CLOCK.now_ms()))
        for claim in [claim for _ in range(count) for claim in queue.claim("text")]:
            queue.defer(claim.task_id, claim.token, code="no_capable_worker")
        costs.append(min(commands_of(valkey, loop.tick) for _ in range(3)))

    assert costs[1] == costs[0] < 24


@pytest.mark.feature("S1")
def test_several_schedulers_over_one_queue_under_load_are_harmless(
    settings_of: Callable[..., Settings], database: Database
) -> None:
    settings = settings_of(lease_seconds=5, lease_renew_seconds=1, max_deliveries=50)
    queue, ledger = open_queue(settings), Ledger(database, CLOCK)
    ids = [f"t{number}" for number in range(60)]
    for number, task_id in enumerate(ids):
        accept(queue, ledger, task_id, MACS[number % len(MACS)])
    ended: list[str] = []
    attempts = dict.fromkeys(ids, 0)
    with scheduler(settings, database), scheduler(settings, database):

        def work() -> object:
            for claim in queue.claim("text"):
                attempts[claim.task_id] += 1
                match attempts[claim.task_id]:
                    case 1:
                        queue.retry(claim.task_id, claim.token, cost_ms=1, delay_ms=30)
                    case 2 if claim.task_id in ids[:10]:
                        pass  # its worker is lost: the lease runs out
                    case _:
                        queue.complete(claim.task_id, claim.token, cost_ms=1)
                        ended.append(claim.task_id)
            return len(ended) == len(ids)

        wait_until(work, limit_s=60)

    assert sorted(ended) == sorted(ids)
    assert {task_id for task_id, count in attempts.items() if count == 3} == set(ids[:10])
    (_, books, _) = Inspector(queue._client, queue.rules).audit()
    assert books.balances, books
    assert books.ended[TaskState.DONE] == len(ids)


@on_sqlite
@pytest.mark.feature("S1")
def test_a_scheduler_that_is_told_to_stop_stops_at_once_and_cleanly(settings_of: Callable[..., Settings]) -> None:
    settings = settings_of(scheduler_tick_seconds=10)
    command = [sys.executable, "-m", "pipeline.scheduler"]
    process = subprocess.Popen(command, env=child_environment(settings, []), stderr=subprocess.PIPE)
    try:
        wait_until(lambda: open_inspector(settings).watermark())
        began_ms = CLOCK.monotonic_ms()
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=20)
    finally:
        process.kill()

    assert process.returncode == 0
    assert CLOCK.monotonic_ms() - began_ms < 5_000
    assert b"Traceback" not in errors
