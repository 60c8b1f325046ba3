"""The real engine on long, turned and transparent pictures, and on small print."""

import pytest
from PIL import Image, ImageDraw

from pipeline.ocr.pool import OcrPool
from tests.support.pictures import TALL_LINES, drawn, encoded, tall_page


@pytest.mark.feature("O3")
def test_every_line_of_a_tall_page_is_read_once(engine_pool: OcrPool) -> None:
    result = engine_pool.read(encoded(tall_page()))

    assert [line.text for line in result.lines] == TALL_LINES
    assert (result.tiles, result.scale) == (3, 1.0)


@pytest.mark.feature("O3")
def test_wide_strip_is_one_line(engine_pool: OcrPool) -> None:
    words = " ".join(f"word{number:03d}" for number in range(60))
    strip = Image.new("RGB", (8800, 60), "white")
    ImageDraw.Draw(strip).text((12, 10), words, fill="black", font_size=32)

    result = engine_pool.read(encoded(strip))

    assert result.line_count == 1
    assert result.text.replace(" ", "") == words.replace(" ", "")
    assert result.tiles > 3


@pytest.mark.feature("O4")
@pytest.mark.parametrize(("degrees", "direction"), [(0, "right"), (90, "down"), (180, "left"), (270, "up")])
def test_page_turned_by_quarters_is_read_in_order(engine_pool: OcrPool, degrees: int, direction: str) -> None:
    page = Image.new("RGB", (640, 360), "white")
    for number, text in enumerate(TALL_LINES[:4]):
        ImageDraw.Draw(page).text((20, 20 + 79 * number), text, fill="black", font_size=34)

    result = engine_pool.read(encoded(page.rotate(-degrees, expand=True)))

    assert [line.text for line in result.lines] == TALL_LINES[:4]
    assert result.direction == direction


def test_small_print_is_enlarged(engine_pool: OcrPool) -> None:
    page = Image.new("RGB", (300, 120), "white")
    for number in range(4):
        ImageDraw.Draw(page).text((10, 10 + 24 * number), "The quick brown fox jumps", fill="black", font_size=10)

    result = engine_pool.read(encoded(page))

    assert result.text == "\n".join(["The quick brown fox jumps"] * 4)
    assert result.scale == 2.0


@pytest.mark.feature("O2")
@pytest.mark.parametrize("ink", [(255, 255, 255), (0, 0, 0)])
def test_text_on_nothing_is_read(engine_pool: OcrPool, ink: tuple[int, int, int]) -> None:
    page = Image.new("RGBA", (480, 120), (*ink, 0))
    page.putalpha(drawn().convert("L").point(lambda value: 255 - value))

    assert engine_pool.read(encoded(page)).text == "fairlane 2026"
