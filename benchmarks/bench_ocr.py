"""What the whole system costs an image, beside the bare engine: `make bench-ocr`, or `--tiny`.

The bare engine: one process for each core, each with one thread (the fastest setting, docs/why/ocr.md), reads images
that are decoded and in memory already, in a loop, and does nothing with what it reads. The system: everything that
`fairlane up` starts, with as many engine children; images come over HTTP and count once their result is stored. Both
read the same images in the same order, in turns, so that whatever else the machine does falls on both.
"""

import argparse
import multiprocessing
import os
import queue
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from rapidocr import RapidOCR

import models.base
from benchmarks.eval_ocr import DEFAULT_FOLDER, cases_of
from benchmarks.printing import machine, spread, table
from pipeline.clock import SystemClock
from pipeline.ocr.images import decode_image, image_limits
from pipeline.runner.stack import Stack
from pipeline.samples import sample_images
from pipeline.settings import Settings
from tests.acceptance.conftest import Running, settings_for
from tests.support.processes import wait_until

_CORES = os.cpu_count() or 1
#: Images that wait while the system works.
_WAITING = 6
_LIMIT_S = 1200
_MACS = 4


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured.

    Args:
        pairs: turns of each.
        images: of one turn.
    """

    pairs: int = 3
    images: int = 70


TINY = Plan(pairs=1, images=4)


def bare_turn(images: Sequence[bytes]) -> float:
    """Images per second of the bare engine, on all cores; its processes are warm when the clock starts."""
    context = multiprocessing.get_context("spawn")
    start, ready = context.Event(), context.Semaphore(0)
    jobs, ends = context.Queue(), context.Queue()
    for number in range(len(images)):
        jobs.put(number)
    processes = [context.Process(target=_read_bare, args=(images, jobs, ready, start, ends)) for _ in range(_CORES)]
    for process in processes:
        process.start()
    for _ in processes:
        ready.acquire()
    began_s = perf_counter()
    start.set()
    for _ in images:
        ends.get(timeout=_LIMIT_S)
    took_s = perf_counter() - began_s
    for process in processes:
        process.join()
    return len(images) / took_s


def _read_bare(images: Sequence[bytes], jobs: Any, ready: Any, start: Any, ends: Any) -> None:
    limits = image_limits(Settings())
    pictures = [decode_image(data, limits).pixels[..., ::-1] for data in images]
    engine = RapidOCR(
        params={
            "Global.use_cls": False,
            "Global.max_side_len": 4096,
            "Global.log_level": "error",
            "Det.limit_type": "max",
            "Det.limit_side_len": 1536,
            "Rec.rec_batch_num": 1,
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
    )
    engine(pictures[0])
    ready.release()
    start.wait()
    while True:
        try:
            number = jobs.get(timeout=0.1)
        except queue.Empty:
            return
        engine(pictures[number])
        ends.put(number)


def system_turn(fairlane: Running, images: Sequence[bytes]) -> float:
    """Images per second from HTTP to the stored result; a few always wait, as under load."""
    task_ids: list[str] = []

    def feed() -> None:
        for number, data in enumerate(images):
            wait_until(lambda: fairlane.inspector.lanes()[0].waiting < _WAITING, _LIMIT_S)
            task_ids.append(fairlane.api.submit_image("i.png", data, f"02000000000{number % _MACS}")["task_id"])

    began_ms = SystemClock().now_ms()
    feeding = threading.Thread(target=feed)
    feeding.start()
    feeding.join()
    with models.base.connection():
        wait_until(lambda: all(_ended_ms(fairlane, task_id) for task_id in reversed(task_ids)), _LIMIT_S)
        return len(images) / (max(_ended_ms(fairlane, task_id) for task_id in task_ids) - began_ms) * 1000


def _ended_ms(fairlane: Running, task_id: str) -> int:
    row = fairlane.ledger.get(task_id)
    assert row is not None
    assert row.state != "failed", row.reason
    return row.ended_ms or 0


def pictures(count: int) -> list[bytes]:
    """The evaluation's pictures where they are, else the samples; over and over, `count` of them."""
    known = [case.data for case in cases_of(DEFAULT_FOLDER)] if DEFAULT_FOLDER.is_dir() else []
    return list(islice(cycle(known or [data for _, data in sample_images()]), count))


def run(plan: Plan) -> Iterator[str]:
    """Measure; give each piece of the report as soon as it is there."""
    yield machine("embedded Valkey") + "\n"
    images = pictures(plan.images)
    bare, system = [], []
    with TemporaryDirectory(prefix="fairlane-bench-") as folder:
        settings = settings_for(Path(folder), ocr_slots=_CORES, log_level="WARNING")
        with Stack(settings, SystemClock(), threading.Event()) as stack:
            fairlane = Running(settings, stack)
            for pair in range(plan.pairs):
                # What is first in one pair is second in the next: what drifts falls on both.
                for is_bare in (pair % 2 == 0, pair % 2 == 1):
                    if is_bare:
                        bare.append(bare_turn(images))
                    else:
                        system.append(system_turn(fairlane, images))
    ratios = [ours / engine for ours, engine in zip(system, bare, strict=True)]
    yield table(
        ["what", "images/s"],
        [["bare engine, decoded images", spread(bare, 2)], ["system, HTTP to stored result", spread(system, 2)]],
    )
    pairs = f"{plan.pairs} pairs of {plan.images} images"
    yield f"\nratio system/bare of {pairs}: {spread(ratios, 3)}; wanted: 0.95 or more"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tiny", action="store_true", help="a few images, in seconds: says that it works, not more")
    for piece in run(TINY if parser.parse_args().tiny else Plan()):
        print(piece, flush=True)


if __name__ == "__main__":
    main()
