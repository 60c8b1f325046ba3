"""How well and at what cost the OCR reads a folder of pictures whose text is known: `make eval-ocr`.

A folder holds `groundtruth.json`, a list of `{"file", "kind", "lines"}`, and the files. Each picture goes through the
same code as in a worker's child, with one thread of the engine, in this process, so that its CPU seconds are its own.
Two rates are printed, both in edits (Levenshtein) per character of the known text, white space left out, NFKC: *lines*
does not ask in which order the lines came, *order* does.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time

from benchmarks.printing import machine, table
from benchmarks.text_errors import edits_in_order, edits_of_lines, folded
from pipeline.clock import SystemClock
from pipeline.ocr.child import keep_freed_memory
from pipeline.ocr.images import image_limits
from pipeline.ocr.rapid import RapidEngine
from pipeline.ocr.reading import check_engine, read_image
from pipeline.ocr.types import OcrResult
from pipeline.settings import Settings

#: Beside the repository, where there is one.
DEFAULT_FOLDER = Path(__file__).parents[2] / "shared" / "cases" / "ocr"

Reader = Callable[[bytes], OcrResult]


@dataclass(frozen=True, slots=True)
class Case:
    """A picture and what it says, line by line."""

    name: str
    kind: str
    data: bytes
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Score:
    """What one picture cost, and how far its reading is from what it says.

    Args:
        chars: of the known text, without white space.
        line_edits: whatever the order of the lines.
        order_edits: of the whole text in its order.
        exact: lines read without an error, of `lines`.
    """

    name: str
    kind: str
    chars: int
    line_edits: int
    order_edits: int
    exact: int
    lines: int
    wall_s: float
    cpu_s: float


def cases_of(folder: Path, only: str = "") -> list[Case]:
    """The cases of a folder whose name holds `only`, in the order of its `groundtruth.json`."""
    known = json.loads((folder / "groundtruth.json").read_text(encoding="utf-8"))
    return [
        Case(case["file"], case["kind"], (folder / case["file"]).read_bytes(), tuple(case["lines"]))
        for case in known
        if only in case["file"]
    ]


def shipped_reader() -> Reader:
    """The reader of a worker's child with the default settings and one thread."""
    keep_freed_memory()
    limits = image_limits(Settings())
    engine, clock = RapidEngine(1), SystemClock()
    check_engine(engine)
    return lambda data: read_image(data, limits, engine, clock)


def score(case: Case, read: Reader) -> Score:
    """Read one picture and compare."""
    began_s, began_cpu_s = perf_counter(), process_time()
    result = read(case.data)
    wall_s, cpu_s = perf_counter() - began_s, process_time() - began_cpu_s
    known = [folded(line) for line in case.lines]
    found = [folded(line.text) for line in result.lines]
    line_edits, exact = edits_of_lines(known, found)
    return Score(
        name=case.name,
        kind=case.kind,
        chars=sum(map(len, known)),
        line_edits=line_edits,
        order_edits=edits_in_order("".join(known), "".join(found)),
        exact=exact,
        lines=len(known),
        wall_s=wall_s,
        cpu_s=cpu_s,
    )


def run(cases: Iterable[Case], read: Reader) -> Iterator[str]:
    """Yield the report: each picture as it is read, then each kind and the whole."""
    yield machine("none")
    scores = []
    for case in cases:
        scores.append(score(case, read))
        yield _line(scores[-1])
    yield ""
    yield table(
        ["kind", "images", "lines %", "order %", "lines exact %", "CPU s/image", "s/image"],
        [_row(kind, members) for kind, members in _kinds(scores)],
    )


def _line(one: Score) -> str:
    lines, order = (100 * edits / max(1, one.chars) for edits in (one.line_edits, one.order_edits))
    return f"{one.name:44} lines {lines:6.2f} %  order {order:6.2f} %  {one.cpu_s:6.2f} CPU s  {one.wall_s:6.2f} s"


def _kinds(scores: Sequence[Score]) -> Iterator[tuple[str, Sequence[Score]]]:
    kinds: dict[str, list[Score]] = defaultdict(list)
    for one in scores:
        kinds[one.kind].append(one)
    yield from sorted(kinds.items())
    yield "all", scores


def _row(kind: str, scores: Sequence[Score]) -> list[str]:
    chars = max(1, sum(one.chars for one in scores))
    return [
        kind,
        str(len(scores)),
        f"{100 * sum(one.line_edits for one in scores) / chars:.2f}",
        f"{100 * sum(one.order_edits for one in scores) / chars:.2f}",
        f"{100 * sum(one.exact for one in scores) / max(1, sum(one.lines for one in scores)):.1f}",
        f"{sum(one.cpu_s for one in scores) / max(1, len(scores)):.2f}",
        f"{sum(one.wall_s for one in scores) / max(1, len(scores)):.2f}",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=DEFAULT_FOLDER, help="a folder with groundtruth.json")
    parser.add_argument("--only", default="", help="pictures whose name holds this")
    options = parser.parse_args()
    if not (options.folder / "groundtruth.json").is_file():
        parser.error(f"{options.folder} has no groundtruth.json")
    for piece in run(cases_of(options.folder, options.only), shipped_reader()):
        print(piece, flush=True)


if __name__ == "__main__":
    main()
