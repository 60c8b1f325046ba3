"""What a kill costs, and what poison costs its neighbours: `make bench-faults`, or with `--tiny` once each.

Kills: all processes of the Procfile with real OCR under load; one process is killed with SIGKILL, again and again, and
it is measured how long it takes until what it did is done again. Poison: workers whose engine does what a picture says;
how many good pictures they read per second, alone and among some that crash, hang or swell the engine.
"""

import argparse
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np

from benchmarks.printing import machine, spread
from pipeline.clock import SystemClock
from pipeline.errors import Overload, Retryable
from pipeline.runner.stack import Stack
from pipeline.runner.supervisor import STEADY_MS
from pipeline.samples import sample_images
from tests.acceptance.conftest import Running, settings_for
from tests.support.processes import is_alive, wait_until
from tests.support.servers import start_valkey
from tests.support.ward import Ward

#: Longer than anything here should take, seconds.
_LIMIT_S = 120
#: Images in line while processes are killed.
_ALWAYS_WAITING = 4
_MACS = [f"0a00000000{number:02x}" for number in range(8)]


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured.

    Args:
        kills: of each kind of process.
        good: pictures that are read, alone and then among the poisoned ones.
        lease_s: the promise for a killed worker is this.
        rest_s: after a round of kills; a process that ran this long is restarted at once.
    """

    kills: int = 20
    good: int = 1_000
    workers: int = 4
    lease_s: int = 30
    rest_s: int = STEADY_MS // 1000


TINY = Plan(kills=1, good=8, workers=2, lease_s=5)


class Load:
    """A running fairlane with images always in line."""

    def __init__(self, fairlane: Running) -> None:
        self.fairlane = fairlane
        self._image = sample_images()[0][1]
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._feed, daemon=True)
        self._thread.start()

    def end(self) -> None:
        self._is_over.set()
        self._thread.join()

    def running(self) -> tuple[str, int]:
        """A task that an engine is reading for the first time: its id, and when it was started.

        One that had its engine killed before waits longer each time, as it should.
        """
        found: list[tuple[str, int]] = []

        def look() -> bool:
            rows = self.fairlane.ledger.open_tasks(None, 50)
            fresh = [row for row in rows if row.state == "running" and row.attempts == 1]
            found.extend((row.task_id, row.started_ms) for row in fresh if row.started_ms)
            return bool(found)

        wait_until(look, _LIMIT_S)
        return found[-1]

    def runs_again(self, task_id: str, started_ms: int) -> bool:
        row = self.fairlane.ledger.get(task_id)
        return row is not None and (row.started_ms or 0) > started_ms

    def text_is_done(self) -> bool:
        """Submit a text and wait for its end; False when something is down."""
        with suppress(Retryable, Overload):
            receipt = self.fairlane.api.submit_text("hello", _MACS[0])
            return bool(self.fairlane.api.task(receipt["task_id"], wait_s=20)["state"] == "done")
        return False

    def _feed(self) -> None:
        while not self._is_over.wait(0.2):
            with suppress(Retryable, Overload):
                if sum(lane.waiting for lane in self.fairlane.inspector.lanes()) < _ALWAYS_WAITING:
                    # Of one device: what comes back stands at its head, and is not also made to wait for others' turns.
                    self.fairlane.api.submit_image("i.png", self._image, _MACS[0])


def kill_engine(load: Load) -> Callable[[], bool]:
    task, started_ms = load.running()
    worker = load.fairlane.processes("dramatiq", "--queues ocr")[1]
    next(child for child in worker.children() if "spawn_main" in " ".join(child.cmdline())).kill()
    return lambda: load.runs_again(task, started_ms)


def kill_text_worker(load: Load) -> Callable[[], bool]:
    load.fairlane.processes("dramatiq", "--queues text")[0].kill()
    return load.text_is_done


def kill_web(load: Load) -> Callable[[], bool]:
    load.fairlane.processes("gunicorn")[0].kill()
    return load.text_is_done


def kill_scheduler(load: Load) -> Callable[[], bool]:
    (scheduler,) = load.fairlane.processes("pipeline.scheduler")
    scheduler.kill()
    wait_until(lambda: not is_alive(scheduler.pid))
    killed_ms = load.fairlane.inspector.now_ms()
    return lambda: int((load.fairlane.inspector.watermark() or {}).get("timestamp", 0)) > killed_ms


def kill_valkey(load: Load) -> Callable[[], bool]:
    (server,) = load.fairlane.processes("valkey-server", str(load.fairlane.settings.valkey_socket))
    server.kill()
    return load.text_is_done


VICTIMS: dict[str, tuple[Callable[[Load], Callable[[], bool]], str]] = {
    "engine child": (kill_engine, "its image is read again"),
    "text worker": (kill_text_worker, "a text is done"),
    "web": (kill_web, "a text is accepted and done"),
    "scheduler": (kill_scheduler, "the house is kept"),
    "valkey": (kill_valkey, "a text is accepted and done"),
}


def measure_kills(plan: Plan, folder: Path) -> Iterator[str]:
    """Kill one process of each kind in turns; one line each, then whether the books balance.

    In turns, so that each has run steadily when its turn comes again: the runner makes one that ends at once wait.
    """
    settings = settings_for(
        folder, lease_seconds=plan.lease_s, lease_renew_seconds=max(1, plan.lease_s // 3), max_deliveries=1_000
    )
    with Stack(settings, SystemClock(), threading.Event()) as stack:
        fairlane = Running(settings, stack)
        load = Load(fairlane)
        waits: dict[str, list[float]] = {name: [] for name in VICTIMS}
        for number in range(plan.kills):
            if number:
                threading.Event().wait(plan.rest_s)
            for name, (kill, _) in VICTIMS.items():
                waits[name].append(_wait_after(kill, load))
        load.end()
        for name, (_, what) in VICTIMS.items():
            p99 = float(np.quantile(waits[name], 0.99, method="higher"))
            yield f"{name:14} {plan.kills} kills; {what} after {spread(waits[name], 1)} s, p99 {p99:.1f} s"
        wait_until(lambda: not fairlane.ledger.open_tasks(None, 1), _LIMIT_S)
        ended = {state: count for lane in fairlane.ledger.counts().values() for state, count in lane.items()}
        wait_until(lambda: all(books.balances and books.leased == 0 for books in fairlane.inspector.audit()), _LIMIT_S)
        yield f"every task ended: {ended}; the books balance"


def _wait_after(kill: Callable[[Load], Callable[[], bool]], load: Load) -> float:
    is_back = kill(load)
    began = perf_counter()
    wait_until(is_back, _LIMIT_S)
    return perf_counter() - began


def measure_killed_workers(plan: Plan, folder: Path) -> Iterator[str]:
    """Kill OCR workers of several, in turns, while all of them are busy; what they read is read again by another."""
    with _ward(plan, folder, lease_seconds=plan.lease_s, lease_renew_seconds=max(1, plan.lease_s // 3)) as ward:
        is_over = threading.Event()
        feeding = threading.Thread(target=_feed, args=(ward, is_over, 2 * plan.workers), daemon=True)
        feeding.start()
        for number, name in enumerate(("ocr worker", "ocr master")):
            waits: list[float] = []
            while len(waits) < plan.kills:
                waits += _wait_for_lost(ward, plan.workers, is_master=bool(number))
            p99 = float(np.quantile(waits, 0.99, method="higher"))
            yield f"{name:14} {len(waits)} kills; its image is read again after {spread(waits, 1)} s, p99 {p99:.1f} s"
        is_over.set()
        feeding.join()
        wait_until(lambda: not ward.ledger.open_tasks(None, 1), _LIMIT_S)
        wait_until(lambda: all(books.balances for books in ward.inspector.audit()), _LIMIT_S)


def _feed(ward: Ward, is_over: threading.Event, waiting: int) -> None:
    # Of one device: what comes back stands at its head.
    while not is_over.wait(0.2):
        with suppress(Retryable, Overload):
            if ward.inspector.lanes()[0].waiting < waiting:
                ward.submit(b"take two seconds", _MACS[0])


def _wait_for_lost(ward: Ward, workers: int, *, is_master: bool) -> list[float]:
    """Kill the worker that has lived longest, all being busy; return how long until what it was reading is read again.

    It may have just finished: then there is nothing to return.
    """
    running: dict[str, int | None] = {}

    def are_busy() -> bool:
        running.clear()
        rows = ward.ledger.open_tasks(None, 100)
        running.update({row.task_id: row.started_ms for row in rows if row.state == "running"})
        return len(running) == workers and len(ward.masters()) == workers

    wait_until(are_busy, _LIMIT_S)
    master = ward.masters()[0]
    (master if is_master else master.children()[0]).kill()
    began = perf_counter()
    waits: dict[str, float] = {}

    def is_settled() -> bool:
        for task_id, started_ms in running.items():
            row = ward.ledger.get(task_id)
            if task_id not in waits and row and row.started_ms != started_ms and row.started_ms is not None:
                waits[task_id] = perf_counter() - began
        return all(task_id in waits or ward.row_of(task_id).has_ended for task_id in running)

    wait_until(is_settled, _LIMIT_S)
    return list(waits.values())


def measure_poison(plan: Plan, folder: Path) -> Iterator[str]:
    """Read good pictures alone and among poison; the ratio of what is read per second."""
    rates = {}
    for orders in ([], [b"segfault", b"hang", b"eat memory"]):
        with _ward(plan, folder / str(len(orders))) as ward:
            poison = [ward.submit(order, f"0c00000000{number:02x}") for number, order in enumerate(orders)]
            began = perf_counter()
            good = [ward.submit(b"take a fifth", _MACS[number % len(_MACS)]) for number in range(plan.good)]
            for task_id in good:
                assert ward.end_of(task_id) == ("done", "")
            rates[len(orders)] = plan.good / (perf_counter() - began)
            ends = [ward.end_of(task_id)[1] for task_id in poison]
            if ends:
                yield f"poison ended as {', '.join(ends)}"
    alone, among = rates.values()
    yield f"good pictures read per second: {alone:.1f} alone, {among:.1f} beside poison, ratio {among / alone:.3f}"


@contextmanager
def _ward(plan: Plan, folder: Path, **overrides: int) -> Iterator[Ward]:
    (folder / "data").mkdir(parents=True)
    server = start_valkey(folder)
    settings = settings_for(
        folder / "data",
        redis_url=server.url,
        retry_backoff_base_seconds=1,
        # Not less: on a busy machine an engine takes two seconds to swell.
        ocr_hard_limit_seconds=5,
        ocr_recycle_rss_bytes=500_000_000,
        ocr_memory_limit_bytes=500_000_000,
        max_per_mac_pending=5_000,
        **overrides,
    )
    ward = Ward(settings, folder, plan.workers)
    try:
        ward.start()
        ward.end_of(ward.submit(b"", _MACS[0]))  # everybody is up
        yield ward
    finally:
        ward.stop()
        server.stop()


def run(plan: Plan) -> Iterator[str]:
    """Measure everything; give each piece of the report as soon as it is there."""
    with TemporaryDirectory(prefix="fairlane-bench-") as folder:
        yield machine("embedded Valkey")
        yield f"plan      {plan.kills} kills each, lease {plan.lease_s} s"
        yield f"          {plan.good} good pictures of 0.2 s, {plan.workers} workers\n"
        yield from measure_poison(plan, Path(folder) / "ward")
        yield from measure_killed_workers(plan, Path(folder) / "workers")
        yield from measure_kills(plan, Path(folder) / "stack")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tiny", action="store_true", help="each thing once: says that it works, not more")
    for piece in run(TINY if parser.parse_args().tiny else Plan()):
        print(piece, flush=True)


if __name__ == "__main__":
    main()
