"""Make a list ready: fold its words, number them, and note under which texts each is searched for."""

from collections.abc import Collection, Iterable, Sequence
from itertools import repeat

from pipeline.detector.forms import PlainSpellings, Spelling, collapsed, plain_spellings, spelling_of, word_fault
from pipeline.detector.homophones import latin_spellings, sounds_of_word, syllables_of
from pipeline.detector.misread import looks_of_words
from pipeline.detector.rules import Rating, View, Word
from pipeline.detector.split_glyphs import falls_apart
from pipeline.detector.word_table import MISREAD, PART_TOO, ROLES, SPLIT, UNBOUNDED, Role, WordTable
from pipeline.errors import FieldProblem

_TEXT_ALONE = Word("")


class Column:
    """Texts, and with each a number; one may be there several times."""

    __slots__ = ("numbers", "texts")

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.numbers: list[int] = []

    def add(self, text: str, number: int) -> None:
        self.texts.append(text)
        self.numbers.append(number)


class Way:
    """How a text of the index stands for a word: the lowest bits of its number there; no Enum, as `Kind`."""

    STRETCHED = 0  # the word with its runs made one
    WHOLE = 1
    PINYIN = 2  # in Latin letters


#: Ways, and so what a word's number is multiplied by.
WAYS = 3

#: Ideographs that a word needs to be found in a view because its list says so, and because the word itself does.
_LEAST_OF_LIST = {"pinyin": 3, "split": 2}
_LEAST_OF_WORD = {"pinyin": 2, "split": 1}
_LACKS: dict[View, str] = {
    "ocr": "`ocr` is for words without signs of their own",
    "pinyin": "`pinyin` is for words of two ideographs or more, and of nothing besides but letters and digits",
    "split": "`split` is for words with an ideograph that falls apart into others",
}


class Compilation:
    """The words of a list, each under its number; two of one role that fold to the same are one.

    Args:
        views: in which all denied words are to be found that are long enough.

    `texts` are what is searched for, by `WAYS` times the number plus a `Way`; `literal` are words with noise that is
    part of them, `sounds` how words sound, each by number; `longest_split` are the characters of the longest word that
    is found taken apart.
    """

    def __init__(self, views: Collection[View] = ()) -> None:
        self.texts, self.literal, self.sounds = Column(), Column(), Column()
        self.longest_split = 0
        self._views = frozenset(views)
        self._words: list[str] = []
        self._flags = bytearray()
        self._ratings: list[int] = []
        self._rated: dict[Rating, int] = {}
        self._known: dict[Role, dict[str, int]] = {role: {} for role in ROLES}

    def put_words(self, at: str, words: Iterable[str]) -> list[FieldProblem]:
        """Take words in that are text alone; return what is wrong with them."""
        trimmed = [word.strip() for word in words]
        return self._put(at, "deny", trimmed, repeat(_TEXT_ALONE, len(trimmed)))

    def put_rules(self, at: str, role: Role, rules: Sequence[Word]) -> list[FieldProblem]:
        """Take words in; return what is wrong with them."""
        return self._put(at, role, [rule.word.strip() for rule in rules], rules)

    def part(self, word: str) -> int:
        """Return the number of a word that was put in as a part of a combination."""
        return self._known["part"][spelling_of(word.strip()).text]

    def blur(self) -> None:
        """Make `texts` what they look like, when a word is to be found in what looks like it: one search finds both."""
        if any(flags & MISREAD for flags in self._flags):
            self.texts.texts = looks_of_words(self.texts.texts)

    def table(self) -> WordTable:
        """The words, each with what is said of it."""
        for text in self._known["part"].keys() & self._known["deny"].keys():
            self._flags[self._known["deny"][text]] |= PART_TOO
        return WordTable.of(self._words, bytes(self._flags), self._ratings, list(self._rated))

    def _put(self, at: str, role: Role, words: list[str], rules: Iterable[Word]) -> list[FieldProblem]:
        problems = []
        plain = plain_spellings(words)
        known = self._known[role]
        for index, (word, rule) in enumerate(zip(words, rules, strict=True)):
            if index in plain.odd and (fault := word_fault(word)):
                problems.append(FieldProblem(f"{at}/{index}", fault))
                continue
            spelling = _spelling(word, index, plain)
            number = len(self._words)
            if known.setdefault(spelling.text, number) != number:
                continue
            self._words.append(word)
            self._flags.append(ROLES.index(role) | (UNBOUNDED if rule.boundary == "none" else 0))
            self._ratings.append(self._rated.setdefault(rule.rating, len(self._rated)))
            self._index(spelling, number)
            if role == "deny" and (rule.views or self._views):
                problems += self._index_views(f"{at}/{index}", spelling, number, rule.views)
        return problems

    def _index(self, spelling: Spelling, number: int) -> None:
        if spelling.is_literal:
            self.literal.add(spelling.text, number)
            return
        self.texts.add(spelling.text, WAYS * number + Way.WHOLE)
        if spelling.collapsed != spelling.text:
            self.texts.add(spelling.collapsed, WAYS * number + Way.STRETCHED)

    def _index_views(self, at: str, spelling: Spelling, number: int, own: frozenset[View]) -> list[FieldProblem]:
        text, lacking = spelling.text, []
        for view in sorted(own | self._views):
            least = _LEAST_OF_WORD if view in own else _LEAST_OF_LIST
            if spelling.is_literal:
                lacking += [view] if view in own else []
            elif view == "ocr":
                self._flags[number] |= MISREAD
            elif view == "pinyin" and syllables_of(text, self._words[number]) >= least[view]:
                for sound in sounds_of_word(text):
                    self.sounds.add(sound, number)
                for latin in latin_spellings(text):
                    self.texts.add(latin, WAYS * number + Way.PINYIN)
            elif view == "split" and len(text) >= least[view] and falls_apart(text):
                self._flags[number] |= SPLIT
                self.longest_split = max(self.longest_split, len(text))
            elif view in own:
                lacking.append(view)
        return [FieldProblem(f"{at}/views", _LACKS[view]) for view in lacking]


def _spelling(word: str, index: int, plain: PlainSpellings) -> Spelling:
    if index in plain.odd:
        return spelling_of(word)
    text = plain.texts[index]
    return Spelling(text, collapsed(text) if index in plain.doubled else text, is_literal=False)
