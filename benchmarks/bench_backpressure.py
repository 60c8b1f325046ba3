"""What backpressure costs a worker that is busy with its own work, and how soon it reacts: `make bench-backpressure`.

First, throughput: a real worker with one engine child for each core reads sample images, in turns with watermarks as
they are by default and with all of them off; the turns of a pair follow one another, so that whatever else the machine
does falls on both. A worker that took its own load for that of others would hold itself, and lose. Then reaction: the
sampler of this process, and a load of as many foreign busy loops as there are cores, begun and ended again and again.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from time import perf_counter

import redis

import models.base
from benchmarks.printing import machine, spread, table
from pipeline.clock import SystemClock
from pipeline.samples import sample_images
from pipeline.settings import Settings, child_environment, load_settings
from pipeline.submission import ImageSubmission
from pipeline.workers.host import open_sampler
from pipeline.workers.own import OwnProcesses
from pipeline.workers.sampler import CPU_OVER
from tests.support.foreign_load import foreign_load
from tests.support.own_servers import started_valkey
from tests.support.parts import Parts
from tests.support.processes import wait_until

_OFF = {"worker_cpu_high_watermark": 100, "worker_mem_high_watermark": 100, "worker_gpu_mem_high_watermark": 100}
#: Seconds that one turn, or one change of a verdict, may take at most.
_TURN_LIMIT_S = 600
#: Devices that send.
_MACS = 4


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured.

    Args:
        pairs: turns with and without watermarks.
        images: of one turn.
        loads: foreign loads for the reaction; none: it is not measured.
        marks: settings of the turns with watermarks.
    """

    pairs: int = 12
    images: int = 30
    loads: int = 6
    marks: Mapping[str, int] = field(default_factory=dict)


#: Its marks are for machines that are busy with other tests.
TINY = Plan(pairs=1, images=4, loads=0, marks={"worker_cpu_high_watermark": 99, "worker_cpu_low_watermark": 98})


@dataclass(frozen=True, slots=True)
class Turn:
    """What one turn showed.

    Args:
        per_second: images read.
        holds: how often it was seen to be held.
        others_percent: highest share of others that its worker published.
    """

    per_second: float
    holds: int
    others_percent: float


class Site(Parts):
    """A queue, a ledger and a store for the workers of all turns."""

    def turn(self, images: int, marks: Mapping[str, int]) -> Turn:
        """Read some images with a fresh worker; the time until its engines are warm does not count."""
        with worker(self.settings.model_copy(update=dict(marks))):
            wait_until(self.roster.workers, _TURN_LIMIT_S)
            task_ids = [self._submit(number, data) for number, data in enumerate(pictures(images))]
            holds, others = 0, [0.0]

            def is_over() -> bool:
                nonlocal holds
                for entry in self.roster.workers():
                    holds += entry["state"] == "held"
                    others.append(float(entry["cpu_others_percent"] or 0))
                with models.base.connection():
                    return all(self._ended_ms(task_id) for task_id in reversed(task_ids))

            wait_until(is_over, _TURN_LIMIT_S)
            with models.base.connection():
                ends = sorted(self._ended_ms(task_id) for task_id in task_ids)
        return Turn((len(ends) - 1) / (ends[-1] - ends[0]) * 1000, holds, max(others))

    def _submit(self, number: int, data: bytes) -> str:
        return self.intake.submit_image(ImageSubmission(f"02000000000{number % _MACS}", data)).task_id

    def _ended_ms(self, task_id: str) -> int:
        row = self.row_of(task_id)
        assert row.state != "failed", row.reason
        return row.ended_ms or 0


@contextmanager
def worker(settings: Settings) -> Iterator[None]:
    """A worker of the lane `ocr`, started as the Procfile does."""
    program = Path(sys.executable).with_name("dramatiq")
    command = [str(program), "pipeline.actors", "--queues", "ocr", "--processes", "1", "--threads", "4"]
    log = (settings.data_dir / "worker.log").open("ab")
    with log, subprocess.Popen(command, env=child_environment(settings, []), stdout=log, stderr=log) as process:
        try:
            yield
        finally:
            process.terminate()
            process.wait(_TURN_LIMIT_S)


def pictures(count: int) -> list[bytes]:
    return [data for _, data in islice(cycle(sample_images()), count)]


def run(plan: Plan) -> Iterator[str]:
    """Measure; give each piece of the report as soon as it is there."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fairlane-bench-")))
        valkey = stack.enter_context(started_valkey())
        client = stack.enter_context(redis.Redis.from_url(valkey.url))
        yield machine(str(client.info("server").get("valkey_version", "unknown"))) + "\n"
        settings = load_settings(
            data_dir=folder / "data",
            redis_url=valkey.url,
            ocr_slots=min(os.cpu_count() or 1, 4),
            worker_heartbeat_seconds=2,
            ocr_reuse_seconds=0,
            log_level="WARNING",
        )
        settings.data_dir.mkdir()
        yield from _throughput(Site(settings), plan)
    if plan.loads:
        yield from _reaction(plan.loads)


def _throughput(site: Site, plan: Plan) -> Iterator[str]:
    turns: dict[bool, list[Turn]] = {True: [], False: []}
    for pair in range(plan.pairs):
        # On first in one pair, off first in the next: what drifts falls on both.
        for is_on in (pair % 2 == 0, pair % 2 == 1):
            turns[is_on].append(site.turn(plan.images, plan.marks if is_on else _OFF))
    ratios = [on.per_second / off.per_second for on, off in zip(turns[True], turns[False], strict=True)]
    yield table(
        ["watermarks", "images/s", "seen held", "most of others, %"],
        [
            _row("on", turns[True]),
            _row("off", turns[False]),
        ],
    )
    yield f"\nratio on/off of {plan.pairs} pairs: {spread(ratios, 3)}; wanted: a median of 0.97 or more\n"


def _row(name: str, turns: Sequence[Turn]) -> list[str]:
    held = str(sum(turn.holds for turn in turns))
    return [
        name,
        spread([turn.per_second for turn in turns], 2),
        held,
        f"{max(turn.others_percent for turn in turns):.0f}",
    ]


def _reaction(loads: int) -> Iterator[str]:
    verdicts: list[tuple[float, bool]] = []
    sampler = open_sampler(load_settings(), SystemClock(), OwnProcesses(), uses_gpu=False)
    changed = threading.Event()

    def tell(reasons: frozenset[str]) -> None:
        verdicts.append((perf_counter(), CPU_OVER in reasons))
        changed.set()

    sampler.start(tell)
    held_s, released_s = [], []
    for _ in range(loads):
        wait_until(lambda: CPU_OVER not in sampler.reasons, _TURN_LIMIT_S)
        threading.Event().wait(1 + random.random())  # at any moment between two samples
        verdicts.clear()
        with foreign_load():
            began_s = perf_counter()
            wait_until(lambda: any(is_held for _, is_held in verdicts), _TURN_LIMIT_S)
            held_s.append(next(at_s for at_s, is_held in verdicts if is_held) - began_s)
        ended_s = perf_counter()
        wait_until(lambda: not verdicts[-1][1], _TURN_LIMIT_S)
        released_s.append(verdicts[-1][0] - ended_s)
    sampler.stop()
    yield table(
        ["foreign load", "seconds until the verdict"],
        [["begins: held", spread(held_s, 2)], ["ends: released", spread(released_s, 2)]],
    )
    yield f"\nmedian of {loads}: held after {median(held_s):.2f} s, released after {median(released_s):.2f} s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tiny", action="store_true", help="a few images, in seconds: says that it works, not more")
    for piece in run(TINY if parser.parse_args().tiny else Plan()):
        print(piece, flush=True)


if __name__ == "__main__":
    main()
