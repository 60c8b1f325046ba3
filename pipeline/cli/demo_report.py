"""What the demo shows at its end: how long each device waited, and what was read."""

from collections.abc import Sequence
from statistics import median
from typing import Any

from rich.console import Console
from rich.text import Text

from pipeline.cli.demo_scene import Device
from pipeline.cli.marks import marked
from pipeline.cli.sanitize import clean_line
from pipeline.cli.terminal import seconds, show_table


def show_waits(devices: Sequence[Device], console: Console) -> None:
    """Print one line per device, and what they say together."""
    console.print()
    show_table(
        ["device", "MAC", "tasks", "done", "hits", "picture wait, median", "worst", "text wait, worst"],
        [_row(device) for device in devices],
    )
    floods = [wait for device in devices if device.is_flooding for wait in _waits_ms(device, "ocr")]
    others = [wait for device in devices if not device.is_flooding for wait in _waits_ms(device, "ocr")]
    if floods and others:
        console.print(
            f"\nThe flood's last picture waited {seconds(max(floods))} for its turn; "
            f"the others' pictures, sent behind all of it, {seconds(max(others))} at most."
        )


def show_reading(devices: Sequence[Device], console: Console) -> None:
    """Print what was read from one picture, the sensitive words in it marked; one with hits if there is any."""
    read = [answer for device in devices for answer in device.answers if answer["ocr"]]
    if not read:
        return
    answer = max(read, key=lambda one: len(_hits_of(one)))
    hits = _hits_of(answer)
    ocr = answer["ocr"]
    console.print(
        f"\nRead from one {ocr['width_px']} x {ocr['height_px']} picture, {ocr['line_count']} lines, "
        f"mean confidence {ocr['mean_confidence']:.2f}:\n"
    )
    console.print(marked(ocr["text"], [(hit["start"], hit["end"]) for hit in hits]))
    suggestion = (answer["detection"] or {}).get("suggestion", "")
    words = ", ".join(f"{hit['word']} at {hit['start']}-{hit['end']}" for hit in hits) or "none"
    console.print()
    console.print(Text(clean_line(f"hits: {words}; suggestion: {suggestion}; task {answer['task_id']}")))


def _row(device: Device) -> list[object]:
    waits = _waits_ms(device, "ocr")
    hits = sum(len(_hits_of(answer)) for answer in device.answers)
    return [
        device.name,
        device.mac,
        device.total,
        device.done,
        hits,
        seconds(median(waits)) if waits else "",
        seconds(max(waits, default=None)),
        seconds(max(_waits_ms(device, "text"), default=None)),
    ]


def _waits_ms(device: Device, lane: str) -> list[int]:
    """From accepted to started."""
    return [
        answer["started_ms"] - answer["created_ms"]
        for answer in device.answers
        if answer["started_ms"] and answer["lane"] == lane
    ]


def _hits_of(answer: dict[str, Any]) -> list[dict[str, Any]]:
    return list((answer["detection"] or {}).get("hits", []))
