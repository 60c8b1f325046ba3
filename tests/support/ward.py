"""Workers with an engine that obeys: what a picture says, it does, crash or hang included."""

from contextlib import suppress
from pathlib import Path

import psutil

from pipeline.clock import SystemClock
from pipeline.runner.child import Program
from pipeline.runner.supervisor import Supervisor
from pipeline.settings import Settings
from tests.support.parts import OBEDIENT_WORKER, SCHEDULER, Obedience
from tests.support.processes import wait_until


class Ward(Obedience):
    """Supervised workers whose engine does what the picture says, a scheduler, and the way in.

    Args:
        workers: processes, of one slot each.
        worker: how one is started.
    """

    def __init__(
        self, settings: Settings, folder: Path, workers: int = 2, worker: tuple[str, ...] = OBEDIENT_WORKER
    ) -> None:
        super().__init__(settings, folder)
        self._programs = {"scheduler": SCHEDULER} | {f"worker-{number}": worker for number in range(workers)}
        self.died: list[str] = []
        self.supervisor = Supervisor(SystemClock(), lambda event: self.died.append(event.kind))

    def start(self) -> None:
        for name, command in self._programs.items():
            log = self.folder / f"{name}.log"
            self.supervisor.start(Program(name, command, self.environment, log, drain_s=20))

    def end_of(self, task_id: str) -> tuple[str, str]:
        """Wait for the end of a task; return its state and code."""
        wait_until(lambda: self.row_of(task_id).has_ended, 120)
        row = self.row_of(task_id)
        return row.state, row.code

    def masters(self) -> list[psutil.Process]:
        """The workers' master processes, in the order of their start."""
        found = [process for process in psutil.Process().children() if "poison_worker" in " ".join(_words_of(process))]
        return sorted(found, key=lambda process: process.pid)

    def stop(self) -> None:
        self.supervisor.stop(list(self._programs))
        self.supervisor.close()


def _words_of(process: psutil.Process) -> list[str]:
    with suppress(psutil.Error):
        return list(process.cmdline())
    return []
