"""Duty: dead letters that are to be replayed go back in line, oldest first, so many a second."""

import logging
from dataclasses import dataclass
from math import ceil

from models.ledger import Ledger
from models.replays import AskedReplay, Replays
from pipeline.clock import Clock
from pipeline.errors import Overload, QueueFull, TaskConflict, TaskNotFound
from pipeline.queue import FairQueue, Inspector, TaskState
from pipeline.recovery import as_queued, close_evicted

log = logging.getLogger(__name__)

#: Letters looked at in one round, at most: some may belong to devices that have no room.
_LOOKED_AT = 100
#: How long a device is passed over whose task ended in the ledger but not yet in the queue, ms.
_SETTLING_MS = 5_000


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast letters are replayed, all schedulers together.

    Args:
        tick_s: seconds between two rounds.
    """

    per_second: int
    tick_s: float

    @property
    def window_ms(self) -> int:
        """The time over which replays are counted."""
        return ceil(max(1.0, self.tick_s) * 1000)

    def room(self, replayed: int) -> int:
        """How many more may be replayed in this round when so many were in the window."""
        in_window = int(self.per_second * max(1.0, self.tick_s))
        return max(0, min(ceil(self.per_second * self.tick_s), in_window - replayed))


class Replayer:
    """Replays what is asked for; any number of schedulers may, each letter is replayed once.

    A device without room is passed over until it may have some, and holds up no other.
    """

    def __init__(
        self, queue: FairQueue, inspector: Inspector, ledger: Ledger, replays: Replays, clock: Clock, pace: Pace
    ) -> None:
        self._queue = queue
        self._inspector = inspector
        self._ledger = ledger
        self._replays = replays
        self._clock = clock
        self._pace = pace
        #: Device -> until when the device is passed over, monotonic ms.
        self._passed_over: dict[str, int] = {}
        self._full_until_ms = 0

    def run(self) -> None:
        """Do one round; without a letter to replay it is one look at an index that is empty."""
        now_ms = self._clock.monotonic_ms()
        if now_ms < self._full_until_ms:
            return
        self._passed_over = {mac: until_ms for mac, until_ms in self._passed_over.items() if until_ms > now_ms}
        asked = self._replays.asked(passing_over=self._passed_over, limit=_LOOKED_AT)
        if not asked:
            return
        room = self._pace.room(self._replays.count_replayed(within_ms=self._pace.window_ms))
        try:
            for letter in asked:
                if room > 0 and letter.line not in self._passed_over:
                    room -= self._replay(letter)
        except QueueFull as exc:
            self._full_until_ms = now_ms + exc.retry_after_ms

    def _replay(self, letter: AskedReplay) -> bool:
        """Replay one letter; False when it could not be now, or ever.

        Raises: QueueFull.
        """
        try:
            return self._reopen_and_enqueue(letter)
        except QueueFull:
            raise
        except Overload as exc:
            self._pass_over(letter, exc.retry_after_ms)
        except (TaskConflict, TaskNotFound) as exc:
            log.warning("a replay was refused: %s", exc, extra=_fields(letter))
            self._replays.refuse(letter, str(exc))
        return False

    def _reopen_and_enqueue(self, letter: AskedReplay) -> bool:
        queued = self._inspector.find(letter.task_id)
        if queued and not queued.state.is_end:
            # Its worker has told the ledger and not yet the queue.
            self._pass_over(letter, _SETTLING_MS)
            return False
        if queued and queued.state not in (TaskState.FAILED, TaskState.DEAD):
            raise TaskConflict(f"task {letter.task_id} is {queued.state} in the queue")
        begun_ms = self._queue.admit(letter.line, "ocr" if letter.lane == "ocr" else "text")
        # The ledger first, as for a submit: should we die in between, the reconciler puts the task in line.
        task = self._replays.reopen(letter, above_token=queued.token if queued else 0, begun_ms=begun_ms)
        if task is None:
            return False
        try:
            enqueued = self._queue.replay(as_queued(task, begun_ms))
        except (Overload, TaskConflict) as exc:
            # Somebody took the room just now, or the reconciler was faster.
            log.info("a reopened task is left to the reconciler: %s", exc, extra=_fields(letter))
            return True
        if enqueued.evicted:
            close_evicted(self._queue, self._ledger, enqueued.evicted, "made room for a replay of its device")
        log.info("a dead letter was replayed", extra=_fields(letter))
        return True

    def _pass_over(self, letter: AskedReplay, wait_ms: int) -> None:
        self._passed_over[letter.line] = self._clock.monotonic_ms() + wait_ms


def _fields(letter: AskedReplay) -> dict[str, str | int]:
    return {"dead_letter": letter.letter_id, "task_id": letter.task_id, "mac": letter.mac}
