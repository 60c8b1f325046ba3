"""Many real processes on one queue, killed at random: nothing is lost and nothing is held twice.

`TEST_LONG=1` in front of pytest runs 100,000 tasks instead of a few thousand.
"""

import json
import multiprocessing
import random
import time
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest
import redis

from pipeline.errors import LeaseLost
from pipeline.queue import FairQueue, Inspector, Rules, Task
from tests.support.scale import is_long

PRODUCERS = CONSUMERS = 8
TASKS = 100_000 if is_long() else 4_000
DEVICES = 40
#: Kills of consumers, spread over the run.
KILLS = 60 if is_long() else 12
RULES = Rules(max_total=10**9, max_per_mac=10**9, lease_ms=2_000, max_losses=10**6, ttl_ms=10**8)


def produce(url: str, number: int, count: int) -> None:
    """Submit this producer's share; a call whose answer is lost is made again, as a client would."""
    queue = FairQueue(redis.Redis.from_url(url), RULES)
    for index in range(count):
        mac = f"{(number * count + index) % DEVICES:012x}"
        queue.enqueue(Task(f"p{number}-{index}", "text", mac, 0))


def consume(url: str, log: str) -> None:
    """Claim, start and complete until killed; note each holding before and after it."""
    queue = FairQueue(redis.Redis.from_url(url), RULES)
    chance = random.Random()
    with Path(log).open("a", buffering=1) as notes:
        while True:
            for claim in queue.claim("text", limit=chance.randint(1, 4)):
                notes.write(json.dumps(["held", claim.task_id, claim.token]) + "\n")
                try:
                    queue.start(claim.task_id, claim.token)
                    queue.complete(claim.task_id, claim.token, cost_ms=1)
                except LeaseLost:
                    continue
                notes.write(json.dumps(["done", claim.task_id, claim.token]) + "\n")


def start(target: object, *args: object) -> BaseProcess:
    process = multiprocessing.get_context("spawn").Process(target=target, args=args, daemon=True)  # type: ignore[arg-type]
    process.start()
    return process


def kill_and_replace(consumers: list[BaseProcess], url: str, folder: Path, number: int) -> None:
    """End one consumer wherever it is, and begin another."""
    victim = random.randrange(len(consumers))
    consumers[victim].kill()
    consumers[victim].join()
    consumers[victim] = start(consume, url, str(folder / f"replacement-{number}.log"))


@pytest.mark.feature("Q7")
@pytest.mark.feature("Q8")
@pytest.mark.timeout(900)
def test_nothing_is_lost_and_nothing_is_held_twice_whoever_is_killed(
    valkey: redis.Redis, valkey_url: str, tmp_path: Path
) -> None:
    queue, inspector = FairQueue(valkey, RULES), Inspector(valkey, RULES)
    producers = [start(produce, valkey_url, number, TASKS // PRODUCERS) for number in range(PRODUCERS)]
    consumers = [start(consume, valkey_url, str(tmp_path / f"{number}.log")) for number in range(CONSUMERS)]
    kills = 0
    try:
        while (done := int(valkey.hget(queue.keys.lane("text"), "done") or 0)) < TASKS:
            queue.reap("text", limit=1_000)
            if kills < KILLS and done > (kills + 1) * TASKS // (KILLS + 2):
                kill_and_replace(consumers, valkey_url, tmp_path, kills)
                kills += 1
            time.sleep(0.05)
    finally:
        for process in [*producers, *consumers]:
            process.kill()
            process.join()

    held, done_tokens = _notes(tmp_path)
    assert kills == KILLS
    assert set(held) == {f"p{number}-{index}" for number in range(PRODUCERS) for index in range(TASKS // PRODUCERS)}
    assert all(len(set(tokens)) == len(tokens) for tokens in held.values()), "one lease was given to two"
    # Whoever completed held the newest lease: an older one was refused.
    assert all(tokens == [max(held[task_id])] for task_id, tokens in done_tokens.items())
    assert all(books.balances for books in inspector.audit())


def _notes(folder: Path) -> tuple[dict[str, list[int]], dict[str, list[int]]]:
    """By task, the tokens under which it was held, and those under which it was completed."""
    found: dict[str, dict[str, list[int]]] = {"held": {}, "done": {}}
    for log in folder.glob("*.log"):
        for line in log.read_text().splitlines():
            try:
                what, task_id, token = json.loads(line)
            except ValueError:  # the last line of a process that was killed while it wrote
                continue
            found[what].setdefault(task_id, []).append(token)
    return found["held"], found["done"]
