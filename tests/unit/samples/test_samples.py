"""The samples are small, complete, and readable as what they say they are."""

from pipeline.lists.reading import load_list
from pipeline.ocr.images import inspect_image
from pipeline.samples import sample_images, sample_texts, words_file
from tests.support.pictures import LIMITS


def test_pictures_are_small_pngs() -> None:
    pictures = sample_images()

    assert len(pictures) >= 6
    for name, data in pictures:
        assert inspect_image(data, LIMITS).media_type == "image/png", name
        assert len(data) < 150_000, name


def test_texts_are_lines_with_something_on_them() -> None:
    assert all(text.strip() == text != "" for text in sample_texts())


def test_words_can_be_loaded() -> None:
    assert len(load_list(words_file()).rules.deny) > 5
