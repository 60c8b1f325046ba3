"""Reading all parts at once, none of them waited for longer than a scraper waits."""

import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait

from pipeline import __version__, metrics
from pipeline.errors import FairlaneError
from web.figures.types import Figure, Figures

log = logging.getLogger(__name__)

#: Seconds in which a part must have answered; Prometheus gives up after 10 s.
_PATIENCE_S = 5.0


class Gathering:
    """Reads each part in a thread of its own; a part that fails, or is late, is down, and its rest is not told.

    Args:
        parts: name -> what reads it.
        patience_s: seconds that all of them together may take.
    """

    def __init__(
        self, parts: Mapping[str, Callable[[], Iterable[Figures]]], *, patience_s: float = _PATIENCE_S
    ) -> None:
        self._parts = parts
        self._patience_s = patience_s
        self._threads = ThreadPoolExecutor(len(parts), "figures")
        self._lock = threading.Lock()
        self._readings: dict[str, tuple[Future[bool], list[Figures]]] = {}
        self._down: set[str] = set()

    def read(self) -> list[Figures]:
        """Everything that can be read now; never raises."""
        with self._lock:
            readings = {name: self._reading(name) for name in self._parts}
        wait([future for future, _ in readings.values()], timeout=self._patience_s)
        told = [Figure(metrics.BUILD_INFO, (__version__,), 1)]
        for name, (future, _) in readings.items():
            told.append(Figure(metrics.UP, (name,), future.done() and future.result()))
        # A copy: a part that is late may still be adding to its list.
        return [*told, *(figure for _, figures in readings.values() for figure in tuple(figures))]

    def _reading(self, name: str) -> tuple[Future[bool], list[Figures]]:
        """The reading of a part that is under way, for another scraper or because it hangs, else a new one."""
        known = self._readings.get(name)
        if known is None or known[0].done():
            figures: list[Figures] = []
            known = self._readings[name] = self._threads.submit(self._read, name, figures), figures
        return known

    def _read(self, name: str, into: list[Figures]) -> bool:
        try:
            for figure in self._parts[name]():
                into.append(figure)  # noqa: PERF402 - what was read before a failure is kept
        except FairlaneError as exc:
            if self._is_new(name):
                log.warning("a part is not measured", extra={"part": name, "reason": str(exc)})
            return False
        except Exception:
            if self._is_new(name):
                log.exception("a part is not measured", extra={"part": name})
            return False
        self._down.discard(name)
        return True

    def _is_new(self, name: str) -> bool:
        """Say whether the part has fallen silent just now; a scraper comes every few seconds, and the log need not."""
        is_new = name not in self._down
        self._down.add(name)
        return is_new
