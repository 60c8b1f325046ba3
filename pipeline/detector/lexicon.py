"""A list of sensitive words, ready to search."""

import mmap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, Self

from pipeline.detector.candidates import Candidates
from pipeline.detector.characters import characters
from pipeline.detector.compiled import Compiled
from pipeline.detector.compiling import WAYS, Way
from pipeline.detector.homophones import latin_form, sounds_of, verified_sound
from pipeline.detector.index import Index
from pipeline.detector.misread import is_misreading, looks_of
from pipeline.detector.normalize import Folded, Stretched
from pipeline.detector.readings import readings
from pipeline.detector.renderings import Rendering
from pipeline.detector.rules import Rating, RuleSet
from pipeline.detector.sections import Bytes
from pipeline.detector.split_glyphs import glyphs, is_put_together, put_together
from pipeline.detector.verify import verified, verified_literal, verified_run
from pipeline.detector.word_table import SPLIT, Entry
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
        self._has_split = self._table.has(SPLIT)
        self._read_tables()
        self.combinations = self._compiled.combinations
        self.expressions = self._compiled.expressions
        self.contacts = self._compiled.contacts

    def _read_tables(self) -> None:
        """Read now what the first text would wait for, up to 100 ms."""
        characters()
        if "sounds" in self._indices:
            readings()
        if self._has_split:
            glyphs()

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
        found = [*self._find_texts(text, candidates)]
        if text.stretched:
            found += self._find_stretched(text, text.stretched, candidates)
        if looks := self._indices.get("looks"):
            found += self._find_misread(text, looks, candidates)
        if sounds := self._indices.get("sounds"):
            found += self._find_sounds(text, sounds, candidates)
        if self._has_split and (together := put_together(text)):
            found += self._find_split(text, together, candidates)
        if literal := self._indices.get("literal"):
            found += self._find_literal(text, literal, candidates)
        return Finds(found, candidates.is_cut)

    def _find_texts(self, text: Folded, candidates: Candidates) -> Iterator[Found]:
        for start, end, number in candidates(self._indices["texts"].find(text.text)):
            way = number % WAYS
            if way == Way.STRETCHED:
                continue
            entry = self._table[number // WAYS]
            form = entry.form if way == Way.WHOLE else latin_form(entry.form, text.text[start:end])
            if span := verified(text, form, start, end):
                yield Found(entry, *span, is_sure=way == Way.WHOLE)

    def _find_stretched(self, text: Folded, stretched: Stretched, candidates: Candidates) -> Iterator[Found]:
        for start, end, number in candidates(self._indices["texts"].find(stretched.text)):
            if number % WAYS <= Way.WHOLE:
                entry = self._table[number // WAYS]
                if span := verified_run(text, entry.form, stretched.bounds[start : end + 1].tolist()):
                    yield Found(entry, *span)

    def _find_literal(self, text: Folded, index: Index, candidates: Candidates) -> Iterator[Found]:
        for start, end, number in candidates(index.find(text.plain)):
            entry = self._table[number]
            if span := verified_literal(text, entry.form, start, end):
                yield Found(entry, *span)

    # What is perhaps read wrongly, or only sounds alike, allows nothing and makes no combination: only denied words are
    # in these indices.

    def _find_misread(self, text: Folded, index: Index, candidates: Candidates) -> Iterator[Found]:
        for start, end, number in candidates(index.find(looks_of(text))):
            entry = self._table[number]
            if is_misreading(text.text[start:end], entry.form.text) and (
                span := verified(text, entry.form, start, end)
            ):
                yield Found(entry, *span, is_sure=False)

    def _find_sounds(self, text: Folded, index: Index, candidates: Candidates) -> Iterator[Found]:
        for bounds, number in candidates(sounds_of(text).spans(index)):
            entry = self._table[number]
            if span := verified_sound(text, entry.form, bounds):
                yield Found(entry, *span, is_sure=False)

    def _find_split(self, text: Folded, together: Rendering, candidates: Candidates) -> Iterator[Found]:
        for bounds, number in candidates(together.spans(self._indices["texts"])):
            word, way = divmod(number, WAYS)
            if way == Way.WHOLE and self._table.is_split(word) and is_put_together(bounds):
                form = replace((entry := self._table[word]).form, gaps=frozenset())
                if span := verified(text, form, bounds[0], bounds[-1]):
                    yield Found(entry, *span, is_sure=False)
