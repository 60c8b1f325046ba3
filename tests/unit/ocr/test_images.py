"""Image bytes: what is read, what is refused, and how the pixels come out."""

import resource
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from pipeline.errors import BadImage, ImageTooLarge, UnsupportedType
from pipeline.ocr import images
from pipeline.ocr.images import ImageLimits, decode_image, inspect_image, readable_formats
from tests.support.pictures import LIMITS, corner_marked, drawn, encoded, png_chunk, png_of_size

RED = (255, 0, 0)


def is_red(pixel: np.ndarray) -> bool:
    return bool(np.abs(pixel.astype(int) - RED).max() < 60)


def with_orientation(orientation: int, format_name: str = "JPEG") -> bytes:
    exif = Image.Exif()
    exif[0x0112] = orientation
    options = {"quality": 95} if format_name == "JPEG" else {}
    return encoded(corner_marked(), format_name, exif=exif, **options)


@pytest.mark.parametrize("format_name", readable_formats())
def test_format_is_told_by_content(format_name: str) -> None:
    info = inspect_image(encoded(corner_marked(), format_name), LIMITS)

    assert (info.format, info.width_px, info.height_px) == (format_name, 60, 40)
    assert info.media_type == f"image/{'heic' if format_name == 'HEIF' else format_name.lower()}"


def test_every_format_is_read_with_the_extras_of_development() -> None:
    assert readable_formats() == ("PNG", "JPEG", "WEBP", "BMP", "GIF", "TIFF", "AVIF", "HEIF")


@pytest.mark.feature("O2")
@pytest.mark.parametrize("format_name", readable_formats())
def test_every_format_comes_out_as_rgb(format_name: str) -> None:
    image = decode_image(encoded(corner_marked(), format_name), LIMITS)

    assert image.pixels.shape == (40, 60, 3)
    assert image.pixels.dtype == np.uint8
    assert is_red(image.pixels[3, 3])


@pytest.mark.feature("O7")
@pytest.mark.parametrize(
    "data",
    [
        b"<html><body>no image</body></html>",
        bytes(4096),
        b"\x00\x00\x01\x00" + bytes(64),
        b"%PDF-1.7\n",
        b"GIF",
        b"\x00\x00\x00\x18ftypmp42" + bytes(40),
        b"RIFF\x00\x00\x00\x00WAVE",
    ],
)
def test_what_is_no_image_we_read_is_an_unsupported_type(data: bytes) -> None:
    with pytest.raises(UnsupportedType):
        inspect_image(data, LIMITS)


def test_heic_is_refused_by_its_name_where_the_extra_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images, "_can_read", lambda format_name: format_name != "HEIF")

    with pytest.raises(UnsupportedType, match="HEIC"):
        inspect_image(b"\x00\x00\x00\x18ftypheic" + bytes(40), LIMITS)


@pytest.mark.feature("O7")
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x89PNG\r\n\x1a\n",
        b"\xff\xd8\xff",
        b"GIF89a",
        b"BM",
        b"II*\x00\x08\x00\x00\x00",
        b"MM\x00*\xff\xff\xff\xff",
        b"RIFF\x10\x00\x00\x00WEBPVP8 ",
        png_of_size(0, 0),
        png_of_size(0, 7),
    ],
)
def test_broken_header_is_a_bad_image(data: bytes) -> None:
    with pytest.raises(BadImage) as caught:
        inspect_image(data, LIMITS)

    assert caught.type is BadImage
    assert "0x7" not in str(caught.value)


@pytest.mark.parametrize("format_name", ["PNG", "JPEG", "GIF", "TIFF", "BMP", "WEBP"])
def test_half_a_file_is_a_bad_image(format_name: str) -> None:
    noise = Image.effect_noise((200, 150), 60).convert("RGB")
    data = encoded(noise, format_name)

    with pytest.raises(BadImage):
        decode_image(data[: len(data) // 2], LIMITS)


@pytest.mark.feature("O7")
def test_too_many_bytes_are_refused_unread() -> None:
    with pytest.raises(ImageTooLarge, match="bytes"):
        inspect_image(b"\x89PNG\r\n\x1a\n" + bytes(100), ImageLimits(99, 1000, 64))


@pytest.mark.feature("O7")
@pytest.mark.parametrize("act", [inspect_image, decode_image])
def test_pixel_bomb_is_refused_by_its_header(act: object) -> None:
    bomb = png_of_size(30_000, 30_000)
    before_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    with pytest.raises(ImageTooLarge, match="30000x30000"):
        act(bomb, LIMITS)  # type: ignore[operator]

    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kb < 50_000


@pytest.mark.feature("O7")
@pytest.mark.parametrize("kind", [b"zTXt", b"iCCP"])
def test_bomb_in_a_side_chunk_costs_no_memory(kind: bytes) -> None:
    bomb = png_chunk(kind, b"name\x00\x00" + zlib.compress(bytes(200_000_000), 9))
    before_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    with pytest.raises(BadImage):
        inspect_image(png_of_size(64, 64, bomb), LIMITS)

    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kb < 50_000


def test_large_picture_within_the_limits_is_no_surprise() -> None:
    info = inspect_image(png_of_size(20_000, 10_000), ImageLimits(10**6, 10**9, 1920))

    assert (info.width_px, info.height_px) == (20_000, 10_000)


@pytest.mark.feature("O2")
@pytest.mark.parametrize("format_name", ["JPEG", "PNG", "WEBP", "TIFF"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_exif_orientation_is_undone(orientation: int, format_name: str) -> None:
    turned_size = (40, 60) if orientation >= 5 else (60, 40)
    corners = {1: (3, 3), 2: (3, -4), 3: (-4, -4), 4: (-4, 3), 5: (3, 3), 6: (3, -4), 7: (-4, -4), 8: (-4, 3)}

    data = with_orientation(orientation, format_name)
    image = decode_image(data, LIMITS)
    info = inspect_image(data, LIMITS)

    assert (image.width_px, image.height_px) == (info.width_px, info.height_px) == turned_size
    assert image.pixels.shape[:2] == turned_size[::-1]
    assert is_red(image.pixels[corners[orientation]])


@pytest.mark.parametrize("orientation", [0, 9, 65535])
def test_absurd_orientation_means_upright(orientation: int) -> None:
    image = decode_image(with_orientation(orientation), LIMITS)

    assert image.pixels.shape == (40, 60, 3)
    assert is_red(image.pixels[3, 3])


@pytest.mark.filterwarnings("ignore:Corrupt EXIF")
def test_broken_exif_block_means_upright() -> None:
    data = encoded(corner_marked(), "JPEG", exif=b"Exif\x00\x00II*\x00" + struct.pack("<IH", 8, 60_000))

    assert is_red(decode_image(data, LIMITS).pixels[3, 3])


@pytest.mark.parametrize("format_name", ["PNG", "JPEG"])
def test_long_picture_is_scaled_down_and_remembers_its_size(format_name: str) -> None:
    image = decode_image(encoded(drawn(size=(4000, 2000)), format_name), LIMITS)

    assert image.pixels.shape == (960, 1920, 3)
    assert (image.width_px, image.height_px) == (4000, 2000)
    assert image.scale == pytest.approx(0.48)


@pytest.mark.feature("O3")
@pytest.mark.parametrize(
    ("size", "shape"),
    [((1080, 7200), (7200, 1080, 3)), ((12_000, 60), (60, 12_000, 3)), ((3000, 9100), (5824, 1920, 3))],
)
def test_long_picture_keeps_its_scale_up_to_a_wide_screen(size: tuple[int, int], shape: tuple[int, ...]) -> None:
    image = decode_image(encoded(Image.new("L", size)), LIMITS)

    assert image.pixels.shape == shape


def test_small_picture_keeps_its_size() -> None:
    image = decode_image(encoded(corner_marked()), LIMITS)

    assert image.scale == 1.0


@pytest.mark.parametrize("size", [(1, 900), (900, 1), (12_000, 13), (1, 1)])
def test_thread_of_pixels_is_decoded(size: tuple[int, int]) -> None:
    image = decode_image(encoded(Image.new("L", size)), LIMITS)

    assert image.pixels.shape[1::-1] == size
    assert (image.width_px, image.height_px) == size


@pytest.mark.parametrize("size", [(1, 4000), (12_000, 3), (1, 60_000), (30_001, 100)])
def test_a_shape_that_no_screen_has_is_refused_from_its_header(size: tuple[int, int]) -> None:
    with pytest.raises(ImageTooLarge):
        inspect_image(encoded(Image.new("L", size)), LIMITS)


def test_first_frame_of_an_animation_is_taken() -> None:
    data = encoded(corner_marked(), "GIF", save_all=True, append_images=[Image.new("RGB", (60, 40), "blue")])

    assert is_red(decode_image(data, LIMITS).pixels[3, 3])


def test_first_page_of_a_tiff_is_taken() -> None:
    data = encoded(corner_marked(), "TIFF", save_all=True, append_images=[Image.new("RGB", (90, 90), "blue")])

    assert decode_image(data, LIMITS).pixels.shape == (40, 60, 3)
