"""Listens for what falls due sooner than the loop knew when it went to sleep."""

import logging
import threading
from collections.abc import Callable

from pipeline.errors import QueueUnavailable
from pipeline.queue import FairQueue

log = logging.getLogger(__name__)

#: Between two tries while the queue does not answer, seconds; the loop's own tick goes on meanwhile.
_REST_S = 1.0


class Bell:
    """Calls `ring` each time the queue rings; of several schedulers one hears it.

    Args:
        queue: a connection of its own, whose calls may block for `listen_s`.
        listen_s: longest wait of one call, seconds.
    """

    def __init__(self, queue: FairQueue, ring: Callable[[], None], *, listen_s: float) -> None:
        self._queue = queue
        self._ring = ring
        self._listen_s = listen_s
        self._stopped = threading.Event()
        # NOTE: a daemon, since a call that blocks cannot be ended; it holds nothing.
        self._thread = threading.Thread(target=self._listen, name="bell", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Return once nobody listens any more."""
        self._stopped.set()
        self._thread.join()

    def _listen(self) -> None:
        while not self._stopped.is_set():
            try:
                if self._queue.wait_for_bell(timeout_s=self._listen_s):
                    self._ring()
            except QueueUnavailable as exc:
                log.debug("the bell cannot be heard: %s", exc)
                self._stopped.wait(_REST_S)
