"""Checks of numbers: whether digits can be an ID card or a bank card at all."""

from datetime import date

#: GB 11643, MOD 11-2: the weight of each of the 17 digits, and the check character of each remainder.
_ID_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_ID_CHECKS = "10X98765432"
_ID_LENGTH = 18
_ID_FIRST_YEAR = 1850
_ID_LAST_YEAR = 2100

#: First digits of an issuer -> lengths of its numbers.
_ISSUERS = (
    (("62",), (16, 17, 18, 19)),
    (("4",), (13, 16, 19)),
    (("51", "52", "53", "54", "55", "22", "23", "24", "25", "26", "27"), (16,)),
    (("34", "37"), (15,)),
    (("35",), (16,)),
)


def is_id_card(number: str) -> bool:
    """Say whether 17 digits and a digit or X hold a date and end on the check character of GB 11643."""
    if len(number) != _ID_LENGTH or not _is_birthday(number[6:14]):
        return False
    total = sum(int(digit) * weight for digit, weight in zip(number, _ID_WEIGHTS, strict=False))
    return number[-1].upper() == _ID_CHECKS[total % 11]


def is_bank_card(number: str) -> bool:
    """Say whether digits are of a length that their issuer uses, and end on the check digit of Luhn."""
    issued = any(number.startswith(first) and len(number) in lengths for first, lengths in _ISSUERS)
    return issued and len(set(number)) > 1 and _passes_luhn(number)


def _is_birthday(digits: str) -> bool:
    try:
        day = date(int(digits[:4]), int(digits[4:6]), int(digits[6:]))
    except ValueError:
        return False
    return _ID_FIRST_YEAR <= day.year <= _ID_LAST_YEAR


def _passes_luhn(number: str) -> bool:
    total = 0
    for index, digit in enumerate(reversed(number)):
        value = int(digit) * (1 + index % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0
