"""Processes that die right after a marked step: between any two writes of a task's way."""

import subprocess
import sys
from dataclasses import dataclass, field
from urllib.parse import urlencode

from pipeline.queue.types import DeviceRules
from tests.faults.harness.client import ask, post_json
from tests.faults.harness.dying import POINTS
from tests.faults.harness.fault import Fault
from tests.faults.harness.house import House, comes_true
from tests.faults.harness.load import BAD_IMAGE, HIT_IMAGE
from tests.support.processes import wait_until

#: How long it may take until a step comes, seconds.
_LIMIT_S = 120
#: How long the store is away at once, seconds.
_MOMENT_S = 2.0
#: Dead letters that are replayed where a replay is cut short.
_LETTERS = 3
#: The process of the Procfile that does the same, and has to stand still so that this one gets to its step.
_RIVALS = {"ocr": "ocr", "text": "text", "notify": "text", "scheduler": "scheduler"}


def _let_attempts_fail(house: House) -> None:
    """Images cannot be fetched for a moment, so that there are tasks to promote."""
    pattern = house.prefix + "%"
    delayed = "SELECT 1 FROM task WHERE task_id LIKE %s AND state = 'delayed'"

    def is_one_delayed() -> bool:
        # Without the store nothing new comes in: an image that waits just now must be met, or another moment chosen.
        house.servers.store.set("refuse")
        house.servers.store.cut()
        try:
            return comes_true(lambda: bool(house.journal.rows(delayed, pattern)), _MOMENT_S)
        finally:
            house.servers.store.set("pass")

    assert comes_true(is_one_delayed, _LIMIT_S, every_s=1.0)


def _lose_a_lease(house: House) -> None:
    """An OCR worker is killed amid an image, so that there is a lease to reap."""
    running = "SELECT 1 FROM task WHERE task_id LIKE %s AND state = 'running' AND lane = 'ocr'"
    wait_until(lambda: house.journal.rows(running, house.prefix + "%"), _LIMIT_S)
    house.worker("ocr").kill()


#: What has to happen before there is something to do for the step.
_PROVOKED = {"promoted": _let_attempts_fail, "reaped": _lose_a_lease}


@dataclass
class DiesAfter(Fault):
    """A process that dies after the step of its name, while its like in the house stands still."""

    _exit_code: int | None = field(init=False, default=None)
    #: Of the image that a dying intake is handed.
    _mac: str = field(init=False, default="0a0000000001")
    #: Settings of the dying process alone.
    _own: dict[str, str] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.kind, self.hold_s = "marked point", 0.0

    def inject(self, house: House) -> None:
        role, words = POINTS[self.name].role, [self.name]
        if role == "intake":
            task_id = f"{house.prefix}stray"
            house.strays[task_id] = "image with a hit"
            words += [task_id, self._mac]
        letters = self._letters(house) if "repl" in self.name else []
        for process in house.tree(_RIVALS.get(role, "")):
            process.suspend()
        if letters:
            # Of nobody else, who would be faster.
            answer = post_json(house.web, "/api/dead-letters/replay", {"ids": letters, "dry_run": False})
            assert answer.status == 202, answer
        if self.name in _PROVOKED:
            _PROVOKED[self.name](house)
        self._exit_code = subprocess.run(
            [sys.executable, "-m", "tests.faults.harness.dying", *words],
            env={**house.environment, **self._own},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
            timeout=_LIMIT_S,
        ).returncode

    def heal(self, house: House) -> None:
        for process in house.tree(_RIVALS.get(POINTS[self.name].role, "")):
            process.resume()

    def trace(self, house: House) -> str:
        return "it died there" if self._exit_code == -9 else ""

    def _letters(self, house: House) -> list[int]:
        """Dead letters of tasks of its own, to be replayed: those of the round end once."""
        for number in range(_LETTERS):
            query = urlencode({"mac": "0c0000000002", "task_id": f"letter-{house.prefix}{number}"})
            answer = ask(house.web, "POST", f"/api/ocr/image?{query}", BAD_IMAGE, {"Content-Type": "image/png"})
            assert answer.status == 202, answer
        letters: list[int] = []

        def are_there() -> bool:
            pattern = f"letter-{house.prefix}%"
            letters[:] = [
                row[0] for row in house.journal.rows("SELECT id FROM dead_letter WHERE task_id LIKE %s", pattern)
            ]
            return len(letters) == _LETTERS

        wait_until(are_there, _LIMIT_S)
        return letters


@dataclass
class DiesAfterEvicting(DiesAfter):
    """Intake makes room for a task by ending an older one of its device in the queue, and dies before it tells the
    ledger.
    """

    _oldest: str = field(init=False, default="")

    def __post_init__(self) -> None:
        super().__post_init__()
        self.may_end = {"evicted": "evicted"}
        self._mac = "0c0000000003"
        self._own = {"FAIRLANE_OVERLOAD_POLICY": "drop_oldest", "FAIRLANE_MAX_PER_MAC_PENDING": "1"}

    def inject(self, house: House) -> None:
        # A device whose tasks wait.
        house.queue.set_device(self._mac, DeviceRules(is_paused=True))
        self._oldest = f"{house.prefix}oldest"
        query = urlencode({"mac": self._mac, "task_id": self._oldest})
        answer = ask(house.web, "POST", f"/api/ocr/image?{query}", HIT_IMAGE, {"Content-Type": "image/png"})
        assert answer.status == 202, answer
        house.strays[self._oldest] = "image with a hit"
        super().inject(house)

    def heal(self, house: House) -> None:
        super().heal(house)
        house.queue.set_device(self._mac, DeviceRules())

    def trace(self, house: House) -> str:
        end = house.journal.ends(self._oldest).get(self._oldest)
        return super().trace(house) if end and end.state == "evicted" else ""
