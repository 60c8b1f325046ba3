"""Lists of sensitive words: those of a file, and those a request brings along."""

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Self

from pipeline.detector.automaton import Automaton
from pipeline.detector.expressions import Expressions
from pipeline.detector.forms import Form, Spelling, form_of, plain_spellings, spelling_of
from pipeline.detector.misread import Misread
from pipeline.detector.normalize import Folded, Stretched, fold, holds_no_character
from pipeline.detector.rule_files import rules_of_json
from pipeline.detector.rules import Boundary, Rating, RuleSet, Word
from pipeline.detector.verify import verified, verified_literal, verified_run
from pipeline.errors import ConfigurationError, FieldProblem, InvalidInput

_BOM = b"\xef\xbb\xbf"

#: What a word is for: a hit, what keeps hits off, or a part of combinations.
Role = Literal["deny", "allow", "part"]


class Entry:
    """A word of a list, ready to be found; two are equal only when they are the same.

    Args:
        word: without a fault, and without outer white space.
    """

    __slots__ = ("_boundary", "_form", "rating", "role", "word")

    def __init__(self, word: str, role: Role, rating: Rating, boundary: Boundary) -> None:
        self.word, self.role, self.rating, self._boundary = word, role, rating, boundary
        self._form: Form | None = None

    @property
    def form(self) -> Form:
        """How it is verified; made when the word is first met, as most of a list never are."""
        if self._form is None:
            self._form = form_of(self.word, self._boundary)
        return self._form


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
    Raises: InvalidInput, naming each word that is blank or holds half a character, and each expression that cannot be.
    """

    def __init__(self, words: Iterable[str] = (), rules: RuleSet | None = None) -> None:
        self.rules = rules or RuleSet()
        entries = _Entries()
        problems = [
            *entries.put("/words", "deny", map(Word, words)),
            *entries.put("/deny", "deny", self.rules.deny),
            *entries.put("/allow", "allow", self.rules.allow),
        ]
        for index, combination in enumerate(self.rules.combinations):
            problems += entries.put(f"/combos/{index}/all", "part", map(Word, combination.words))
        if problems:
            raise InvalidInput(problems)
        self.expressions = Expressions(self.rules.expressions)
        self._entries = entries
        self.words = tuple(entry.word for entry in entries.all if entry.role == "deny")
        self._automaton = Automaton(list(entries.by_text))
        self._by_text = list(entries.by_text.values())
        self._misread = Misread(entries.by_text) if "ocr" in self.rules.views else None
        self._literals = Automaton(list(entries.by_literal)) if entries.by_literal else None
        self._by_literal = list(entries.by_literal.values())

    def __len__(self) -> int:
        return len(self.words)

    def part(self, word: str) -> Entry:
        """Return the entry of a word of a combination of this list."""
        return self._entries.parts[word.strip()]

    def is_part(self, entry: Entry) -> bool:
        """Say whether a word is one of a combination too, hence no hit by itself."""
        return entry.word in self._entries.parts

    @classmethod
    def load(cls, path: Path | None) -> Self:
        """Read a list: UTF-8; None: no words.

        One word a line, blank lines and lines that begin with `#` left out; or, where the name ends in `.json`, rules
        (docs/howto/words.md).

        Raises: ConfigurationError naming the file, and the line where there is one.
        """
        if path is None:
            return cls()
        try:
            data = path.read_bytes()
        except OSError as exc:
            raise ConfigurationError(f"the word list {path} cannot be read: {exc.strerror}") from exc
        data = data.removeprefix(_BOM)
        try:
            return cls(rules=rules_of_json(data)) if path.suffix == ".json" else cls(_words_of(path, data))
        except InvalidInput as exc:
            raise ConfigurationError(f"the word list {path}: {exc}") from exc

    def find(self, text: Folded) -> list[Found]:
        """Return every match that holds in the original text, those inside others too, in no order."""
        found = [
            Found(entry, *span)
            for start, end, index in self._automaton.find(text.text)
            for entry, is_whole in self._by_text[index]
            if is_whole and (span := verified(text, entry.form, start, end))
        ]
        if text.stretched:
            found += self._find_stretched(text, text.stretched)
        if self._misread:
            found += self._find_misread(text, self._misread)
        if self._literals:
            found += [
                Found(entry, *span)
                for start, end, index in self._literals.find(text.plain)
                for entry, _ in self._by_literal[index]
                if (span := verified_literal(text, entry.form, start, end))
            ]
        return found

    def _find_stretched(self, text: Folded, stretched: Stretched) -> Iterator[Found]:
        for start, end, index in self._automaton.find(stretched.text):
            bounds = stretched.bounds[start : end + 1].tolist()
            for entry, _ in self._by_text[index]:
                if span := verified_run(text, entry.form, bounds):
                    yield Found(entry, *span)

    def _find_misread(self, text: Folded, misread: Misread) -> Iterator[Found]:
        for start, end, index in misread.find(text.text):
            for entry, is_whole in self._by_text[index]:
                # Nothing is allowed, and no combination made, by what was perhaps read wrongly.
                if is_whole and entry.role == "deny" and (span := verified(text, entry.form, start, end)):
                    yield Found(entry, *span, is_sure=False)


_Sharing = list[tuple[Entry, bool]]


class _Entries:
    """The entries of a list by what is searched for; with each whether that is the word, or the word without runs."""

    def __init__(self) -> None:
        self.all: list[Entry] = []
        self.parts: dict[str, Entry] = {}
        self.by_text: dict[str, _Sharing] = {}
        self.by_literal: dict[str, _Sharing] = {}
        self._known: dict[tuple[Role, str], Entry] = {}

    def put(self, at: str, role: Role, words: Iterable[Word]) -> list[FieldProblem]:
        """Take words in; return what is wrong with them."""
        rules = list(words)
        trimmed = [rule.word.strip() for rule in rules]
        problems = []
        for index, (rule, word, spelling) in enumerate(zip(rules, trimmed, plain_spellings(trimmed), strict=True)):
            if spelling is None and (fault := word_fault(word)):
                problems.append(FieldProblem(f"{at}/{index}", fault))
            else:
                self._put(Entry(word, role, rule.rating, rule.boundary), spelling or spelling_of(word))
        return problems

    def _put(self, entry: Entry, spelling: Spelling) -> None:
        known = self._known.setdefault((entry.role, spelling.text), entry)
        if entry.role == "part":
            self.parts[entry.word] = known
        if known is not entry:
            return
        self.all.append(entry)
        if spelling.is_literal:
            self.by_literal.setdefault(spelling.text, []).append((entry, True))
            return
        self.by_text.setdefault(spelling.text, []).append((entry, True))
        if spelling.collapsed != spelling.text:
            self.by_text.setdefault(spelling.collapsed, []).append((entry, False))


def word_fault(word: str) -> str | None:
    """Say why no list can hold a word, None when one can."""
    trimmed = word.strip()
    if _is_blank(trimmed):
        return "is blank: a word has at least one visible character"
    if holds_no_character(fold(trimmed)):
        return "holds half a character (a lone surrogate) or U+FFFF"
    return None


def _words_of(path: Path, data: bytes) -> Iterator[str]:
    # Split at line feeds only: str.splitlines would also cut words at U+2028 and its like.
    for number, raw in enumerate(data.split(b"\n"), start=1):
        try:
            line = raw.decode("utf-8").strip()
        except UnicodeDecodeError as exc:
            raise ConfigurationError(f"the word list {path} is not UTF-8: line {number}, byte {exc.start + 1}") from exc
        if line and not line.startswith("#"):
            yield line


def _is_blank(word: str) -> bool:
    """Say whether a word is made of white space, controls, marks and invisible format characters alone."""
    return all(unicodedata.category(char) in {"Zs", "Zl", "Zp", "Cc", "Cf", "Mn", "Me"} for char in word)
