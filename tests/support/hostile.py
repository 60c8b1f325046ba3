"""Files that hurt a careless reader, drawn or built here: by what an honest reader answers."""

import struct
import zlib
from collections.abc import Iterator

from PIL import Image

from tests.support.pictures import drawn, encoded, png_chunk, png_of_size

#: A TIFF of one strip, little endian; width and height are put in.
_TIFF_ENTRIES = ((258, 1), (259, 1), (262, 1), (273, 8), (277, 1), (279, 10))


def refused() -> Iterator[tuple[str, bytes, str]]:
    """Name, bytes, and the code of the error."""
    noise = Image.effect_noise((600, 400), 60).convert("RGB")
    yield "zero_bytes", b"", "bad_image"
    yield "zeros", bytes(4096), "unsupported_type"
    yield "text_renamed", b"no picture, but a letter\n" * 40, "unsupported_type"
    yield "html_renamed", b"<!DOCTYPE html><script>alert(1)</script>", "unsupported_type"
    yield (
        "svg",
        b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><text>x</text></svg>',
        "unsupported_type",
    )
    yield "pdf", b"%PDF-1.7\n1 0 obj <</Type /Catalog>> endobj\n", "unsupported_type"
    yield "eps", b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "unsupported_type"
    yield "icon", encoded(drawn().resize((64, 64)), "ICO"), "unsupported_type"
    for format_name in ("JPEG", "PNG", "WEBP", "GIF", "TIFF", "BMP"):
        data = encoded(noise, format_name)
        yield f"truncated_{format_name}", data[: len(data) // 2], "bad_image"
        yield f"header_only_{format_name}", data[:12], "bad_image"
    yield "png_of_no_size", png_of_size(0, 0), "bad_image"
    yield "png_bad_checksum", _with_byte(encoded(noise), 20_000), "bad_image"
    yield "png_bomb", png_of_size(30_000, 30_000), "image_too_large"
    yield (
        "png_text_bomb",
        png_of_size(64, 64, png_chunk(b"zTXt", b"k\0\0" + zlib.compress(bytes(10**8), 9))),
        "bad_image",
    )
    yield "gif_bomb", _gif((65_535, 65_535), (1, 1)), "image_too_large"
    yield "gif_frame_bomb", _gif((10, 10), (65_000, 65_000)), "image_too_large"
    yield "tiff_bomb", _tiff(60_000, 60_000), "image_too_large"
    yield "bmp_bomb", _bmp(50_000, 50_000), "image_too_large"
    yield "webp_bomb", _webp(16_384, 16_384), "image_too_large"
    yield "thread", encoded(Image.new("L", (1, 4000))), "image_too_large"


def empty() -> Iterator[tuple[str, bytes]]:
    """Name and bytes of pictures that are read, and say nothing."""
    noise = Image.effect_noise((800, 600), 90).convert("RGB")
    yield "one_pixel", encoded(Image.new("RGB", (1, 1)))
    yield "thin", encoded(Image.effect_noise((7, 600), 60))
    yield "narrow", encoded(Image.effect_noise((8, 600), 60))
    yield "blank_white", encoded(Image.new("RGB", (800, 600), "white"))
    yield "blank_black", encoded(Image.new("RGB", (800, 600)), "JPEG")
    yield "wholly_transparent", encoded(Image.new("RGBA", (300, 200), (9, 9, 9, 0)))
    yield "noise", encoded(noise, "JPEG")


def readable() -> Iterator[tuple[str, bytes]]:
    """Name and bytes of pictures that say `fairlane 2026` in spite of something odd about them."""
    exif = Image.Exif()
    exif[0x0112] = 77
    page = drawn()
    yield "absurd_orientation", encoded(page, "JPEG", exif=exif)
    yield "broken_exif", encoded(page, "JPEG", exif=b"Exif\0\0II*\0" + struct.pack("<IH", 8, 60_000))
    yield "broken_profile", encoded(page, "JPEG", icc_profile=b"no profile at all" * 9)
    yield "broken_profile_png", encoded(page, "PNG", icc_profile=b"\0" * 40)
    yield "large_segments", encoded(page, "JPEG", comment=b"x" * 60_000)
    yield "polyglot", encoded(page) + b"PK\x03\x04<html><script>" + bytes(5_000)
    yield "animation", encoded(page, "GIF", save_all=True, append_images=[Image.new("RGB", page.size)] * 20)
    yield "many_pages", encoded(page, "TIFF", save_all=True, append_images=[Image.new("1", (9_000, 9_000))])
    yield "progressive", encoded(page, "JPEG", progressive=True)
    yield "one_bit_fax", encoded(page.convert("1"), "TIFF", compression="group4")
    yield "white_on_nothing", encoded(_on_nothing((255, 255, 255)))
    yield "black_on_nothing", encoded(_on_nothing((0, 0, 0)))


def _on_nothing(ink: tuple[int, int, int]) -> Image.Image:
    page = Image.new("RGBA", drawn().size, (*ink, 0))
    page.paste(Image.new("RGBA", page.size, (*ink, 255)), mask=drawn().convert("L").point(lambda value: 255 - value))
    return page


def _with_byte(data: bytes, place: int) -> bytes:
    return data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :]


def _gif(screen: tuple[int, int], frame: tuple[int, int]) -> bytes:
    header = b"GIF89a" + struct.pack("<HHBBB", *screen, 0x80, 0, 0) + bytes((0, 0, 0, 255, 255, 255))
    return header + b"\x2c" + struct.pack("<HHHHB", 0, 0, *frame, 0) + b"\x02\x02\x4c\x01\x00\x3b"


def _tiff(width_px: int, height_px: int) -> bytes:
    entries = sorted([(256, width_px), (257, height_px), *_TIFF_ENTRIES])
    fields = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in entries)
    return b"II*\x00" + struct.pack("<IH", 8, len(entries)) + fields + bytes(4)


def _bmp(width_px: int, height_px: int) -> bytes:
    file_header = b"BM" + struct.pack("<IHHI", 54, 0, 0, 54)
    return file_header + struct.pack("<IiiHHIIiiII", 40, width_px, height_px, 1, 24, 0, 0, 0, 0, 0, 0)


def _webp(width_px: int, height_px: int) -> bytes:
    canvas = b"".join((side - 1).to_bytes(3, "little") for side in (width_px, height_px))
    extended = b"VP8X" + struct.pack("<II", 10, 0) + canvas
    packed = (width_px - 1) | (height_px - 1) << 14
    lossless = b"VP8L" + struct.pack("<IBI", 10, 0x2F, packed) + bytes(5)
    return b"RIFF" + struct.pack("<I", 4 + len(extended) + len(lossless)) + b"WEBP" + extended + lossless
