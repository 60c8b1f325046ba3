"""Crowded pictures: thousands of words are told from thousands of specks, and refused early."""

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image, ImageDraw

from pipeline.clock import SystemClock
from pipeline.errors import ImageTooLarge
from pipeline.ocr.crowd import count_specks, made_small
from pipeline.ocr.reading import read_image
from tests.support.ocr_engines import Scripted, quad
from tests.support.pictures import LIMITS, drawn, encoded, tall_page


def crowd(columns: int, rows: int) -> Image.Image:
    """A square picture with that many numbers."""
    picture = Image.new("RGB", (1920, 1920), "white")
    pen = ImageDraw.Draw(picture)
    for column in range(columns):
        for row in range(rows):
            pen.text((8 + 1900 // columns * column, 8 + 1900 // rows * row), "480", fill="black", font_size=16)
    return picture


def test_each_word_that_stands_apart_is_a_speck() -> None:
    assert count_specks(made_small(np.asarray(crowd(20, 30)))) == 600
    assert count_specks(made_small(np.asarray(drawn()))) < 13  # less than it has letters
    assert count_specks(made_small(np.asarray(tall_page()))) <= 40


@pytest.mark.feature("O7")
def test_crowd_is_refused_after_one_look_at_the_picture_made_small() -> None:
    engine = Scripted(lambda pixels: [quad(0, 0, 9, 9)] * 2000)

    with pytest.raises(ImageTooLarge, match="more than 1000 lines"):
        read_image(encoded(crowd(40, 50)), LIMITS, engine, SystemClock())

    assert engine.shapes == [(768, 768, 3)]


def test_specks_that_are_no_text_are_read_as_any_picture() -> None:
    engine = Scripted(lambda pixels: [])
    limits = replace(LIMITS, longest_side_px=1920)

    assert read_image(encoded(crowd(40, 50)), limits, engine, SystemClock()).lines == ()
    assert engine.shapes == [(768, 768, 3), (1920, 1920, 3)]


@pytest.mark.feature("O7")
def test_long_picture_is_refused_at_the_tile_that_is_too_much() -> None:
    engine = Scripted(lambda pixels: [quad(0, 20 * row, 90, 20 * row + 9) for row in range(60)])
    page = Image.new("RGB", (700, 20_000), "white")
    ImageDraw.Draw(page).rectangle((0, 0, 300, 20_000), fill="black")

    with pytest.raises(ImageTooLarge):
        read_image(encoded(page), replace(LIMITS, max_lines=100), engine, SystemClock())

    assert len(engine.shapes) == 3
