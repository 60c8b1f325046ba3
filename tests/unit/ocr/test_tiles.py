"""Tiles cover a picture, and a line that two of them see comes out once and whole."""

from itertools import pairwise

import numpy as np
import pytest

from pipeline.ocr.quads import bounds
from pipeline.ocr.tiles import OVERLAP_PX, TILE_PX, find_in_tiles, tiles_of
from tests.support.ocr_engines import quad


@pytest.mark.feature("O3")
@pytest.mark.parametrize("length_px", [1, 1536, 1537, 2900, 2912, 2913, 7200, 15_000, 29_999, 30_000])
def test_tiles_cover_a_length_and_overlap_enough(length_px: int) -> None:
    tiles = tiles_of(length_px)

    assert (tiles[0].start, tiles[-1].end) == (0, length_px)
    assert all(tile.end - tile.start <= TILE_PX for tile in tiles)
    assert all(one.end - other.start >= OVERLAP_PX for one, other in pairwise(tiles))
    assert len(tiles) <= 22


def seen(lines: list[np.ndarray], axis: int, length_px: int, jitter_px: int = 0) -> list[tuple[float, ...]]:
    """What comes out when each tile finds what it shows of some lines, off by some px in every other tile."""
    shape = (length_px, 1000, 3) if axis == 0 else (1000, length_px, 3)
    tiles = iter(enumerate(tiles_of(length_px)))

    def find(part: np.ndarray) -> list[np.ndarray]:
        number, tile = next(tiles)
        found = []
        for line in lines:
            shown = line.copy() + (jitter_px if number % 2 else 0)
            shown[:, 1 - axis] = np.clip(shown[:, 1 - axis], tile.start, tile.end) - tile.start
            if np.ptp(shown[:, 1 - axis]) > 3:
                found.append(shown)
        return found

    joined = find_in_tiles(np.empty(shape, dtype=np.uint8), tiles_of(length_px), find)
    return sorted((bounds(line) for line in joined), key=lambda one: (one[1], one[0]))


@pytest.mark.feature("O3")
@pytest.mark.parametrize("jitter_px", [0, 3])
@pytest.mark.parametrize("pitch_px", [31, 50, 97])
def test_lines_at_the_seams_are_neither_doubled_nor_lost(pitch_px: int, jitter_px: int) -> None:
    lines = [quad(10, top, 900, top + 30) for top in range(20, 7000, pitch_px)]

    found = seen(lines, 1, 7200, jitter_px)

    assert len(found) == len(lines)
    for one, line in zip(found, lines, strict=True):
        assert np.allclose(one, bounds(line), atol=jitter_px)


@pytest.mark.feature("O3")
def test_line_across_many_tiles_is_one_line() -> None:
    lines = [quad(20, 10, 11_900, 50), quad(1300, 60, 1500, 90), quad(5000, 100, 9000, 140)]

    assert seen(lines, 0, 12_000) == [bounds(line) for line in lines]


def test_lines_that_touch_stay_two() -> None:
    lines = [quad(10, top, 900, top + 44) for top in range(1300, 1600, 40)]

    assert len(seen(lines, 1, 7200)) == len(lines)
