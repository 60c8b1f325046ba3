"""Numbers of cards are told from other numbers by their checksums."""

import pytest

from pipeline.detector.checks import is_bank_card, is_id_card


@pytest.mark.feature("D4")
@pytest.mark.parametrize(
    ("number", "is_one"),
    [
        ("11010519491231002X", True),
        ("110105194912310021", False),
        ("11010519491331002X", False),
        ("110105990101001", False),
    ],
)
def test_id_card_has_a_date_and_a_check_character(number: str, *, is_one: bool) -> None:
    assert is_id_card(number) == is_one


@pytest.mark.feature("D4")
@pytest.mark.parametrize(
    ("number", "is_one"),
    [
        ("6222021234567890128", True),
        ("6222021234567890127", False),
        ("4111111111111111", True),
        ("5500005555555559", True),
        ("378282246310005", True),
        ("0000000000000000", False),
        ("9111111111111116", False),
        ("41111111111111", False),
    ],
)
def test_bank_card_has_an_issuer_its_length_and_luhn(number: str, *, is_one: bool) -> None:
    assert is_bank_card(number) == is_one
