"""A list of sensitive words, ready to search."""

import mmap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from pipeline.detector.automaton import Match
from pipeline.detector.candidates import Candidates
from pipeline.detector.characters import characters
from pipeline.detector.compiled import Compiled
from pipeline.detector.compiling import WAYS, Way
from pipeline.detector.forms import collapsed
from pipeline.detector.heard import heard
from pipeline.detector.homophones import latin_form, verified_sound
from pipeline.detector.misread import is_misreading, looks_of, looks_of_words, shifts
from pipeline.detector.normalize import Folded, Stretched
from pipeline.detector.readings import readings
from pipeline.detector.renderings import Rendering
from pipeline.detector.rules import Rating, RuleSet
from pipeline.detector.sections import Bytes
from pipeline.detector.split_glyphs import glyphs, is_put_together, put_together
from pipeline.detector.verify import verified, verified_literal, verified_run
from pipeline.detector.word_table import MISREAD, SPLIT, Entry
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


class Finds(NamedTuple):
    """What a search gave.

    Args:
        found: every match that holds in the original text, those inside others too, in no order.
        is_cut: there were more candidates than a text may have, and the rest were not looked at.
    """

    found: list[Found]
    is_cut: bool


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
        self._indices = self._compiled.indices
        self._texts = self._indices["texts"]
        self._is_blurred = self._table.has(MISREAD)
        self._openings = self._compiled.openings
        self._longest_split = self._compiled.longest_split
        self._read_tables()
        self.combinations = self._compiled.combinations
        self.expressions = self._compiled.expressions
        self.contacts = self._compiled.contacts

    def _read_tables(self) -> None:
        """Read now what the first text would wait for, up to 100 ms."""
        characters()
        if self._openings:
            readings()
        if self._longest_split:
            glyphs()
        if self._is_blurred:
            shifts()

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

    def find(self, text: Folded) -> Finds:
        """Search a text by all that the list wants."""
        candidates = Candidates(len(text.codes))
        found: list[Found] = []
        if matches := self._texts.find(self._searched(text.text, text.kept)):
            found += self._held(text, candidates(matches))
        if text.stretched and (matches := self._texts.find(self._searched(text.stretched.text, text.stretched.kept))):
            found += self._held_stretched(text, text.stretched, candidates(matches))
        if self._openings and (sounds := heard(text, self._openings, self._indices["sounds"].longest)):
            found += self._held_sounds(text, candidates(sounds.spans(self._indices["sounds"])))
        if self._longest_split and (together := put_together(text, self._longest_split)):
            found += self._held_split(text, together, candidates)
        if (literal := self._indices.get("literal")) and (matches := literal.find(text.plain)):
            found += self._held_literal(text, candidates(matches))
        return Finds(found, candidates.is_cut)

    def _searched(self, text: str, codes: NDArray[np.uint32]) -> str:
        return looks_of(codes) if self._is_blurred else text

    def _held(self, text: Folded, matches: Iterable[Match]) -> Iterator[Found]:
        for start, end, number in matches:
            word, way = divmod(number, WAYS)
            if way == Way.STRETCHED:
                continue
            entry, there = self._table[word], text.text[start:end]
            form = entry.form if way == Way.WHOLE else latin_form(entry.form, there)
            if form is None:
                continue
            is_misread = there != form.text
            if is_misread and not (self._table.wants(word, MISREAD) and is_misreading(there, form.text)):
                continue
            if span := verified(text, form, start, end):
                yield Found(entry, *span, is_sure=way == Way.WHOLE and not is_misread)

    def _held_stretched(self, text: Folded, stretched: Stretched, matches: Iterable[Match]) -> Iterator[Found]:
        for start, end, number in matches:
            word, way = divmod(number, WAYS)
            if way > Way.WHOLE:
                continue
            entry = self._table[word]
            if self._is_blurred and stretched.text[start:end] != collapsed(entry.form.text):
                continue
            if span := verified_run(text, entry.form, stretched.bounds[start : end + 1].tolist()):
                yield Found(entry, *span)

    def _held_literal(self, text: Folded, matches: Iterable[Match]) -> Iterator[Found]:
        for start, end, number in matches:
            entry = self._table[number]
            if span := verified_literal(text, entry.form, start, end):
                yield Found(entry, *span)

    # What is perhaps read wrongly, or only sounds alike, allows nothing and makes no combination: only denied words
    # are searched for so.

    def _held_sounds(self, text: Folded, matches: Iterable[tuple[Sequence[int], int]]) -> Iterator[Found]:
        for bounds, number in matches:
            entry = self._table[number]
            if span := verified_sound(text, entry.form, bounds):
                yield Found(entry, *span, is_sure=False)

    def _held_split(self, text: Folded, together: Rendering, candidates: Candidates) -> Iterator[Found]:
        searched = looks_of_words([together.text])[0] if self._is_blurred else together.text
        for start, end, number in candidates(self._texts.find(searched)):
            word, way = divmod(number, WAYS)
            if way != Way.WHOLE or not self._table.wants(word, SPLIT):
                continue
            entry, bounds = self._table[word], together.bounds_of(start, end)
            if not is_put_together(bounds) or together.text[start:end] != entry.form.text:
                continue
            if span := verified(text, replace(entry.form, gaps=frozenset()), bounds[0], bounds[-1]):
                yield Found(entry, *span, is_sure=False)
