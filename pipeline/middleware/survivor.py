"""Notes what this process holds, and gives up what processes held that died on this host.

Without it a task whose worker was killed waits until its lease runs out. The scheduler takes it back all the same, by
the same sweep, and counts the loss: only the lease ends at once.
"""

import logging
import threading
from collections.abc import Collection
from pathlib import Path

from dramatiq import Broker, Middleware, Worker

from pipeline.broker import fair_broker
from pipeline.errors import LeaseLost, QueueUnavailable
from pipeline.queue import Claim, FairQueue
from pipeline.workers.held import HeldNote, settle

log = logging.getLogger(__name__)

#: Seconds between two looks at the notes: listing a folder of a few files.
_LOOK_S = 1.0


class Survivor(Middleware):
    """Looks for notes of the dead before this worker begins, and again and again while it lives.

    Args:
        queue: any connection but the consumer's, which may be blocked for a while.
        folder: of the notes of this host; where nothing can be written, leases run out as if there were no notes.
    """

    def __init__(self, queue: FairQueue, folder: Path) -> None:
        self._queue = queue
        self._folder = folder
        self._note = HeldNote(folder)
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self._is_failing = False
        self._is_unwritten = False

    def before_worker_boot(self, broker: Broker, worker: Worker) -> None:
        try:
            self._note.open()
        except OSError as exc:
            log.warning("what this worker holds is not noted, its leases will run out if it dies: %s", exc)
        fair_broker(broker).slots.keep_note(self._write)
        self._thread = threading.Thread(target=self._look_on, name="survivor", daemon=True)
        self._thread.start()

    def after_worker_shutdown(self, broker: Broker, worker: Worker) -> None:
        self._stopped.set()
        if self._thread:
            self._thread.join()
        self._note.close()

    def _write(self, held: Collection[Claim]) -> None:
        try:
            self._note.write(held)
            self._is_unwritten = False
        except OSError as exc:
            # A full disk must not keep anything from being claimed or ended.
            if not self._is_unwritten:
                log.warning("what this worker holds is not noted now: %s", exc)
            self._is_unwritten = True

    def _look_on(self) -> None:
        while True:
            try:
                settle(self._folder, self._give_up)
                self._is_failing = False
            except (OSError, QueueUnavailable) as exc:
                if not self._is_failing:
                    log.warning("what dead workers held is not given up yet: %s", exc)
                self._is_failing = True
            if self._stopped.wait(_LOOK_S):
                return

    def _give_up(self, task_id: str, token: int) -> None:
        try:
            self._queue.give_up(task_id, token)
        except LeaseLost:
            return  # it had ended, or was taken back meanwhile
        log.warning("its worker has died: the lease is given up", extra={"task_id": task_id})
