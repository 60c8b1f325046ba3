"""fairlane and its peers, each by the commands that start it; the settings of each are those its documents advise."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from pipeline.runner.procfile import find_procfile, read_procfile
from pipeline.settings import Settings

Command = tuple[str, ...]


#: Processes of the design that fairlane replaces, on two cores.
_ORIGINAL_PROCESSES = 6


@dataclass(frozen=True, slots=True)
class Shape:
    """How many tasks run at once.

    Args:
        processes, threads: of systems whose processes have threads; what the others get is said in `_busy`.
        is_waiting: the tasks are of a known length and cost nothing; every slot is then a place for one of them.
    """

    processes: int
    threads: int
    is_waiting: bool = False

    @property
    def slots(self) -> int:
        return self.processes * self.threads


@dataclass(frozen=True, slots=True)
class System:
    """One way to have texts screened.

    Args:
        module: in this package; its `send` submits.
        workers: the commands of all processes but web.
        results: the table that tells what has ended.
    """

    name: str
    module: str
    workers: Callable[[Shape, Settings], Sequence[Command]]
    results: str = "peer_result"

    @property
    def web(self) -> Command:
        if self.module == "fairlane":
            return read_procfile(find_procfile())["web"]
        app = f"benchmarks.peers.front:served('{self.module}')"
        return ("gunicorn", "--config", "python:web.gunicorn_settings", app)


def _fairlane(shape: Shape, _: Settings) -> Sequence[Command]:
    commands = read_procfile(find_procfile())
    # A worker of `notify` too keeps a third of its threads for that: without it, as many slots as the others have.
    worker: Command = ("benchmarks.peers.fairlane_waiting:broker", "--queues", "text")
    if not shape.is_waiting:
        worker = ("pipeline.actors", "--queues", "text", "notify")
    return [commands["scheduler"], ("dramatiq", *worker, *_threads(shape))]


def _dramatiq(module: str, shape: Shape, _: Settings) -> Sequence[Command]:
    return [("dramatiq", f"benchmarks.peers.{module}", *_threads(shape))]


def _threads(shape: Shape) -> Command:
    return ("--processes", str(shape.processes), "--threads", str(shape.threads))


def _celery(module: str, processes: int, shape: Shape) -> Command:
    # Its documents: a large multiplier where tasks are short, 1 where they are long.
    prefetch = 1 if shape.is_waiting else 64
    return (
        *(sys.executable, "-m", "celery", "-A", f"benchmarks.peers.{module}:app", "worker", "-c", str(processes)),
        *("--prefetch-multiplier", str(prefetch), "-l", "WARNING"),
        *("--without-gossip", "--without-mingle", "--without-heartbeat"),
    )


def _rq(shape: Shape, settings: Settings) -> Sequence[Command]:
    pool = ("-n", str(_busy(shape)), "-w", "rq.worker.SimpleWorker", "-u", settings.redis_url, "-P", ".", "-q", "text")
    return [(sys.executable, "-m", "rq.cli", "worker-pool", *pool)]


def _busy(shape: Shape) -> int:
    """Processes of one thread each: as many as there are slots to wait in, or else two, one for each core."""
    return shape.slots if shape.is_waiting else max(2, shape.processes)


def _original(shape: Shape, _: Settings) -> Sequence[Command]:
    # It sends by what it takes for idle slots: fewer processes would make it slower than its loop. It has no threads.
    processes = shape.slots if shape.is_waiting else _ORIGINAL_PROCESSES
    dispatch = (sys.executable, "-m", "benchmarks.peers.original_dispatch")
    return [dispatch, _celery("original_design", processes, shape)]


FAIRLANE = System("fairlane", "fairlane", _fairlane, results="task")
ORIGINAL = System("original design", "original_design", _original)
DRAMATIQ = System("stock dramatiq", "stock_dramatiq", partial(_dramatiq, "stock_dramatiq"))
CELERY = System("plain Celery", "plain_celery", lambda shape, _: [_celery("plain_celery", _busy(shape), shape)])
PEERS = (
    ORIGINAL,
    DRAMATIQ,
    System(
        "dramatiq + ledger",
        "ledger_dramatiq",
        partial(_dramatiq, "ledger_dramatiq"),
        results="task",
    ),
    CELERY,
    System("RQ", "plain_rq", _rq),
)
SYSTEMS = (FAIRLANE, *PEERS)
