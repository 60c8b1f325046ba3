"""Pictures drawn for tests, and files that only look like pictures."""

import io
import struct
import zlib
from typing import Any

from PIL import Image, ImageDraw

from pipeline.ocr.images import ImageLimits

LIMITS = ImageLimits(max_bytes=20_000_000, max_pixels=40_000_000, longest_side_px=1920)


def drawn(text: str = "fairlane 2026", size: tuple[int, int] = (480, 120), ink: str = "black") -> Image.Image:
    """A line of text on white."""
    picture = Image.new("RGB", size, "white")
    ImageDraw.Draw(picture).text((24, 32), text, fill=ink, font_size=44)
    return picture


#: What `tall_page` says.
TALL_LINES = [f"message {number:02d} of many" for number in range(40)]


def tall_page() -> Image.Image:
    """A page that is searched in tiles, with forty lines."""
    page = Image.new("RGB", (640, 3200), "white")
    for number, text in enumerate(TALL_LINES):
        ImageDraw.Draw(page).text((20 + 40 * (number % 3), 20 + 79 * number), text, fill="black", font_size=34)
    return page


def corner_marked(size: tuple[int, int] = (60, 40)) -> Image.Image:
    """Grey, with a red block at the top left: shows which way is up."""
    picture = Image.new("RGB", size, (128, 128, 128))
    picture.paste((255, 0, 0), (0, 0, 10, 10))
    return picture


def encoded(picture: Image.Image, format_name: str = "PNG", **options: Any) -> bytes:
    """The bytes of a picture in a format of Pillow."""
    buffer = io.BytesIO()
    picture.save(buffer, format_name, **options)
    return buffer.getvalue()


def png_chunk(kind: bytes, data: bytes) -> bytes:
    """One chunk of a PNG with its right checksum."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_of_size(width_px: int, height_px: int, *chunks: bytes) -> bytes:
    """A one-bit PNG whose header states a size, however little data follows."""
    header = png_chunk(b"IHDR", struct.pack(">IIBBBBB", width_px, height_px, 1, 0, 0, 0, 0))
    rows = zlib.compress(bytes(min((width_px + 7) // 8 + 1, 4000) * min(height_px, 4000)), 9)
    return b"\x89PNG\r\n\x1a\n" + header + b"".join(chunks) + png_chunk(b"IDAT", rows) + png_chunk(b"IEND", b"")
