"""A list of sensitive words, ready to search."""

import mmap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from pipeline.detector.compiled import Compiled
from pipeline.detector.index import Index
from pipeline.detector.misread import is_misreading, misread
from pipeline.detector.normalize import Folded, Stretched
from pipeline.detector.rules import Rating, RuleSet
from pipeline.detector.sections import Bytes
from pipeline.detector.verify import verified, verified_literal, verified_run
from pipeline.detector.word_table import Entry
from pipeline.errors import ListDamaged


@dataclass(frozen=True, slots=True)
class Found:
    """A word where it stands in the original text, in code points.

    Args:
        is_sure: False when characters that look like those of the word stand there: worth a review, not more.
    """

    entry: Entry
    start: int
    end: int
    is_sure: bool = True

    @property
    def rating(self) -> Rating:
        rating = self.entry.rating
        if self.is_sure or rating.action != "block":
            return rating
        return replace(rating, action="review")


class Lexicon:
    """One list, ready to search; immutable.

    Args:
        words: in any spelling that folding evens out; outer white space is ignored. Two that fold to the same are one
            word, known by the spelling of the first. Text alone is a word that blocks, of no category.
        rules: all else that the list says, and more words.
        compiled: the list, instead of words and rules.
    Raises: InvalidInput, naming each word that is blank or holds half a character, and each expression that cannot be.
    """

    def __init__(
        self, words: Iterable[str] = (), rules: RuleSet | None = None, *, compiled: Compiled | None = None
    ) -> None:
        self._compiled = compiled or Compiled.of_rules(words, rules or RuleSet())
        self._table = self._compiled.table
        self.combinations = self._compiled.combinations
        self.expressions = self._compiled.expressions
        self.contacts = self._compiled.contacts

    def __len__(self) -> int:
        return self._table.count("deny")

    @property
    def words(self) -> tuple[str, ...]:
        """The denied words, in the order of the list."""
        return tuple(self._table.words("deny"))

    def counts(self) -> dict[str, int]:
        """How much of each kind the list holds."""
        return {
            "words": len(self),
            "allowed": self._table.count("allow"),
            "combinations": len(self.combinations),
            "expressions": len(self.expressions.all),
            "contacts": len(self.contacts),
        }

    def to_bytes(self) -> bytes:
        """Return the list made ready, for `of_bytes` and for `open`."""
        return self._compiled.to_bytes()

    @classmethod
    def of_bytes(cls, data: Bytes) -> Self:
        """Return the list that was made bytes; it finds the same.

        Raises: ListDamaged, ListOutdated.
        """
        return cls(compiled=Compiled.of_bytes(data))

    @classmethod
    def open(cls, path: Path) -> Self:
        """Map a file of what `to_bytes` made, which must be replaced and never changed; processes share its memory.

        Raises: OSError, ListDamaged, ListOutdated.
        """
        with path.open("rb") as file:
            try:
                mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            except ValueError as exc:
                raise ListDamaged("is empty") from exc
        lexicon = cls.of_bytes(memoryview(mapped))
        # Hashing has read every page; what a text needs of them comes back by itself.
        mapped.madvise(mmap.MADV_DONTNEED)
        return lexicon

    def find(self, text: Folded) -> list[Found]:
        """Return every match that holds in the original text, those inside others too, in no order."""
        table = self._table
        found = [
            Found(entry, *span)
            for start, end, number in self._compiled.whole.find(text.text)
            if number & 1 and (span := verified(text, (entry := table[number >> 1]).form, start, end))
        ]
        if text.stretched:
            found += self._find_stretched(text, text.stretched)
        if self._compiled.misread:
            found += self._find_misread(text, self._compiled.misread)
        if self._compiled.literal:
            found += [
                Found(entry, *span)
                for start, end, number in self._compiled.literal.find(text.plain)
                if (span := verified_literal(text, (entry := table[number]).form, start, end))
            ]
        return found

    def _find_stretched(self, text: Folded, stretched: Stretched) -> Iterator[Found]:
        for start, end, number in self._compiled.whole.find(stretched.text):
            entry = self._table[number >> 1]
            if span := verified_run(text, entry.form, stretched.bounds[start : end + 1].tolist()):
                yield Found(entry, *span)

    def _find_misread(self, text: Folded, index: Index) -> Iterator[Found]:
        # Nothing is allowed, and no combination made, by what was perhaps read wrongly.
        for start, end, number in index.find(misread(text.text)):
            entry = self._table[number]
            if is_misreading(text.text[start:end], entry.form.text) and (
                span := verified(text, entry.form, start, end)
            ):
                yield Found(entry, *span, is_sure=False)
