"""The words of a list as columns of numbers and one piece of text, of which a hit reads one row."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, Self

import numpy as np

from pipeline.detector.columns import Texts, column_of, column_of_section, section_of
from pipeline.detector.forms import Form, form_of
from pipeline.detector.rules import Boundary, Rating

#: What a word is for: a hit, what keeps hits off, or a part of combinations.
Role = Literal["deny", "allow", "part"]

ROLES: tuple[Role, ...] = ("deny", "allow", "part")
#: Bits of a row's flags; the lowest two are its role.
_ROLE_BITS = 0b11
UNBOUNDED = 1 << 2
PART_TOO = 1 << 3
SPLIT = 1 << 4
MISREAD = 1 << 5

#: Entries that are kept once they were met: a list of 200,000 words that were all met would take 200 MB.
_KEPT_ENTRIES = 4_096


class Entry:
    """A word of a list, ready to be found.

    Args:
        number: its row; the same word of the same list has always the same.
        word: without a fault, and without outer white space.
        is_part_too: it is a word of a combination as well, hence no hit by itself.
    """

    __slots__ = ("form", "is_part_too", "number", "rating", "role", "word")

    def __init__(self, number: int, word: str, role: Role, rating: Rating, form: Form, *, is_part_too: bool) -> None:
        self.number, self.word, self.role, self.rating, self.form = number, word, role, rating, form
        self.is_part_too = is_part_too


class WordTable:
    """Entries by number, each made when it is first met, as most of a list never are.

    Args:
        flags: role, `UNBOUNDED`, `PART_TOO`, `SPLIT`: it is found with characters taken apart too, `MISREAD`: with
            characters that look alike. **Shape** (words,), as `ratings`.
        ratings: indices into `rated`.
        rated: the different ratings, as JSON.
    """

    __slots__ = ("_entries", "_flags", "_rated", "_ratings", "_words")

    def __init__(self, words: Texts, flags: memoryview, ratings: memoryview, rated: Texts) -> None:
        self._words, self._flags, self._ratings, self._rated = words, flags, ratings, rated
        self._entries: dict[int, Entry] = {}

    @classmethod
    def of(cls, words: Sequence[str], flags: bytes, ratings: Sequence[int], rated: Sequence[Rating]) -> Self:
        return cls(
            Texts.of(words),
            memoryview(flags),
            column_of(ratings),
            Texts.of([json.dumps(rating.row()) for rating in rated]),
        )

    def __getitem__(self, number: int) -> Entry:
        entry = self._entries.get(number)
        if entry is None:
            if len(self._entries) >= _KEPT_ENTRIES:
                self._entries.clear()
            entry = self._entries[number] = self._made(number)
        return entry

    def _made(self, number: int) -> Entry:
        flags, word = self._flags[number], self._words[number]
        boundary: Boundary = "none" if flags & UNBOUNDED else "auto"
        rating = Rating.of_row(json.loads(self._rated[self._ratings[number]]))
        form = form_of(word, boundary)
        return Entry(number, word, self.role(number), rating, form, is_part_too=bool(flags & PART_TOO))

    def has(self, flag: int) -> bool:
        """Say whether a word has a flag."""
        return bool(np.bitwise_or.reduce(np.frombuffer(self._flags, np.uint8)) & flag)

    def wants(self, number: int, flag: int) -> bool:
        """Say whether one word has a flag."""
        return bool(self._flags[number] & flag)

    def role(self, number: int) -> Role:
        return ROLES[self._flags[number] & _ROLE_BITS]

    def count(self, role: Role) -> int:
        """How many words of a role there are."""
        flags = np.frombuffer(self._flags, np.uint8)
        return int(np.count_nonzero((flags & _ROLE_BITS) == ROLES.index(role)))

    def words(self, role: Role) -> Iterator[str]:
        """Give the words of a role in the order of the list."""
        return (self._words[number] for number in range(len(self._words)) if self.role(number) == role)

    def sections(self) -> dict[str, bytes | memoryview]:
        """All there is to it, for `of_sections`."""
        return {
            **self._words.sections("words"),
            "flags": self._flags,
            "ratings": section_of(self._ratings),
            **self._rated.sections("rated"),
        }

    @classmethod
    def of_sections(cls, sections: Mapping[str, memoryview]) -> Self:
        return cls(
            Texts.of_sections("words", sections),
            sections["flags"],
            column_of_section(sections["ratings"]),
            Texts.of_sections("rated", sections),
        )
