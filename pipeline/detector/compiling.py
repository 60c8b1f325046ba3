"""Make a list ready: fold its words, number them, and note under which texts each is searched for."""

from collections.abc import Iterable, Sequence
from itertools import repeat

from pipeline.detector.forms import PlainSpellings, Spelling, collapsed, plain_spellings, spelling_of, word_fault
from pipeline.detector.rules import USUAL, Boundary, Rating, Word
from pipeline.detector.word_table import PART_TOO, ROLES, UNBOUNDED, Role, WordTable
from pipeline.errors import FieldProblem


class Column:
    """Texts, and with each a number; one may be there several times."""

    __slots__ = ("numbers", "texts")

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.numbers: list[int] = []

    def add(self, text: str, number: int) -> None:
        self.texts.append(text)
        self.numbers.append(number)


class Compilation:
    """The words of a list, each under its number; two of one role that fold to the same are one.

    Args:
        whole: the folded words, and the same with runs made one where that is another text; twice the number of the
            word, plus 1 for a whole one.
        literal: words with noise that is part of them.
        denied: the folded words that are denied.
    """

    def __init__(self) -> None:
        self.whole, self.literal, self.denied = Column(), Column(), Column()
        self._words: list[str] = []
        self._flags = bytearray()
        self._ratings: list[int] = []
        self._rated: dict[Rating, int] = {}
        self._known: dict[Role, dict[str, int]] = {role: {} for role in ROLES}

    def put_words(self, at: str, words: Iterable[str]) -> list[FieldProblem]:
        """Take words in that are text alone; return what is wrong with them."""
        trimmed = [word.strip() for word in words]
        return self._put(at, "deny", trimmed, repeat(USUAL), repeat("auto"))

    def put_rules(self, at: str, role: Role, rules: Sequence[Word]) -> list[FieldProblem]:
        """Take words in; return what is wrong with them."""
        trimmed = [rule.word.strip() for rule in rules]
        return self._put(at, role, trimmed, (rule.rating for rule in rules), (rule.boundary for rule in rules))

    def part(self, word: str) -> int:
        """Return the number of a word that was put in as a part of a combination."""
        return self._known["part"][spelling_of(word.strip()).text]

    def table(self) -> WordTable:
        for text in self._known["part"].keys() & self._known["deny"].keys():
            self._flags[self._known["deny"][text]] |= PART_TOO
        return WordTable.of(self._words, bytes(self._flags), self._ratings, list(self._rated))

    def _put(
        self, at: str, role: Role, words: list[str], ratings: Iterable[Rating], boundaries: Iterable[Boundary]
    ) -> list[FieldProblem]:
        problems = []
        plain = plain_spellings(words)
        known = self._known[role]
        for index, (word, rating, boundary) in enumerate(zip(words, ratings, boundaries, strict=False)):
            if index in plain.odd and (fault := word_fault(word)):
                problems.append(FieldProblem(f"{at}/{index}", fault))
                continue
            spelling = _spelling(word, index, plain)
            number = len(self._words)
            if known.setdefault(spelling.text, number) != number:
                continue
            self._words.append(word)
            self._flags.append(ROLES.index(role) | (UNBOUNDED if boundary == "none" else 0))
            self._ratings.append(self._rated.setdefault(rating, len(self._rated)))
            self._index(role, spelling, number)
        return problems

    def _index(self, role: Role, spelling: Spelling, number: int) -> None:
        if spelling.is_literal:
            self.literal.add(spelling.text, number)
            return
        self.whole.add(spelling.text, 2 * number + 1)
        if spelling.collapsed != spelling.text:
            self.whole.add(spelling.collapsed, 2 * number)
        if role == "deny":
            self.denied.add(spelling.text, number)


def _spelling(word: str, index: int, plain: PlainSpellings) -> Spelling:
    if index in plain.odd:
        return spelling_of(word)
    text = plain.texts[index]
    return Spelling(text, collapsed(text) if index in plain.doubled else text, is_literal=False)
