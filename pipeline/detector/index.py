"""Patterns and what each of them stands for: numbers, such as those of entries."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Self

import numpy as np

from pipeline.detector.automaton import Automaton, Daachorse, Engine, Match
from pipeline.detector.columns import column_of, column_of_section, section_of


class Index:
    """Finds patterns in a text, each as the numbers that it stands for; immutable.

    Args:
        firsts: for each pattern where its numbers begin in `numbers`, and the end. **Shape** (patterns + 1,).
    """

    __slots__ = ("_automaton", "_firsts", "_numbers")

    def __init__(self, automaton: Automaton, firsts: memoryview, numbers: memoryview) -> None:
        self._automaton, self._firsts, self._numbers = automaton, firsts, numbers

    @classmethod
    def of(cls, texts: Iterable[str], numbers: Sequence[int], engine: type[Engine] = Daachorse) -> Self:
        """Make one.

        Args:
            texts: the same one any number of times; none empty.
            numbers: what each stands for, 0 to 2**32 - 1.
        """
        places: dict[str, int] = {}
        patterns = [places.setdefault(text, len(places)) for text in texts]
        column = np.array(patterns, dtype=np.intp)
        firsts = np.zeros(len(places) + 1, dtype=np.uint32)
        np.cumsum(np.bincount(column, minlength=len(places)), out=firsts[1:])
        sorted_numbers = np.array(numbers, dtype=np.uint32)[np.argsort(column, kind="stable")]
        return cls(Automaton.of_patterns(list(places), engine), column_of(firsts), column_of(sorted_numbers))

    @property
    def longest(self) -> int:
        """Characters of the longest pattern; 0 when there are none."""
        return self._automaton.longest

    def find(self, text: str) -> Iterable[Match]:
        """Give start, end and number of every match, those inside others too; nothing that is true when there is none.

        PERF: most texts hold nothing, and iterators that give nothing cost as much as a search of 50 characters.
        """
        matches = self._automaton.find(text)
        return self._numbered(matches) if matches else ()

    def _numbered(self, matches: Iterable[Match]) -> Iterator[Match]:
        firsts, numbers = self._firsts, self._numbers
        for start, end, pattern in matches:
            for place in range(firsts[pattern], firsts[pattern + 1]):
                yield start, end, numbers[place]

    def sections(self, name: str) -> dict[str, bytes | memoryview]:
        """All there is to it, for `of_sections`."""
        return {
            f"{name}.automaton": self._automaton.to_bytes(),
            f"{name}.firsts": section_of(self._firsts),
            f"{name}.numbers": section_of(self._numbers),
        }

    @classmethod
    def of_sections(cls, name: str, sections: Mapping[str, memoryview], engine: type[Engine] = Daachorse) -> Self:
        return cls(
            Automaton.of_bytes(sections[f"{name}.automaton"], engine),
            column_of_section(sections[f"{name}.firsts"]),
            column_of_section(sections[f"{name}.numbers"]),
        )
