"""From image bytes to a result: decode, keep bad shapes from the engine, read, turn when upside down, order."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from pipeline.clock import Clock
from pipeline.errors import ConfigurationError
from pipeline.ocr.engine import Engine
from pipeline.ocr.images import ImageLimits, decode_image
from pipeline.ocr.order import in_reading_order
from pipeline.ocr.types import Box, OcrLine, OcrResult

#: px; no text is readable on fewer, and engines blow such strips up to gigabytes.
_SHORTEST_READABLE_PX = 8
#: px; the least side an engine takes as it is.
_SHORTEST_ENGINE_PX = 32
#: Grey levels between the darkest and the brightest sample of a picture that shows nothing.
_FLAT_LEVELS = 8
#: Upright pages score 0.95 or more, pages on their head 0.67 or less (docs/why/dependencies.md, OCR engines).
_SURE_CONFIDENCE = 0.8


def read_image(data: bytes, limits: ImageLimits, engine: Engine, clock: Clock) -> OcrResult:
    """Read one image; a blank one, or one too thin to hold text, has no lines.

    Raises: BadImage and its kinds; EngineCrashed.
    """
    started_ms = clock.monotonic_ms()
    image = decode_image(data, limits)
    decoded_ms = clock.monotonic_ms()
    lines = [_on_original(line, image.scale) for line in read_pixels(image.pixels, engine)]
    return OcrResult(
        lines=tuple(lines),
        width_px=image.width_px,
        height_px=image.height_px,
        scale=image.scale,
        engine=engine.name,
        model=engine.model,
        duration_ms={"decode": decoded_ms - started_ms, "read": clock.monotonic_ms() - decoded_ms},
    )


def read_pixels(pixels: NDArray[np.uint8], engine: Engine) -> list[OcrLine]:
    """Return the lines in reading order, boxes in px of `pixels`; a picture on its head is read all the same."""
    if min(pixels.shape[:2]) < _SHORTEST_READABLE_PX or _is_flat(pixels):
        return []
    upright = _read_padded(pixels, engine)
    if upright and sum(line.confidence for line in upright) / len(upright) >= _SURE_CONFIDENCE:
        return upright
    turned = _read_padded(pixels[::-1, ::-1], engine)
    if _evidence(turned) <= _evidence(upright):
        return upright
    height_px, width_px = pixels.shape[:2]
    return [replace(line, box=_turn_box(line.box, width_px, height_px)) for line in turned]


def check_engine(engine: Engine) -> None:
    """Let an engine read a small picture drawn here; this also loads what it loads on first use.

    Raises: ConfigurationError when it finds no text on it.
    """
    picture = Image.new("RGB", (320, 96), "white")
    ImageDraw.Draw(picture).text((24, 24), "fairlane 2026", fill="black", font_size=40)
    if not engine.read(np.asarray(picture)):
        raise ConfigurationError(f"the engine {engine.name} finds no text on its test picture")


def _read_padded(pixels: NDArray[np.uint8], engine: Engine) -> list[OcrLine]:
    """Read a picture inside a margin of its own border colour, where it is shorter than the engine takes."""
    height_px, width_px = pixels.shape[:2]
    left_px, top_px = (max(0, _SHORTEST_ENGINE_PX - side + 1) // 2 for side in (width_px, height_px))
    if left_px or top_px:
        padded = np.empty((height_px + 2 * top_px, width_px + 2 * left_px, 3), dtype=np.uint8)
        padded[:] = _border_colour(pixels)
        padded[top_px : top_px + height_px, left_px : left_px + width_px] = pixels
        pixels = padded
    lines = [line for line in engine.read(pixels) if line.text.strip()]
    inside = [replace(line, box=_shift_box(line.box, left_px, top_px, width_px, height_px)) for line in lines]
    return in_reading_order(inside)


def _is_flat(pixels: NDArray[np.uint8]) -> bool:
    return int(pixels.max()) - int(pixels.min()) < _FLAT_LEVELS


def _border_colour(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    border = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
    colour: NDArray[np.uint8] = np.median(border, axis=0).astype(np.uint8)
    return colour


def _evidence(lines: Sequence[OcrLine]) -> float:
    return sum(line.confidence * len(line.text) for line in lines)


def _shift_box(box: Box, left_px: int, top_px: int, width_px: int, height_px: int) -> Box:
    a, b, c, d = ((min(max(x - left_px, 0), width_px), min(max(y - top_px, 0), height_px)) for x, y in box)
    return a, b, c, d


def _turn_box(box: Box, width_px: int, height_px: int) -> Box:
    # The corner that was the first one before the turn by 180 degrees is the third one after it.
    a, b, c, d = ((width_px - x, height_px - y) for x, y in box)
    return c, d, a, b


def _on_original(line: OcrLine, scale: float) -> OcrLine:
    a, b, c, d = ((round(x / scale), round(y / scale)) for x, y in line.box)
    return replace(line, box=(a, b, c, d))
