"""What the reference says is what the code declares."""

import pytest

from tools.reference import FOLDER, PAGES, error_classes


@pytest.mark.parametrize("name", PAGES)
def test_the_committed_page_is_the_generated_one(name: str) -> None:
    assert (FOLDER / name).read_text("utf-8") == PAGES[name](), "run `make reference`"


def test_error_codes_are_unique() -> None:
    codes = [kind.code for kind in error_classes()]

    assert len(codes) == len(set(codes))
