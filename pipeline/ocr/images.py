"""Image bytes of any kind a device may send, to upright 8-bit RGB, in bounded time and memory.

The kind is told by content, never by name. A header is checked before anything is decoded, so a small file that
unpacks to gigabytes is refused for the price of reading its first bytes.
"""

import functools
import io
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError, features

from pipeline.errors import BadImage, ImageTooLarge, UnsupportedType
from pipeline.ocr import pixels
from pipeline.settings import Settings

# We check the pixels of every header ourselves; Pillow's own limit warns at one size and raises at another.
Image.MAX_IMAGE_PIXELS = None

#: The first bytes of a file, as the specification of its format gives them.
_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "PNG"),
    (b"\xff\xd8\xff", "JPEG"),
    (b"GIF87a", "GIF"),
    (b"GIF89a", "GIF"),
    (b"II*\x00", "TIFF"),
    (b"MM\x00*", "TIFF"),
    (b"BM", "BMP"),
)
#: ISO media brands of pictures: AVIF is read when Pillow has the codec, HEIC when the extra `heif` is installed.
_AVIF_BRANDS = frozenset({b"avif", b"avis"})
_HEIC_BRANDS = frozenset({b"heic", b"heix", b"hevc", b"heim", b"heis", b"mif1", b"msf1"})

#: Formats that are read, in Pillow's words -> their media types.
MEDIA_TYPES = {
    "PNG": "image/png",
    "JPEG": "image/jpeg",
    "WEBP": "image/webp",
    "BMP": "image/bmp",
    "GIF": "image/gif",
    "TIFF": "image/tiff",
    "AVIF": "image/avif",
    "HEIF": "image/heic",
}
#: No screen and no scan is longer than this, or thinner: such a shape is a mistake or an attack. The longest real one
#: known is a chat of 15,000 pixels; strips of 200 times their height have been seen.
_SIDE_MAX_PX = 30_000
_ASPECT_MAX = 1_000
#: From here on a picture is long: two screens of a phone joined, not one.
_LONG_FROM_PX = 2048
_LONG_ASPECT = 3
#: The values that EXIF gives the orientation of a picture.
_ORIENTATIONS = range(1, 9)
#: Those values of it that turn a picture by a quarter, so that width and height change places.
_QUARTER_TURNS = (5, 6, 7, 8)
_ORIENTATION_TAG = 0x0112


@dataclass(frozen=True, slots=True)
class ImageLimits:
    """What is refused, and to what the rest is scaled down.

    Args:
        max_bytes: of the file.
        max_pixels: width times height, by the header.
        longest_side_px: longer pictures are scaled down to this before they are read; of long ones, as `is_long` tells
            them, the shorter side.
        max_lines: that one picture may show.
    """

    max_bytes: int
    max_pixels: int
    longest_side_px: int
    max_lines: int = 1000


def image_limits(settings: Settings) -> ImageLimits:
    """The limits that an operator has set."""
    return ImageLimits(
        max_bytes=settings.image_max_bytes,
        max_pixels=settings.image_max_pixels,
        longest_side_px=settings.image_longest_side_px,
        max_lines=settings.image_max_lines,
    )


@dataclass(frozen=True, slots=True)
class ImageInfo:
    """What the header says; width and height are those of the upright picture.

    Args:
        format: in Pillow's words: `PNG`, `JPEG`, …
    """

    format: str
    media_type: str
    width_px: int
    height_px: int


@dataclass(frozen=True, slots=True)
class DecodedImage:
    """A picture ready to be read.

    Args:
        pixels: upright RGB, scaled down as `ImageLimits` says. **Shape** (height, width, 3), uint8.
        width_px: of the upright original, as height_px.
        scale: of `pixels` against the original, 0..1.
    """

    pixels: NDArray[np.uint8]
    width_px: int
    height_px: int
    scale: float


def is_long(width_px: int, height_px: int) -> bool:
    """Whether a picture is a tall or wide screenshot, which is never shrunk to fit: its text would be lost."""
    longest_px = max(width_px, height_px)
    return longest_px > _LONG_FROM_PX and longest_px > _LONG_ASPECT * min(width_px, height_px)


def inspect_image(data: bytes, limits: ImageLimits) -> ImageInfo:
    """Say what a file is and how large, by its header alone; nothing is decoded.

    Raises: UnsupportedType, ImageTooLarge, or BadImage with the reason.
    """
    format_name = _sniff(data, limits)
    with _open(data, format_name) as image:
        _check_size(image, limits)
        width_px, height_px = _upright_size(image.size, _orientation(image))
    return ImageInfo(format_name, MEDIA_TYPES[format_name], width_px, height_px)


def decode_image(data: bytes, limits: ImageLimits) -> DecodedImage:
    """Decode the first frame to upright RGB, scaled down to the longest side allowed.

    Raises: UnsupportedType, ImageTooLarge, or BadImage with the reason; MemoryError when this process has none left.
    """
    with _open(data, _sniff(data, limits)) as image:
        _check_size(image, limits)
        original_size = image.size
        bounded_px = min(original_size) if is_long(*original_size) else max(original_size)
        scale = min(1.0, limits.longest_side_px / bounded_px)
        rgb, orientation = _decode(image, scale)
    width_px, height_px = _upright_size(original_size, orientation)
    scaled_size = max(1, round(width_px * scale)), max(1, round(height_px * scale))
    if rgb.size != scaled_size:
        rgb = rgb.resize(scaled_size, Image.Resampling.LANCZOS, reducing_gap=3.0)
    return DecodedImage(np.asarray(rgb, dtype=np.uint8), width_px, height_px, scale)


def _sniff(data: bytes, limits: ImageLimits) -> str:
    if not data:
        raise BadImage("the image is empty: 0 bytes")
    if len(data) > limits.max_bytes:
        raise ImageTooLarge(f"the image has {len(data)} bytes; {limits.max_bytes} are allowed")
    format_name = _format_of(data)
    if format_name is None:
        raise UnsupportedType(f"not an image of a kind that is read here: {', '.join(readable_formats())}")
    return format_name


def readable_formats() -> tuple[str, ...]:
    """The formats this installation reads."""
    return tuple(name for name in MEDIA_TYPES if _can_read(name))


def _format_of(data: bytes) -> str | None:
    for signature, format_name in _SIGNATURES:
        if data.startswith(signature):
            return format_name
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "WEBP"
    if data[4:8] != b"ftyp":
        return None
    if data[8:12] in _HEIC_BRANDS:
        if not _can_read("HEIF"):
            raise UnsupportedType("HEIC and HEIF images are not read here; send JPEG or PNG")
        return "HEIF"
    return "AVIF" if data[8:12] in _AVIF_BRANDS and _can_read("AVIF") else None


@functools.cache
def _can_read(format_name: str) -> bool:
    if format_name == "AVIF":
        return bool(features.check("avif"))
    if format_name != "HEIF":
        return True
    try:
        from pillow_heif import register_heif_opener
    except ImportError:
        return False
    register_heif_opener(thumbnails=False)
    return True


def _open(data: bytes, format_name: str) -> Image.Image:
    try:
        return Image.open(io.BytesIO(data), formats=[format_name])
    except MemoryError:
        raise
    except UnidentifiedImageError as exc:
        raise BadImage(f"the {format_name} header is damaged") from exc
    except Exception as exc:
        # Pillow's parsers raise nearly anything on hostile bytes: struct.error, SyntaxError, KeyError, OverflowError…
        raise BadImage(f"the {format_name} header is damaged: {_reason(exc)}") from exc


def _decode(image: Image.Image, scale: float) -> tuple[Image.Image, int]:
    """Return the picture turned upright and the orientation it had."""
    try:
        # A JPEG is decoded at 1/2, 1/4 or 1/8 right away where that still leaves enough pixels.
        image.draft(None, (max(1, round(image.width * scale)), max(1, round(image.height * scale))))
        image.load()
        orientation = _orientation(image)
        return pixels.turn_upright(pixels.to_rgb(image), orientation), orientation
    except MemoryError:
        raise
    except Exception as exc:
        raise BadImage(f"the image data is damaged: {_reason(exc)}") from exc


def _reason(exc: Exception) -> str:
    return (str(exc) or type(exc).__name__).splitlines()[0][:200]


def _check_size(image: Image.Image, limits: ImageLimits) -> None:
    if image.width < 1 or image.height < 1:
        raise BadImage(f"the header says {image.width}x{image.height} pixels")
    if image.width * image.height > limits.max_pixels:
        raise ImageTooLarge(
            f"the image has {image.width}x{image.height} pixels; {limits.max_pixels} in all are allowed"
        )
    longest_px, shortest_px = max(image.size), min(image.size)
    if longest_px > _SIDE_MAX_PX or longest_px > _ASPECT_MAX * shortest_px:
        raise ImageTooLarge(
            f"the image has {image.width}x{image.height} pixels; a side may have {_SIDE_MAX_PX}, "
            f"and {_ASPECT_MAX} times the other side"
        )


def _upright_size(size: tuple[int, int], orientation: int) -> tuple[int, int]:
    width_px, height_px = size
    return (height_px, width_px) if orientation in _QUARTER_TURNS else (width_px, height_px)


def _orientation(image: Image.Image) -> int:
    """The EXIF orientation of the pixels as they come, 1 (upright) when there is none, or none that makes sense."""
    if image.format == "TIFF":  # Pillow turns it while decoding, and says its upright size before
        return 1
    try:
        # NOTE: the method of PNG decodes the whole picture to look behind the pixels; that of the base class does not.
        orientation = Image.Image.getexif(image).get(_ORIENTATION_TAG, 1)
    except Exception:  # noqa: BLE001 - a broken EXIF block says nothing about the pixels beside it
        return 1
    return orientation if orientation in _ORIENTATIONS else 1
