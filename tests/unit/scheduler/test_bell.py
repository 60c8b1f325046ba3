"""Bell: it rings on, whatever happens to the connection."""

from typing import Any

import pytest

from pipeline.errors import QueueUnavailable
from pipeline.scheduler import bell
from pipeline.scheduler.bell import Bell
from tests.support.processes import wait_until


class Tower:
    """What the queue says to each question: True, False, or an error."""

    def __init__(self, *answers: Any) -> None:
        self.answers = iter(answers)

    def wait_for_bell(self, *, timeout_s: float) -> bool:
        answer = next(self.answers, False)
        if isinstance(answer, Exception):
            raise answer
        return bool(answer)


def test_every_ring_is_passed_on_also_after_an_outage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bell, "_REST_S", 0.001)
    rung: list[None] = []
    tower: Any = Tower(True, False, QueueUnavailable("down"), QueueUnavailable("down"), True)
    listener = Bell(tower, lambda: rung.append(None), listen_s=0.01)
    listener.start()
    wait_until(lambda: len(rung) == 2)
    listener.stop()

    assert len(rung) == 2
