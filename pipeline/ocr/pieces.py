"""A line too long for a reader is read in pieces, cut where nothing is written."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from pipeline.ocr.engine import Engine, Pixels, Reading, read_all

#: Width by height of the longest line that is read whole: readers slow down, and grow unsure, with the square of it.
_WHOLE_RATIO = 40.0
#: The same of a piece; cuts lie within the last fifth of that.
_PIECE_RATIO = 30.0
_CUT_WITHIN = 0.2
#: Of the height: as wide as this, the gap at a cut is a space.
_SPACE = 0.25
#: Grey levels by which the samples of an empty column differ at most.
_EMPTY_LEVELS = 24


def read_in_pieces(lines: Sequence[Pixels], engine: Engine) -> list[Reading]:
    """Read lines of any length; each comes back as one."""
    cuts = [_cuts(line) for line in lines]
    edges = [[0, *(place for place, _ in cut), line.shape[1]] for line, cut in zip(lines, cuts, strict=True)]
    parts = [line[:, left:right] for line, edge in zip(lines, edges, strict=True) for left, right in pairwise(edge)]
    said = iter(read_all(engine, parts))
    return [_one([next(said) for _ in pairwise(edge)], cut) for edge, cut in zip(edges, cuts, strict=True)]


def _cuts(line: Pixels) -> list[tuple[int, bool]]:
    """Where to cut a line, px, and whether a space is there."""
    height_px, width_px = line.shape[:2]
    if width_px <= _WHOLE_RATIO * height_px:
        return []
    spread = line.max(axis=(0, 2)).astype(int) - line.min(axis=(0, 2))
    piece_px = int(_PIECE_RATIO * height_px)
    cuts: list[tuple[int, bool]] = []
    begin = 0
    while width_px - begin > piece_px:
        first = begin + int(piece_px * (1 - _CUT_WITHIN))
        place, gap_px = _widest_gap(spread[first : begin + piece_px])
        begin = first + place
        cuts.append((begin, gap_px >= _SPACE * height_px))
    return cuts


def _widest_gap(spread: np.ndarray[tuple[int], np.dtype[np.int_]]) -> tuple[int, int]:
    """The middle and the width of the widest run of empty columns; the emptiest column where there is none."""
    is_empty = np.concatenate([[False], spread <= _EMPTY_LEVELS, [False]])
    edges = np.flatnonzero(np.diff(is_empty.astype(np.int8)))
    starts, ends = edges[::2], edges[1::2]
    if not len(starts):
        return max(1, int(np.argmin(spread))), 0
    widest = int(np.argmax(ends - starts))
    return max(1, int(starts[widest] + ends[widest]) // 2), int(ends[widest] - starts[widest])


def _one(parts: Sequence[Reading], cuts: Sequence[tuple[int, bool]]) -> Reading:
    if len(parts) == 1:
        return parts[0]
    text = parts[0].text
    for part, (_, is_space) in zip(parts[1:], cuts, strict=True):
        text += (" " if is_space else "") + part.text
    weights = [len(part.text) + 1 for part in parts]
    return Reading(text, float(np.average([part.confidence for part in parts], weights=weights)))
