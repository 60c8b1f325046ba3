"""Pictures of a trace: waits and shares over time, as a PNG and as a few lines for a terminal."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from pipeline.errors import ConfigurationError
from pipeline.simulation.events import Run, Trace
from pipeline.simulation.measures import waits_s, work_ms

_SIZE = (1200, 900)
_LEFT, _RIGHT = 90, 1170
_WAITS, _SHARES = (150, 520), (610, 850)
_INK, _GRID, _PAPER = "#1b1f24", "#dfe3e8", "#ffffff"
#: Colours that people with any sort of colour vision tell apart (Okabe and Ito), the alarming one first.
_COLOURS = ("#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
_BLOCKS = " ▁▂▃▄▅▆▇█"
#: Stretches of time that a picture tells apart.
_PNG_STEPS, _TERMINAL_STEPS = 108, 48


def shares_over_time(trace: Trace, steps: int) -> dict[str, list[float]]:
    """Return what part of the slots each group had in each of `steps` equal stretches of time, 0..1."""
    edges = np.linspace(0, max(1, trace.end_ms), steps + 1)
    slots_ms = (edges[1] - edges[0]) * trace.scenario.slots
    return {
        name: [work_ms(runs, float(edges[i]), float(edges[i + 1])) / float(slots_ms) for i in range(steps)]
        for name, runs in _by_group(trace).items()
    }


def terminal_picture(trace: Trace) -> list[str]:
    """Return lines: each group's share over time as a row of blocks, and its waits."""
    shares = shares_over_time(trace, _TERMINAL_STEPS)
    width = max(len(name) for name in shares)
    lines = [f"{'':{width}}  {'share of the slots, from start to end':{_TERMINAL_STEPS}}  wait p50 / p95 / max, s"]
    for name, runs in _by_group(trace).items():
        row = "".join(_BLOCKS[_block(share)] for share in shares[name])
        waits = waits_s(runs, trace.end_ms)
        numbers = [np.quantile(waits, q, method="inverted_cdf") for q in (0.5, 0.95, 1.0)] if len(waits) else []
        lines.append(f"{name:{width}}  {row}  {' / '.join(f'{number:.2f}' for number in numbers)}")
    return lines


def draw_png(trace: Trace, title: str, path: Path) -> None:
    """Write the picture of a trace: the wait of every task that was begun, and the shares of the groups.

    Raises: ConfigurationError, when the file cannot be written.
    """
    image = Image.new("RGB", _SIZE, _PAPER)
    draw = ImageDraw.Draw(image)
    draw.text((_LEFT, 24), title, _INK, _fitting(draw, title))
    _draw_legend(draw, [group.name for group in trace.scenario.groups])
    _draw_waits(draw, trace)
    _draw_shares(draw, trace)
    try:
        image.save(path, "PNG")
    except OSError as exc:
        raise ConfigurationError(f"the picture {path} cannot be written: {exc.strerror}") from exc


def _by_group(trace: Trace) -> dict[str, list[Run]]:
    found: dict[str, list[Run]] = {group.name: [] for group in trace.scenario.groups}
    for run in trace.runs:
        found[run.group].append(run)
    return found


def _block(share: float) -> int:
    # Whatever is not nothing is seen.
    return min(len(_BLOCKS) - 1, max(1 if share > 0 else 0, round(share * (len(_BLOCKS) - 1))))


def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)


def _fitting(draw: ImageDraw.ImageDraw, title: str) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    sizes = range(26, 11, -1)
    return next((_font(size) for size in sizes if draw.textlength(title, _font(size)) <= _RIGHT - _LEFT), _font(12))


def _draw_legend(draw: ImageDraw.ImageDraw, names: Sequence[str]) -> None:
    x = _LEFT
    for index, name in enumerate(names):
        draw.rectangle((x, 70, x + 16, 86), fill=_COLOURS[index % len(_COLOURS)])
        draw.text((x + 24, 66), name, _INK, _font(20))
        x += int(draw.textlength(name, _font(20))) + 60


def _draw_frame(
    draw: ImageDraw.ImageDraw, label: str, box: tuple[int, int], marks: Sequence[tuple[float, str]], end_s: float
) -> None:
    """Draw a grid.

    Args:
        box: top and bottom.
        marks: of the upright axis: how high, 0..1, and what stands there.
    """
    top, bottom = box
    draw.text((_LEFT, top - 30), label, _INK, _font(18))
    for height, text in marks:
        y = bottom - height * (bottom - top)
        draw.line((_LEFT, y, _RIGHT, y), _GRID)
        draw.text((_LEFT - 10, y), text, _INK, _font(16), anchor="rm")
    for part in range(6):
        x = _LEFT + part / 5 * (_RIGHT - _LEFT)
        draw.line((x, top, x, bottom), _GRID)
        draw.text((x, bottom + 8), f"{end_s * part / 5:g} s", _INK, _font(16), anchor="ma")


def _draw_waits(draw: ImageDraw.ImageDraw, trace: Trace) -> None:
    top, bottom = _WAITS
    started = [run for runs in _by_group(trace).values() for run in runs if run.started_ms is not None]
    waits = waits_s(started, trace.end_ms)
    # The line of a flood waits as long as it is deep. On a plain scale whoever waits a second would lie on the floor.
    decades = max(1, int(np.ceil(np.log10(max(10.0, float(waits.max(initial=0)))))) + 1)
    marks = [(0.0, "<= 0.1 s"), *((i / decades, f"{10 ** (i - 1):g} s") for i in range(1, decades + 1))]
    label = "wait of each task that was begun, by the time of its submit, logarithmic"
    _draw_frame(draw, label, _WAITS, marks, trace.end_ms / 1000)
    colours = {group.name: _COLOURS[i % len(_COLOURS)] for i, group in enumerate(trace.scenario.groups)}
    for run, wait in zip(started, waits, strict=True):
        x = _LEFT + run.submitted_ms / max(1, trace.end_ms) * (_RIGHT - _LEFT)
        height = (np.log10(max(0.1, float(wait))) + 1) / decades
        y = bottom - float(height) * (bottom - top)
        draw.ellipse((x - 2.5, y - 2.5, x + 2.5, y + 2.5), fill=colours[run.group])


def _draw_shares(draw: ImageDraw.ImageDraw, trace: Trace) -> None:
    top, bottom = _SHARES
    marks = [(part / 4, f"{part * 25} %") for part in range(5)]
    _draw_frame(draw, "share of the slots", _SHARES, marks, trace.end_ms / 1000)
    width = (_RIGHT - _LEFT) / _PNG_STEPS
    below = [0.0] * _PNG_STEPS
    for index, shares in enumerate(shares_over_time(trace, _PNG_STEPS).values()):
        for step, share in enumerate(shares):
            if share <= 0:
                continue
            x, y = _LEFT + step * width, bottom - below[step] * (bottom - top)
            box = (x, y - share * (bottom - top), x + width - 1, y)
            draw.rectangle(box, fill=_COLOURS[index % len(_COLOURS)])
            below[step] += share
