"""`fairlane bench`: texts and pictures through a running fairlane, and how long they took; a self-test, no record."""

import itertools
import os
import secrets
import struct
import threading
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from pipeline.cli.api import Api, patiently
from pipeline.cli.exits import FAILED, OK
from pipeline.cli.interrupts import handled_signals
from pipeline.cli.options import settings_of
from pipeline.cli.parallel import in_parallel
from pipeline.cli.progress import bar_of
from pipeline.cli.service import api_of, check_url, key_file_option
from pipeline.cli.terminal import OutputFormat, output_option, seconds, show_rows, show_table
from pipeline.errors import Overload
from pipeline.queue import ENDS
from pipeline.samples import sample_images, sample_texts

#: Sent and waited for at once.
_THREADS = 4
#: How long one request waits for the end of a task, seconds; short enough for Ctrl-C.
_WAIT_S = 10
#: Tasks of one device: well below what a device may submit in a minute, and have in line.
_TASKS_OF_A_DEVICE = 50
_COLUMNS = ("lane", "tasks", "done", "tasks/s", "wait p50", "wait p99", "run p50", "whole p50", "whole p99")


@dataclass(slots=True)
class _Shot:
    """One task that is sent, and how it went.

    Args:
        image: empty for a text.
        refusals: times the service was full and said when to come back.
    """

    mac: str
    text: str = ""
    image: bytes = b""
    refusals: int = 0
    task: dict[str, Any] = field(default_factory=dict)


@click.command("bench")
@click.option("--texts", type=click.IntRange(0, 100_000), default=200, show_default=True, help="Texts to send.")
@click.option("--images", type=click.IntRange(0, 10_000), default=10, show_default=True, help="Pictures to send.")
@click.option("--url", callback=check_url, help="Where fairlane runs; default: http://FAIRLANE_WEB_BIND.")
@key_file_option
@output_option
def command(*, texts: int, images: int, url: str | None, key_file: Path | None, output: OutputFormat) -> int:
    """Send texts and pictures to a running fairlane; say how many a second it does and how long they wait.

    They are the samples that come along, each made a little different, from devices made up for this run; their tasks
    and results stay in the database as any others. Exit with 1 if any did not end as done.
    """
    if not texts + images:
        raise click.UsageError("nothing to send: give --texts or --images")
    api = api_of(settings_of(None), url=url, key_file=key_file)
    shots = _shots(texts, images)
    with handled_signals() as interrupts:
        _fire(api, shots, interrupts.stop)
    rows = [_figures(lane, [shot for shot in shots if shot.task["lane"] == lane]) for lane in ("ocr", "text")]
    rows = [row for row in rows if row["tasks"]]
    if output == "table":
        _show(rows, shots)
    else:
        show_rows(rows, output)
    return OK if all(row["done"] == row["tasks"] for row in rows) else FAILED


def _shots(texts: int, images: int) -> list[_Shot]:
    """Texts and pictures in turn, so that both lanes work at the same time."""
    run = secrets.token_hex(3)
    devices = min(256, max(2, -(-(texts + images) // _TASKS_OF_A_DEVICE)))
    macs = [f"02be{run}{number:02x}" for number in range(devices)]
    wording, pictures = itertools.cycle(sample_texts()), itertools.cycle(data for _, data in sample_images())
    of_texts = [_Shot(macs[n % len(macs)], text=f"{next(wording)} ({run} {n})") for n in range(texts)]
    of_images = [_Shot(macs[n % len(macs)], image=_made_new(next(pictures), f"{run} {n}")) for n in range(images)]
    return [shot for pair in itertools.zip_longest(of_images, of_texts) for shot in pair if shot is not None]


def _made_new(png: bytes, mark: str) -> bytes:
    """The same picture in other bytes, by a comment in it: what was read before would not be read again."""
    body = b"tEXt" + b"Comment\0" + mark.encode()
    chunk = struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))
    return png[:-12] + chunk + png[-12:]  # before the last chunk, which is empty


def _fire(api: Api, shots: Sequence[_Shot], stop: threading.Event) -> None:
    def submit(shot: _Shot) -> dict[str, Any]:
        try:
            if shot.image:
                return api.submit_image("bench.png", shot.image, shot.mac)
            return api.submit_text(shot.text, shot.mac)
        except Overload:
            shot.refusals += 1
            raise

    def send(shot: _Shot) -> None:
        shot.task = patiently(lambda: submit(shot), stop)

    def wait(shot: _Shot) -> None:
        while shot.task["state"] not in ENDS and not stop.is_set():
            shot.task = patiently(lambda: api.task(shot.task["task_id"], wait_s=_WAIT_S), stop)

    for what, work in (("sending", send), ("waiting", wait)):
        with bar_of(what, len(shots)) as advance:
            for _ in in_parallel(work, shots, stop, threads=_THREADS):
                advance(1)


def _figures(lane: str, shots: Sequence[_Shot]) -> dict[str, Any]:
    """What the service's own times say of the tasks of a lane; milliseconds."""
    tasks = [shot.task for shot in shots]
    done = [task for task in tasks if task["state"] == "done"]
    waits = sorted(task["started_ms"] - task["created_ms"] for task in done)
    runs = sorted(task["ended_ms"] - task["started_ms"] for task in done)
    wholes = sorted(task["ended_ms"] - task["created_ms"] for task in done)
    span_ms = max((task["ended_ms"] for task in done), default=0) - min((t["created_ms"] for t in done), default=0)
    return {
        "lane": lane,
        "tasks": len(tasks),
        "done": len(done),
        "tasks_per_s": round(1000 * len(done) / span_ms, 2) if span_ms else None,
        "wait_p50_ms": _rank(waits, 50),
        "wait_p99_ms": _rank(waits, 99),
        "run_p50_ms": _rank(runs, 50),
        "whole_p50_ms": _rank(wholes, 50),
        "whole_p99_ms": _rank(wholes, 99),
        "refusals": sum(shot.refusals for shot in shots),
    }


def _rank(ordered: Sequence[int], percent: int) -> int | None:
    """The value that so many percent do not exceed; of fewer than 100 values the 99th is the largest."""
    return ordered[-(-len(ordered) * percent // 100) - 1] if ordered else None


def _show(rows: Sequence[dict[str, Any]], shots: Sequence[_Shot]) -> None:
    show_table(
        _COLUMNS,
        [
            [row["lane"], row["tasks"], row["done"], row["tasks_per_s"] or ""]
            + [seconds(value) for name, value in row.items() if name.endswith("_ms")]
            for row in rows
        ],
    )
    refusals = sum(shot.refusals for shot in shots)
    macs = len({shot.mac for shot in shots})
    click.echo(
        f"\nsent by {_THREADS} threads of this host ({os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}) for {macs} "
        f"devices; {refusals} times it was full and asked to come back"
    )
    click.echo("wait: accepted to begun; run: begun to ended; a p99 of fewer than 100 tasks is the slowest of them")
