"""From image bytes to a result: decode, find lines, tell which way up they are, read each, put them in order."""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from PIL import Image, ImageDraw

from pipeline.clock import Clock
from pipeline.errors import ConfigurationError
from pipeline.ocr.crowd import count_specks, made_small, refuse_crowd
from pipeline.ocr.engine import Engine, Pixels, Quad
from pipeline.ocr.images import ImageLimits, decode_image, is_long
from pipeline.ocr.order import in_reading_order
from pipeline.ocr.quads import bounds, box_of, thickness
from pipeline.ocr.tiles import Tile, find_in_tiles, tiles_of
from pipeline.ocr.turning import Way, read_turned
from pipeline.ocr.types import OcrLine, OcrResult

#: px; no text is readable on fewer, and engines blow such strips up to gigabytes.
_SHORTEST_READABLE_PX = 8
#: px; the least side an engine takes as it is.
_SHORTEST_ENGINE_PX = 32
#: px; lines are found with a margin: text of 12 px gives 18. Enlarged by 2, text of 8 to 10 px is read with a half to a
#: third of the errors; larger text with as many as before (docs/why/ocr.md).
_SMALL_LINE_PX = 18
_LARGEST_FACTOR = 2.0
_LEAST_FACTOR = 1.2
#: px; a picture no longer than this, in which nothing was found, is looked at once more, enlarged.
_SMALL_PICTURE_PX = 640
#: Share of what was found in tiles that is certainly not found twice: they overlap by a tenth.
_SEEN_ONCE = 0.8
#: Grey levels between the darkest and the brightest sample of a picture that shows nothing.
_FLAT_LEVELS = 8
#: What is read with less is no text. Icons come as single signs, half sure.
_LEAST_CONFIDENCE = 0.5
_LEAST_OF_SIGNS = 0.8
#: A single sign as many times as thick as the middle line is a photograph more often than a letter.
_MUCH_LARGER = 3.0
_LEAST_OF_GIANTS = 0.95
#: Of the picture that an engine is tried with.
_CHECK_LIMITS = ImageLimits(max_bytes=1, max_pixels=1, longest_side_px=320)


@dataclass(frozen=True, slots=True)
class Found:
    """Where the lines of a picture are.

    Args:
        pixels: the picture in which `quads` are; RGB.
        scale: of `pixels` against the picture as it came; above 1 where small text was enlarged.
        tiles: in which it was searched.
    """

    pixels: Pixels
    quads: Sequence[Quad]
    tiles: int
    scale: float = 1.0


def read_image(data: bytes, limits: ImageLimits, engine: Engine, clock: Clock) -> OcrResult:
    """Read one image; a blank one, or one too thin to hold text, has no lines.

    Raises: BadImage and its kinds; EngineCrashed.
    """
    started_ms = clock.monotonic_ms()
    image = decode_image(data, limits)
    decoded_ms = clock.monotonic_ms()
    found = find_lines(image.pixels, engine, limits)
    found_ms = clock.monotonic_ms()
    scale = image.scale * found.scale
    lines, way = read_found(found, scale, engine)
    return OcrResult(
        lines=tuple(lines),
        width_px=image.width_px,
        height_px=image.height_px,
        scale=scale,
        engine=engine.name,
        model=engine.model,
        duration_ms={
            "decode": decoded_ms - started_ms,
            "find": found_ms - decoded_ms,
            "read": clock.monotonic_ms() - found_ms,
        },
        tiles=found.tiles,
        direction=way.direction,
    )


def find_lines(pixels: Pixels, engine: Engine, limits: ImageLimits) -> Found:
    """Find the lines of a picture, in tiles where it is long, enlarged where its text is small.

    A flat or thin picture is not shown to the engine.

    Raises: ImageTooLarge when it shows more lines than are read.
    """
    height_px, width_px = pixels.shape[:2]
    if min(height_px, width_px) < _SHORTEST_READABLE_PX or _is_flat(pixels):
        return Found(pixels, [], 0)
    length_px = max(height_px, width_px)
    tiles = tiles_of(length_px) if is_long(width_px, height_px) else [Tile(0, length_px)]
    quads = find_in_tiles(pixels, tiles, _Search(engine, limits.max_lines).find)
    factor = _enlargement(quads, length_px, limits.longest_side_px)
    if factor > 1:
        size = round(width_px * factor), round(height_px * factor)
        pixels = np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_CUBIC), dtype=np.uint8)
        quads = list(_find_padded(pixels, engine))
    refuse_crowd(len(quads), limits.max_lines)
    quads = sorted(quads, key=lambda quad: (bounds(quad)[1], bounds(quad)[0]))
    return Found(pixels, quads, len(tiles), factor)


class _Search:
    """Finds the lines in the parts of one picture, and refuses a crowd as soon as that is certain."""

    def __init__(self, engine: Engine, max_lines: int) -> None:
        self._engine = engine
        self._max_lines = max_lines
        self._seen = 0

    def find(self, part: Pixels) -> Sequence[Quad]:
        small = made_small(part)
        if count_specks(small) > self._max_lines:
            refuse_crowd(len(_find_padded(small, self._engine)), self._max_lines)
        quads = _find_padded(part, self._engine)
        self._seen += len(quads)
        refuse_crowd(int(self._seen * _SEEN_ONCE), self._max_lines)
        return quads


def _enlargement(quads: Sequence[Quad], length_px: int, longest_side_px: int) -> float:
    """By how much a picture is enlarged so that its text can be read; 1 where that is not needed, or not allowed."""
    if quads:
        is_small = float(np.median([thickness(quad) for quad in quads])) < _SMALL_LINE_PX
    else:
        is_small = length_px <= _SMALL_PICTURE_PX
    factor = min(_LARGEST_FACTOR, longest_side_px / length_px)
    return factor if is_small and factor >= _LEAST_FACTOR else 1.0


def read_found(found: Found, scale: float, engine: Engine) -> tuple[list[OcrLine], Way]:
    """Read what was found; lines come in reading order, boxes in px of what `scale` makes `found.pixels` of."""
    readings, way = read_turned(found.pixels, found.quads, engine)
    usual_px = float(np.median([thickness(quad) for quad in found.quads])) if found.quads else 0.0
    lines = [
        OcrLine(reading.text, reading.confidence, box_of(way.begun(quad), scale))
        for reading, quad in zip(readings, found.quads, strict=True)
        if reading.confidence >= _required(reading.text, thickness(quad), usual_px) and reading.text.strip()
    ]
    return in_reading_order(lines, way), way


def _required(text: str, thickness_px: float, usual_px: float) -> float:
    """The confidence from which a reading counts as text."""
    if len(text.strip()) == 1 and thickness_px > _MUCH_LARGER * usual_px:
        return _LEAST_OF_GIANTS
    return _LEAST_CONFIDENCE if any(char.isalnum() for char in text) else _LEAST_OF_SIGNS


def check_engine(engine: Engine) -> None:
    """Let an engine read a small picture drawn here; this also loads what it loads on first use.

    Raises: ConfigurationError when it finds no text on it.
    """
    picture = Image.new("RGB", (320, 96), "white")
    ImageDraw.Draw(picture).text((24, 24), "fairlane 2026", fill="black", font_size=40)
    lines, _ = read_found(find_lines(np.asarray(picture), engine, _CHECK_LIMITS), 1.0, engine)
    if not lines:
        raise ConfigurationError(f"the engine {engine.name} finds no text on its test picture")


def _find_padded(pixels: Pixels, engine: Engine) -> Sequence[Quad]:
    """Find lines inside a margin of the picture's own border colour, where it is shorter than the engine takes."""
    if _is_flat(pixels):
        return []
    height_px, width_px = pixels.shape[:2]
    left_px, top_px = (max(0, _SHORTEST_ENGINE_PX - side + 1) // 2 for side in (width_px, height_px))
    if not left_px and not top_px:
        return engine.find(pixels)
    padded = np.empty((height_px + 2 * top_px, width_px + 2 * left_px, 3), dtype=np.uint8)
    padded[:] = _border_colour(pixels)
    padded[top_px : top_px + height_px, left_px : left_px + width_px] = pixels
    margin = np.array([left_px, top_px], dtype=np.float32)
    inside = [np.clip(quad - margin, 0, np.array([width_px, height_px])) for quad in engine.find(padded)]
    return [quad.astype(np.float32) for quad in inside]


def _is_flat(pixels: Pixels) -> bool:
    return int(pixels.max()) - int(pixels.min()) < _FLAT_LEVELS


def _border_colour(pixels: Pixels) -> Pixels:
    border = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
    colour: Pixels = np.median(border, axis=0).astype(np.uint8)
    return colour
