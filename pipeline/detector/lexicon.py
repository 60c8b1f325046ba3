"""Lists of sensitive words: those of a file, and those a request brings along."""

import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Self

from pipeline.detector.automaton import Automaton
from pipeline.detector.normalize import Folded, fold, holds_no_character
from pipeline.errors import ConfigurationError, FieldProblem, InvalidInput

_BOM = b"\xef\xbb\xbf"


class Lexicon:
    """One list of words, ready to search; immutable.

    Args:
        words: in any width and case; outer white space is ignored. Two that fold to the same are one word, known by
            the spelling of the first.
    Raises: InvalidInput, naming each word that is blank or holds half a character.
    """

    def __init__(self, words: Iterable[str] = ()) -> None:
        spellings: dict[str, str] = {}
        problems = []
        for index, word in enumerate(words):
            if fault := word_fault(word):
                problems.append(FieldProblem(f"/words/{index}", fault))
            else:
                trimmed = word.strip()
                spellings.setdefault(fold(trimmed).text, trimmed)
        if problems:
            raise InvalidInput(problems)
        self.words = tuple(spellings.values())
        self._automaton = Automaton(list(spellings))

    def __len__(self) -> int:
        return len(self.words)

    @classmethod
    def load(cls, path: Path | None) -> Self:
        """Read a list: UTF-8, one word a line, blank lines and lines that begin with `#` left out; None: no words.

        Raises: ConfigurationError naming the file, and the line where there is one.
        """
        if path is None:
            return cls()
        try:
            data = path.read_bytes()
        except OSError as exc:
            raise ConfigurationError(f"the word list {path} cannot be read: {exc.strerror}") from exc
        return cls(_words_of(path, data.removeprefix(_BOM)))

    def find(self, text: Folded) -> list[tuple[str, int, int]]:
        """Return (word, start, end) of each match, in code points of the original text, left to right.

        Where words of this list overlap, the one that begins first is reported, and of those the longest.
        """
        found = []
        for start, end, index in self._automaton.find(text.text):
            found.append((self.words[index], *text.original_span(start, end)))
        return found


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
    """Say whether a word is made of white space, controls and invisible format characters alone."""
    return all(unicodedata.category(char) in {"Zs", "Zl", "Zp", "Cc", "Cf"} for char in word)
