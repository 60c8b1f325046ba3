"""Nothing is claimed before the host can do the work."""

import logging
from collections.abc import Callable

from dramatiq import Broker, Middleware, Worker

from pipeline.broker import lane_named
from pipeline.errors import ConfigurationError, FairlaneError
from pipeline.queue import LANES, Lane

log = logging.getLogger(__name__)


class WarmUp(Middleware):
    """Checks the worker's lanes and prepares what they need; a worker that cannot work does not start.

    Args:
        prepare: by queue name, what must have returned before the first claim; raises FairlaneError when it cannot.
        close: called once the worker has stopped.
    """

    def __init__(self, prepare: Callable[[str], None], close: Callable[[], None]) -> None:
        self._prepare = prepare
        self._close = close

    def before_worker_boot(self, broker: Broker, worker: Worker) -> None:
        # Dramatiq swallows every Exception here and would let the worker serve without its engine.
        try:
            for name in queues_of(worker):
                self._prepare(name)
        except FairlaneError as exc:
            log.critical("this worker cannot work: %s", exc)
            raise SystemExit(2 if isinstance(exc, ConfigurationError) else 1) from exc

    def after_worker_shutdown(self, broker: Broker, worker: Worker) -> None:
        self._close()


def lanes_of(worker: Worker) -> list[Lane]:
    """The lanes a worker serves: those behind the queues it serves.

    Raises: ConfigurationError, for a name that is no lane (Dramatiq itself would wait on it for ever).
    """
    return [lane_named(name) for name in queues_of(worker)]


def queues_of(worker: Worker) -> list[str]:
    """The queues a worker serves, one for each lane: those named by `--queues`, else those of all lanes.

    Raises: ConfigurationError, for a name behind which there is no lane.
    """
    if not worker.consumer_whitelist:
        return list(LANES)
    named = {name: lane_named(name) for name in sorted(worker.consumer_whitelist)}
    # Whoever serves the lane's own queue serves all that comes for it: a second consumer would claim a second time.
    return [name for name, lane in named.items() if name == lane or lane not in named]
