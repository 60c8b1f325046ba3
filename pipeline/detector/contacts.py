"""Find ways to reach somebody in a text: numbers, addresses, accounts."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from pipeline.detector.accounts import accounts
from pipeline.detector.addresses import addresses
from pipeline.detector.characters import Kind, characters
from pipeline.detector.contact_types import Contact
from pipeline.detector.normalize import Folded, text_of
from pipeline.detector.numbers import numbers

#: Letters and digits of the shortest id and of the shortest number, and over how many characters they are spread.
#: PERF: gates of a few microseconds; without them every text pays 290 us for 1,000 characters, with them 15.
_SHORTEST_ID = (5, 9)
_SHORTEST_NUMBER = (5, 5)
_LONGER_NUMBER = (7, 28)
#: A dot, or what stands for one, and a letter: nothing else can be the end of a host.
_DOTTED = tuple(
    bytes((dot, *space, Kind.LETTER)) for dot in (Kind.POINT, Kind.SENTENCE) for space in ((), (Kind.SPACE,))
)
#: Kinds that are no part of an id or a number.
_NO_PART = bytes({*range(256)} - {*range(Kind.LETTER, Kind.NUMERAL + 1)})
_SPOKEN_DOT = bytes((Kind.OTHER, Kind.LETTER))


def contacts(folded: Folded) -> list[Contact]:
    """Return the contacts of a text left to right; of those that cover one another the longest, of one span all."""
    if len(folded.kinds.translate(None, _NO_PART)) < _SHORTEST_ID[0]:
        return []
    kinds = np.frombuffer(folded.kinds, np.uint8)
    places = np.flatnonzero((kinds - 1) < Kind.NUMERAL)
    if not _stand_close(places, _SHORTEST_ID):
        return []
    found = list(addresses(folded.plain)) if _may_hold_address(folded) else []
    found += accounts(folded, folded.plain)
    inner = kinds[places]
    digits = places[inner == Kind.DIGIT]
    if _may_hold_number(digits):
        found += numbers(folded.plain, digits.tolist())
    spoken = places[inner >= Kind.DIGIT]
    if len(spoken) > len(digits) and _stand_close(spoken, _SHORTEST_ID):
        found += _spoken(folded, kinds == Kind.NUMERAL, spoken.tolist())
    return _uncovered(found) if found else []


def _stand_close(places: NDArray[np.intp], least: tuple[int, int]) -> bool:
    """Say whether so many of the places lie within so many characters."""
    count, spread = least
    return bool(places.size >= count and (places[count - 1 :] - places[: 1 - count] < spread).any())


def _may_hold_number(digits: NDArray[np.intp]) -> bool:
    return _stand_close(digits, _SHORTEST_NUMBER) or _stand_close(digits, _LONGER_NUMBER)


def _may_hold_address(folded: Folded) -> bool:
    kinds, plain = folded.kinds, folded.plain
    if any(dotted in kinds for dotted in _DOTTED) or "@" in plain or "//" in plain:
        return True
    return _SPOKEN_DOT in kinds and ("点" in plain or "點" in plain)


def _spoken(folded: Folded, numerals: NDArray[np.bool_], places: Sequence[int]) -> list[Contact]:
    """Contacts that have Chinese numerals; apart, as a number may stand before 一起 and is none the longer for it."""
    codes = np.frombuffer(folded.plain.encode("utf-32-le"), np.uint32)
    digits = text_of(np.where(numerals, characters().fold.take(folded.codes), codes))
    found = (*accounts(folded, digits), *numbers(digits, places))
    return [one for one in found if numerals[one.start : one.end].any()]


def _uncovered(found: Iterable[Contact]) -> list[Contact]:
    kept: list[Contact] = []
    for contact in sorted(set(found), key=lambda one: (one.start, -one.end, one.kind)):
        # A mobile number after a cue word is a WeChat id as well: both of one span are told.
        is_twin = kept and (contact.start, contact.end) == (kept[-1].start, kept[-1].end)
        if not kept or is_twin or contact.end > kept[-1].end:
            kept.append(contact)
    return kept
