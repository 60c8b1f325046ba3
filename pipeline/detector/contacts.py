"""Find ways to reach somebody in a text: numbers, addresses, accounts."""

from collections.abc import Iterable

import numpy as np

from pipeline.detector.accounts import accounts
from pipeline.detector.addresses import addresses
from pipeline.detector.characters import Kind, characters
from pipeline.detector.contact_types import Contact
from pipeline.detector.normalize import Folded
from pipeline.detector.numbers import numbers

#: Letters and digits of the shortest contact, a QQ number or a hotline: many texts have fewer, and cost nothing.
_SHORTEST_CHARS = 5


def contacts(folded: Folded) -> list[Contact]:
    """Return the contacts of a text left to right; of those that cover one another the longest, of one span all."""
    kinds = np.frombuffer(folded.kinds, np.uint8)
    spoken = kinds == Kind.NUMERAL
    is_spoken = bool(spoken.sum() >= _SHORTEST_CHARS)
    if not is_spoken and ((kinds != Kind.OTHER) & (kinds <= Kind.DIGIT)).sum() < _SHORTEST_CHARS:
        return []
    plain = folded.plain
    found = [*addresses(plain), *accounts(folded, plain), *numbers(plain)]
    if is_spoken:
        # Apart from plain digits: a number may stand before 一起 and is none the longer for it.
        codes = np.frombuffer(plain.encode("utf-32-le"), np.uint32)
        digits = np.where(spoken, characters().fold.take(folded.codes), codes).tobytes().decode("utf-32-le")
        found += [one for one in (*accounts(folded, digits), *numbers(digits)) if spoken[one.start : one.end].any()]
    return _uncovered(found)


def _uncovered(found: Iterable[Contact]) -> list[Contact]:
    kept: list[Contact] = []
    for contact in sorted(set(found), key=lambda one: (one.start, -one.end, one.kind)):
        # A mobile number after a cue word is a WeChat id as well: both of one span are told.
        is_twin = kept and (contact.start, contact.end) == (kept[-1].start, kept[-1].end)
        if not kept or is_twin or contact.end > kept[-1].end:
            kept.append(contact)
    return kept
