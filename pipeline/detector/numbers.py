"""Find numbers of people: mobile and service numbers, ID cards, bank cards, in digits of any form."""

import re
from collections.abc import Iterator, Sequence

from pipeline.detector.checks import is_bank_card, is_id_card
from pipeline.detector.contact_types import Contact

#: What people put between digits, up to two at a time: nothing that ends a number.
_GAP = r"[^\w,.:;!?，。、：；！？\n\r/()（）]{0,2}\.?"
_LONE = rf"(?<![0-9a-z.])(?:\+?86{_GAP})?"
_MOBILE = re.compile(rf"{_LONE}(1(?:{_GAP}[0-9]){{10}})(?![0-9])")
_SERVICE = re.compile(
    rf"(?<![0-9])([48]00{_GAP}[0-9](?:{_GAP}[0-9]){{6}}|\(?0[1-9][0-9]{{1,2}}(?:\)|[- ]|\) )[2-8][0-9]{{6,7}})(?![0-9])"
)
_HOTLINE = re.compile(
    r"(?:客服|热线|电话|致电|拨打|来电)[^0-9\n]{0,4}(95[0-9]{3}|9[56][0-9]{4}|1[02][0-9]{3}|12[0-9]{3})(?![0-9])"
)
_CARD = re.compile(rf"(?<![0-9a-z])([1-9](?:{_GAP}[0-9]){{12,18}}(?:{_GAP}x)?)(?![0-9a-z])")
_DIGITS = re.compile("[0-9]+")

#: Characters of `_GAP`, and of a cue with what may follow it.
_GAP_MAX_CHARS = 3
_CUE_MAX_CHARS = 7
#: Digits of the shortest number of each kind.
_HOTLINE_DIGITS = 5
_SERVICE_DIGITS = 10
_MOBILE_DIGITS = 11
_CARD_DIGITS = 13

#: How people write the eleven digits of a mobile number in groups.
_MOBILE_GROUPS = {
    *((11,), (3, 8), (7, 4), (5, 6), (6, 5), (3, 4, 4), (4, 4, 3), (3, 3, 5), (3, 3, 3, 2), (3, 2, 2, 2, 2)),
    (1,) * 11,
}
#: Of ID cards by their parts (area, birthday, serial number); of bank cards besides fours.
_ID_GROUPS = {(18,), (6, 8, 4), (6, 12), (6, 4, 4, 4), (6, 4, 2, 2, 4), (3, 3, 4, 4, 4), (1,) * 18}
_BANK_GROUPS = {(4, 6, 5), (6, 13), (6, 10)}


def numbers(plain: str, digits: Sequence[int]) -> Iterator[Contact]:
    """Give what numbers stand in a text whose digits are `0` to `9` and whose letters are small.

    Args:
        digits: the places of its digits.
    """
    for start, end, count in _clusters(digits):
        # One character more at either side, for a sign that belongs to the number and for what must not follow it.
        around = (max(0, start - 1), end + 2)
        for match in _HOTLINE.finditer(plain, max(0, start - _CUE_MAX_CHARS), end + 1):
            yield Contact("phone_cn", match[1], *match.span(1))
        if count >= _SERVICE_DIGITS:
            for match in _SERVICE.finditer(plain, *around):
                yield Contact("phone_cn", _only_digits(match[1]), *match.span(1))
        if count >= _MOBILE_DIGITS:
            yield from _mobiles(plain, *around)
        if count >= _CARD_DIGITS:
            for match in _CARD.finditer(plain, *around):
                yield from _card(match[1], *match.span(1))


def _clusters(digits: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Give start, end and number of digits of each cluster: digits that could make one number."""
    begin = 0
    for index in range(1, len(digits) + 1):
        if index == len(digits) or digits[index] - digits[index - 1] > _GAP_MAX_CHARS + 1:
            if index - begin >= _HOTLINE_DIGITS:
                yield digits[begin], digits[index - 1] + 1, index - begin
            begin = index


def _mobiles(plain: str, start: int, end: int) -> Iterator[Contact]:
    for match in _MOBILE.finditer(plain, start, end):
        number = _only_digits(match[1])
        if "3" <= number[1] <= "9" and _groups(match[1]) in _MOBILE_GROUPS:
            yield Contact("phone_cn", number, *match.span())


def _card(text: str, start: int, end: int) -> Iterator[Contact]:
    number = _only_digits(text) + ("X" if text.endswith("x") else "")
    groups = _groups(text)
    if groups[-1:] and text.endswith("x"):
        groups = (*groups[:-1], groups[-1] + 1)
    if is_id_card(number) and groups in _ID_GROUPS:
        yield Contact("id_card", number, start, end)
    elif is_bank_card(number) and _is_in_fours(groups):
        yield Contact("bank_card", number, start, end)


def _is_in_fours(groups: tuple[int, ...]) -> bool:
    is_plain = len(groups) == 1 or set(groups) == {1}
    return is_plain or groups in _BANK_GROUPS or all(size == 4 for size in groups[:-1])


def _groups(text: str) -> tuple[int, ...]:
    return tuple(len(run) for run in _DIGITS.findall(text))


def _only_digits(text: str) -> str:
    return "".join(_DIGITS.findall(text))
