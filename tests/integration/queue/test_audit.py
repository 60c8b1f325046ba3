"""audit: the books balance, and it says so when they do not."""

import random

import pytest

from pipeline.errors import FairlaneError
from pipeline.queue import Task, TaskState
from tests.support.line import Line


@pytest.mark.feature("Q20")
@pytest.mark.parametrize("seed", range(10))
def test_the_books_balance_after_every_step_of_a_random_life(line: Line, seed: int) -> None:
    chance = random.Random(seed)
    claims: list[tuple[str, int]] = []
    macs = [f"{number:012x}" for number in range(5)]
    for step in range(120):
        _random_move(line, chance, claims, macs, step)
        line.assert_books_balance()


def _random_move(line: Line, chance: random.Random, claims: list[tuple[str, int]], macs: list[str], step: int) -> None:
    queue = line.queue
    line.clock.advance(chance.choice([0, 1, 50, 2_000, 40_000]))
    lane = chance.choice(["ocr", "text"])
    move = chance.choice(["enqueue"] * 3 + ["claim"] * 3 + ["end"] * 3 + ["keep house", "cancel"])
    if move == "enqueue":
        queue.enqueue(Task(f"t{step}", lane, chance.choice(macs), line.clock.now_ms()))  # type: ignore[arg-type]
    elif move == "claim":
        together = chance.choice([{}, {"limit": 5, "per_turn": 1, "slot_ms": 300}])
        claim = queue.claim(lane, **together)  # type: ignore[arg-type]
        claims += [(one.task_id, one.token) for one in claim]
    elif move == "end" and claims:
        _random_end(line, chance, *claims.pop(chance.randrange(len(claims))))
    elif move == "keep house":
        queue.reap("ocr")
        queue.reap("text")
        queue.promote()
        queue.resume()
        queue.expire()
    elif move == "cancel":
        try:
            queue.cancel(f"t{chance.randrange(step + 1)}")
        except FairlaneError:
            return


def _random_end(line: Line, chance: random.Random, task_id: str, token: int) -> None:
    queue = line.queue
    ends = [
        lambda: queue.complete(task_id, token, cost_ms=chance.randrange(5_000)),
        lambda: queue.retry(task_id, token, cost_ms=5, delay_ms=chance.randrange(10_000)),
        lambda: queue.defer(task_id, token, code="no_capable_worker"),
        lambda: queue.hand_back(task_id, token),
        lambda: queue.bury(task_id, token, ending=TaskState.FAILED, code="bad_image", message="", cost_ms=5),
        lambda: queue.start(task_id, token),
        lambda: queue.renew(task_id, token),
    ]
    try:
        chance.choice(ends)()
    except FairlaneError:
        return


def test_audit_names_a_stranded_device(line: Line) -> None:
    line.submit("aa0000000001")
    line.client.delete(line.queue.keys.schedule("ocr", "local"))

    (ocr, *_) = line.inspector.audit()

    assert not ocr.balances
    assert "aa0000000001: stranded" in ocr.faults[0]


def test_audit_names_a_counter_that_disagrees_with_the_data(line: Line) -> None:
    line.submit("aa0000000001")
    line.client.hincrby(line.queue.keys.lane("ocr"), "waiting", 1)

    (ocr, *_) = line.inspector.audit()

    assert ocr.faults == ("the lane counts 2 waiting, the lines 1",)
