"""Pixels of every mode come out as a person would see them."""

import io

import numpy as np
import pytest
from PIL import Image

from pipeline.ocr.images import decode_image
from pipeline.ocr.pixels import to_rgb
from tests.support.pictures import LIMITS, encoded


def decoded(picture: Image.Image, format_name: str = "PNG") -> np.ndarray:
    return decode_image(encoded(picture, format_name), LIMITS).pixels


@pytest.mark.feature("O2")
@pytest.mark.parametrize("ink", [0, 255])
@pytest.mark.parametrize("mode", ["LA", "RGBA"])
def test_transparent_picture_is_laid_on_what_shows_its_ink(mode: str, ink: int) -> None:
    picture = Image.new("RGBA", (40, 40), (ink, ink, ink, 0))
    picture.paste((ink, ink, ink, 255), (10, 10, 20, 20))

    pixels = decoded(picture.convert(mode))

    assert (pixels[15, 15] == ink).all()
    assert (pixels[0, 0] == 255 - ink).all()


@pytest.mark.feature("O2")
@pytest.mark.parametrize(("ink", "block"), [(0, 255), (255, 0)])
def test_text_on_nothing_decides_and_not_the_picture_beside_it(ink: int, block: int) -> None:
    picture = Image.new("RGBA", (200, 120), (ink, ink, ink, 0))
    picture.paste((block, block, block, 255), (0, 0, 200, 60))
    for left in range(10, 190, 6):
        picture.paste((ink, ink, ink, 255), (left, 70, left + 2, 110))

    pixels = decoded(picture)

    assert (pixels[90, 11] == ink).all()
    assert (pixels[90, 14] == 255 - ink).all()


@pytest.mark.parametrize("ink", [0, 255])
def test_faint_picture_is_laid_on_what_shows_it(ink: int) -> None:
    picture = Image.new("RGBA", (40, 40), (ink, ink, ink, 0))
    picture.paste((ink, ink, ink, 90), (10, 10, 20, 20))

    pixels = decoded(picture)

    assert (pixels[0, 0] == 255 - ink).all()
    assert abs(int(pixels[15, 15, 0]) - int(pixels[0, 0, 0])) > 60


def test_wholly_transparent_picture_is_white() -> None:
    assert (decoded(Image.new("RGBA", (40, 40), (9, 9, 9, 0))) == 255).all()


def test_palette_with_a_transparent_entry_is_laid_on_white() -> None:
    picture = Image.new("P", (40, 40), 0)
    picture.putpalette([200, 200, 200, 10, 10, 10])
    picture.paste(1, (10, 10, 20, 20))

    pixels = decode_image(encoded(picture, "PNG", transparency=0), LIMITS).pixels

    assert tuple(pixels[15, 15]) == (10, 10, 10)
    assert tuple(pixels[0, 0]) == (255, 255, 255)


def test_palette_gives_its_colours_not_its_indices() -> None:
    picture = Image.new("P", (40, 40), 1)
    picture.putpalette([0, 0, 0, 250, 120, 30])

    assert tuple(decoded(picture)[5, 5]) == (250, 120, 30)


@pytest.mark.feature("O2")
@pytest.mark.parametrize(("brightest", "middle"), [(65_535, 32_768), (4_095, 2_048), (1_023, 512), (255, 128)])
def test_deep_grey_is_scaled_by_its_depth(brightest: int, middle: int) -> None:
    samples = np.full((40, 40), brightest, dtype=np.uint16)
    samples[:10] = 0
    samples[10:20] = middle

    pixels = decoded(Image.fromarray(samples))

    assert pixels[0, 0, 0] == 0
    assert pixels[15, 0, 0] in (127, 128)
    assert pixels[30, 0, 0] == 255


def test_fractions_are_scaled_and_nonsense_is_black() -> None:
    samples = np.array([[0.0, 0.5, 1.0, np.nan, np.inf, -3.0]], dtype=np.float32)

    grey = np.asarray(to_rgb(Image.fromarray(samples)))[0, :, 0]

    assert grey.tolist() == [0, 127, 255, 0, 0, 0]


def test_blank_deep_picture_stays_blank() -> None:
    assert (decoded(Image.fromarray(np.zeros((20, 20), dtype=np.uint16))) == 0).all()


@pytest.mark.feature("O2")
def test_cmyk_comes_out_in_its_colours() -> None:
    buffer = io.BytesIO()
    Image.new("CMYK", (40, 40), (0, 255, 255, 0)).save(buffer, "JPEG", quality=95)

    red, green, blue = (int(value) for value in decode_image(buffer.getvalue(), LIMITS).pixels[5, 5])

    assert red > 200
    assert max(green, blue) < 60


def test_one_bit_comes_out_black_and_white() -> None:
    picture = Image.new("1", (40, 40), 1)
    picture.paste(0, (0, 0, 10, 10))

    pixels = decoded(picture)

    assert (pixels[2, 2] == 0).all()
    assert (pixels[30, 30] == 255).all()
