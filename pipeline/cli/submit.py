"""`fairlane submit`: pictures, folders or a text, sent to a running fairlane."""

import threading
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from pipeline.cli.api import Api, patiently
from pipeline.cli.exits import FAILED, OK, REFUSED, UNREACHABLE, message_of
from pipeline.cli.interrupts import handled_signals
from pipeline.cli.options import settings_of
from pipeline.cli.parallel import in_parallel
from pipeline.cli.progress import bar_of
from pipeline.cli.service import api_of, check_url, key_file_option
from pipeline.cli.terminal import OutputFormat, output_option, show_rows
from pipeline.errors import FairlaneError, InvalidMac, Overload, Retryable
from pipeline.mac import normalize_mac

#: What counts as a picture inside a folder; a file named itself is sent whatever it is called.
_SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".avif"})

#: Sent and waited for at once; the service itself holds half of its threads free.
_THREADS = 4

#: How long one request waits for the end of a task, seconds; short enough for Ctrl-C.
_WAIT_S = 10

_ENDS = frozenset({"done", "failed", "dead", "expired", "evicted", "cancelled"})


@dataclass(slots=True)
class _Item:
    """One thing to send, and what became of it.

    Args:
        problem: the exit code it leads to, 0 while all is well.
    """

    name: str
    path: Path | None
    text: str = ""
    task: dict[str, Any] = field(default_factory=dict)
    state: str = ""
    message: str = ""
    problem: int = OK

    def refuse(self, exc: FairlaneError | OSError) -> None:
        is_full, is_gone = isinstance(exc, Overload), isinstance(exc, Retryable)
        self.state = "unreachable" if is_gone else "refused"
        self.message = message_of(exc) if isinstance(exc, FairlaneError) else (exc.strerror or "cannot be read")
        self.problem = UNREACHABLE if is_gone else REFUSED if is_full else FAILED

    def row(self) -> dict[str, Any]:
        ocr, detection = self.task.get("ocr") or {}, self.task.get("detection") or {}
        error = self.task.get("error") or {}
        return {
            "name": self.name,
            "task_id": self.task.get("task_id", ""),
            "state": self.state,
            "lines": ocr.get("line_count", ""),
            "suggestion": detection.get("suggestion", ""),
            "hits": ", ".join(hit["word"] for hit in detection.get("hits", [])),
            "problem": self.message or error.get("message", ""),
            "task": self.task,
        }


def _check_mac(_ctx: click.Context, _param: click.Parameter, value: str) -> str:
    try:
        return normalize_mac(value)
    except InvalidMac as exc:
        raise click.BadParameter(exc.problems[0].detail) from exc


@click.command("submit")
@click.argument("paths", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option("--text", multiple=True, help="A text to screen; may be given more than once.")
@click.option(
    "--mac", default=f"{uuid.getnode():012x}", callback=_check_mac, help="The device; default: this machine's."
)
@click.option("--word", "words", multiple=True, help="A word to look for in this request; may be given more than once.")
@click.option("--url", callback=check_url, help="Where fairlane runs; default: http://FAIRLANE_WEB_BIND.")
@key_file_option
@click.option("--wait/--no-wait", default=True, show_default=True, help="Wait for the results.")
@output_option
def command(
    *,
    paths: tuple[Path, ...],
    text: tuple[str, ...],
    mac: str,
    words: tuple[str, ...],
    url: str | None,
    key_file: Path | None,
    wait: bool,
    output: OutputFormat,
) -> int:
    """Send pictures, folders of pictures or a text; wait for the results.

    Exit with 1 if any failed, 4 if nobody answers, 5 if the service stays full.
    """
    items = list(_items(paths, text))
    if not items:
        raise click.UsageError("nothing to send: give files, folders with pictures, or --text")
    api = api_of(settings_of(None), url=url, key_file=key_file)
    with handled_signals() as interrupts:
        sender = _Sender(api, mac, words, interrupts.stop)
        try:
            _work_off(sender, items, interrupts.stop, wait=wait)
        finally:
            # Interrupted or not: what was accepted goes on, and these are the ids to ask for it.
            _show(items, output)
    return next((code for code in (UNREACHABLE, REFUSED, FAILED) if any(i.problem == code for i in items)), OK)


def _show(items: Sequence["_Item"], output: OutputFormat) -> None:
    rows = [item.row() for item in items]
    columns = ("name", "task_id", "state", "lines", "suggestion", "hits", "problem")
    show_rows(rows, output, columns=[name for name in columns if name != "problem" or any(row[name] for row in rows)])


def _items(paths: Sequence[Path], texts: Sequence[str]) -> Iterator[_Item]:
    for path in paths:
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in files:
            if file == path or (file.suffix.lower() in _SUFFIXES and file.is_file()):
                yield _Item(str(file), file)
    for number, text in enumerate(texts, start=1):
        yield _Item(f"text {number}", None, text)


def _work_off(sender: "_Sender", items: list[_Item], stop: threading.Event, *, wait: bool) -> None:
    for what, work in (("sending", sender.send), ("waiting", sender.wait_for))[: 2 if wait else 1]:
        todo = [item for item in items if not item.problem]
        with bar_of(what, len(todo)) as advance:
            for _ in in_parallel(work, todo, stop, threads=_THREADS):
                advance(1)
                if stop.is_set():
                    raise KeyboardInterrupt


class _Sender:
    """Sends items and waits for them; what goes wrong is noted in the item."""

    def __init__(self, api: Api, mac: str, words: Sequence[str], stop: threading.Event) -> None:
        self._api = api
        self._mac = mac
        self._words = words
        self._stop = stop
        self._gone: Retryable | None = None

    def send(self, item: _Item) -> None:
        """Send one item; once nobody has answered, the others are not tried."""
        try:
            if self._gone:
                raise self._gone
            # Read only now: a folder may hold more than fits into memory.
            data = item.path.read_bytes() if item.path else b""
            item.task = patiently(lambda: self._send(item, data), self._stop)
            item.state = str(item.task.get("state"))
        except Retryable as exc:
            self._gone = exc
            item.refuse(exc)
        except (FairlaneError, OSError) as exc:
            item.refuse(exc)

    def wait_for(self, item: _Item) -> None:
        """Wait until the task of one item has ended."""
        try:
            while item.state not in _ENDS:
                item.task = patiently(lambda: self._api.task(item.task["task_id"], wait_s=_WAIT_S), self._stop)
                item.state = str(item.task.get("state"))
                if self._stop.is_set():
                    return
            item.problem = OK if item.state == "done" else FAILED
        except FairlaneError as exc:
            item.refuse(exc)

    def _send(self, item: _Item, data: bytes) -> dict[str, Any]:
        if item.path:
            return self._api.submit_image(item.path.name, data, self._mac, self._words)
        return self._api.submit_text(item.text, self._mac, self._words)
