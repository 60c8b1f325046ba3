"""Processes that are killed, frozen, slowed down, or live at another time."""

import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlencode

import psutil

from tests.faults.harness.client import ask
from tests.faults.harness.fault import Fault
from tests.faults.harness.house import OCR_WORKER, House, is_gone, pause
from tests.faults.harness.load import SLOW_IMAGE
from tests.support.processes import wait_until

Chooser = Callable[[House], psutil.Process]

#: Until what has to happen for a fault has happened, on a machine that has other work, seconds.
_LIMIT_S = 120


def master(name: str) -> Chooser:
    """The process of that name in the Procfile."""
    return lambda house: house.tree(name)[0]


def worker(name: str) -> Chooser:
    """The process below it that does the work."""
    return lambda house: house.worker(name)


def engine(house: House) -> psutil.Process:
    """The child that holds the engine of the OCR worker."""
    return house.engine()


@dataclass
class Killed(Fault):
    """SIGKILL for one process; whoever watches it starts it again.

    Args:
        whom: chooses the victim.
    """

    whom: Chooser
    _victim: psutil.Process | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.kind = "process"

    def inject(self, house: House) -> None:
        self._victim = self.whom(house)
        self._victim.kill()

    def heal(self, house: House) -> None:
        """Nobody does: the runner has to."""

    def trace(self, house: House) -> str:
        if self._victim is None or not is_gone(self._victim):
            return ""
        return f"process {self._victim.pid} is gone"


@dataclass
class Frozen(Fault):
    """SIGSTOP for one process, longer than its leases hold, then SIGCONT: it goes on as if nothing had been.

    Args:
        leases: how many leases long.
    """

    whom: Chooser
    leases: float = 3.0
    _victim: psutil.Process | None = field(init=False, default=None)
    _was_stopped: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        self.kind, self.hold_s = "process", 0.0

    def inject(self, house: House) -> None:
        self._victim = self.whom(house)
        self._victim.suspend()
        pause(self.leases * house.settings.lease_seconds)
        self._was_stopped = self._victim.status() == psutil.STATUS_STOPPED

    def heal(self, house: House) -> None:
        if self._victim and not is_gone(self._victim):
            self._victim.resume()

    def trace(self, house: House) -> str:
        return f"process {self._victim.pid} was stopped" if self._victim and self._was_stopped else ""


@dataclass
class Slowed(Fault):
    """A worker that may run one part in `slowness` of the time.

    Args:
        slowness: how many times slower than usual.
    """

    whom: Chooser
    slowness: int = 20
    _stops: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.kind, self.hold_s = "process", 0.0

    def inject(self, house: House) -> None:
        self._stops, victim = 0, self.whom(house)
        try:
            for _ in range(40):
                victim.send_signal(signal.SIGSTOP)
                pause(0.01 * (self.slowness - 1))
                self._stops += victim.status() == psutil.STATUS_STOPPED
                victim.send_signal(signal.SIGCONT)
                pause(0.01)
        finally:
            victim.send_signal(signal.SIGCONT)

    def heal(self, house: House) -> None:
        """It goes on at once after the last stop."""

    def trace(self, house: House) -> str:
        return f"stopped {self._stops} times" if self._stops else ""


@dataclass
class Overtaken(Fault):
    """An OCR worker stands still amid an image; another runs it meanwhile, and is at it when the first one wakes up."""

    _starts: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.kind, self.hold_s = "process", 0.0

    def inject(self, house: House) -> None:
        task_id = f"{house.prefix}overtaken"
        house.strays[task_id] = "image"
        query = urlencode({"mac": "0c0000000001", "task_id": task_id})
        answer = ask(house.web, "POST", f"/api/ocr/image?{query}", SLOW_IMAGE, {"Content-Type": "image/png"})
        assert answer.status == 202, answer
        wait_until(lambda: self._count(house, task_id) == 1, _LIMIT_S)
        sleeper = house.worker("ocr")
        sleeper.suspend()
        house.supervisor.start(house.program("ocr-2", "-m", *OCR_WORKER))
        wait_until(lambda: self._count(house, task_id) == 2, _LIMIT_S)
        sleeper.resume()

    def heal(self, house: House) -> None:
        house.worker("ocr").resume()
        house.supervisor.stop(["ocr-2"])

    def trace(self, house: House) -> str:
        return f"started {self._starts} times" if self._starts > 1 else ""

    def _count(self, house: House, task_id: str) -> int:
        self._starts = len(house.journal.starts(task_id).get(task_id, ()))
        return self._starts


#: What lives at another time: commands, with the words that `shifted` starts in their place.
_BESIDE = {
    "scheduler": ("pipeline.scheduler",),
    "text": ("dramatiq", "pipeline.actors", "--queues", "text", "notify", "--processes", "1", "--threads", "4"),
}


@dataclass
class Shifted(Fault):
    """Another process of a kind, for which it is earlier or later by so many seconds; the usual one stands still.

    Args:
        program: scheduler or text.
        seconds: that its wall clock is ahead.
    """

    program: str
    seconds: int
    _was_at_work: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        self.kind, self.hold_s = "clock", 8.0

    def inject(self, house: House) -> None:
        self._was_at_work = False
        name = f"{self.program}-shifted"
        command = ("-m", "tests.faults.harness.shifted", str(self.seconds), *_BESIDE[self.program])
        house.supervisor.start(house.program(name, *command))
        pause(3)
        for process in house.tree(self.program):
            process.suspend()

    def heal(self, house: House) -> None:
        tree = house.tree(f"{self.program}-shifted")
        self._was_at_work = bool(tree) and not is_gone(tree[0])
        for process in house.tree(self.program):
            process.resume()
        house.supervisor.stop([f"{self.program}-shifted"])

    def trace(self, house: House) -> str:
        log = house.log_file(f"{self.program}-shifted").read_text(errors="replace")
        return f"{self.program} at another time" if self._was_at_work and "shifted by" in log else ""
