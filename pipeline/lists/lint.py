"""Look for what is wrong with a list before anybody is screened by it."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from pipeline.detector.forms import plain_spellings, spelling_of
from pipeline.detector.lexicon import Found, Lexicon
from pipeline.detector.normalize import fold
from pipeline.detector.overlaps import not_covered
from pipeline.detector.rules import Word
from pipeline.errors import InvalidInput
from pipeline.lists.ordinary import ordinary_words
from pipeline.lists.reading import ListFile

Severity = Literal["error", "warning"]
Code = Literal["fault", "too_long", "conflict", "short", "duplicate", "never_found", "ordinary"]

#: Characters of a word; as of one of a request.
WORD_MAX_CHARS = 200
#: Characters that are shown of a word that is too long.
_SHOWN_CHARS = 20
#: Findings of each code that are told; all are counted.
_TOLD_MAX = 20
#: Characters of many words that are searched at once.
_PIECE_CHARS = 200_000
#: Letters or digits of a word that many innocent texts hold.
_SHORT_LATIN_MAX_CHARS = 2


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong with a list. An `error` keeps it from being published, a `warning` does unless it is overruled.

    Args:
        place: the line, or the JSON pointer, of the rule.
    """

    severity: Severity
    code: Code
    place: str
    word: str
    detail: str


@dataclass(frozen=True, slots=True)
class Report:
    """All that was found; of each code the first few are told.

    Args:
        counted: code -> how many there are.
        lexicon: the list made ready; None when it cannot be.
    """

    findings: tuple[Finding, ...]
    counted: dict[str, int]
    lexicon: Lexicon | None

    @property
    def has_errors(self) -> bool:
        return any(finding.severity == "error" for finding in self.findings)


def lint(read: ListFile) -> Report:
    """Say what is wrong with a list, errors first."""
    try:
        lexicon = Lexicon(rules=read.rules)
    except InvalidInput as exc:
        faults = [Finding("error", "fault", one.pointer, "", one.detail) for one in exc.problems]
        return _report(read, faults, None)
    return _report(
        read,
        [
            *_too_long(read),
            *_conflicts(read),
            *_short(read),
            *_never_found(read),
            *_ordinary(read, lexicon),
        ],
        lexicon,
    )


def _report(read: ListFile, findings: list[Finding], lexicon: Lexicon | None) -> Report:
    told: Counter[str] = Counter()
    kept = []
    for finding in sorted(findings, key=lambda finding: finding.severity):
        told[finding.code] += 1
        if told[finding.code] <= _TOLD_MAX:
            kept.append(replace(finding, place=read.place(finding.place)))
    return Report(tuple(kept), dict(told), lexicon)


def _too_long(read: ListFile) -> Iterator[Finding]:
    for place, rule in _words(read):
        if len(rule.word.strip()) > WORD_MAX_CHARS:
            yield Finding(
                "error", "too_long", place, rule.word[:20] + "…", f"is longer than {WORD_MAX_CHARS} characters"
            )


def _conflicts(read: ListFile) -> Iterator[Finding]:
    """Words that fold to the same: of one kind, one is enough; denied and allowed at once, it is never found."""
    first: dict[tuple[str, str], tuple[str, str]] = {}
    for name in ("allow", "deny"):
        rules = list(_words_of(read, name))
        for (place, rule), text in zip(rules, _folded([rule.word.strip() for _, rule in rules]), strict=True):
            if name == "deny" and (known := first.get(("allow", text))):
                yield Finding(
                    "error", "conflict", place, rule.word, f"is allowed by the same list ({read.place(known[0])})"
                )
            elif known := first.get((name, text)):
                detail = f"is the same word as {known[1]} ({read.place(known[0])})"
                yield Finding("warning", "duplicate", place, rule.word, detail)
            else:
                first[name, text] = place, rule.word


def _short(read: ListFile) -> Iterator[Finding]:
    rules = list(_words_of(read, "deny"))
    for (place, rule), text in zip(rules, _folded([rule.word.strip() for _, rule in rules]), strict=True):
        if len(text) == 1:
            yield Finding("warning", "short", place, rule.word, "is one character, which innocent texts hold")
        elif len(text) <= _SHORT_LATIN_MAX_CHARS and text.isascii() and text.isalnum():
            yield Finding("warning", "short", place, rule.word, "is two letters or digits, which innocent texts hold")


def _never_found(read: ListFile) -> Iterator[Finding]:
    """Denied words that are words of combinations, hence no hits by themselves."""
    parts = set(_folded([word.strip() for combination in read.rules.combinations for word in combination.words]))
    rules = list(_words_of(read, "deny")) if parts else []
    for (place, rule), text in zip(rules, _folded([rule.word.strip() for _, rule in rules]), strict=True):
        if text in parts:
            yield Finding("warning", "never_found", place, rule.word, "is no hit by itself, being in a combination")


def _ordinary(read: ListFile, lexicon: Lexicon) -> Iterator[Finding]:
    """Denied words that the list finds in ordinary words that mean something else."""
    places = {rule.word.strip(): place for place, rule in reversed(list(_words_of(read, "deny")))}
    told: set[str] = set()
    for word, is_whole, find in _found_in(ordinary_words().split("\n"), lexicon):
        if not (is_whole and find.is_sure) and find.entry.word not in told:
            told.add(find.entry.word)
            detail = f"is found in the ordinary word {word}"
            yield Finding("warning", "ordinary", places.get(find.entry.word, ""), find.entry.word, detail)


def _found_in(words: list[str], lexicon: Lexicon) -> Iterator[tuple[str, bool, Found]]:
    """Give each denied word that is found in one of `words`, with that word, and whether it is all of it."""
    for piece in _pieces(words):
        starts = np.concatenate(([0], np.cumsum([len(word) + 1 for word in piece])))
        finds = lexicon.find(fold("\n".join(piece))).found
        denied = [find for find in finds if find.entry.role == "deny" and not find.entry.is_part_too]
        for find in not_covered(denied, [find for find in finds if find.entry.role == "allow"]):
            index = int(np.searchsorted(starts, find.start, "right")) - 1
            word, start = piece[index], int(starts[index])
            if find.end <= start + len(word):
                yield word, (find.start, find.end) == (start, start + len(word)), find


def _pieces(words: list[str]) -> Iterator[list[str]]:
    piece: list[str] = []
    size = 0
    for word in words:
        piece.append(word)
        size += len(word) + 1
        if size >= _PIECE_CHARS:
            yield piece
            piece, size = [], 0
    if piece:
        yield piece


def _folded(words: list[str]) -> list[str]:
    plain = plain_spellings(words)
    return [spelling_of(word).text if index in plain.odd else plain.texts[index] for index, word in enumerate(words)]


def _words(read: ListFile) -> Iterator[tuple[str, Word]]:
    yield from _words_of(read, "deny")
    yield from _words_of(read, "allow")


def _words_of(read: ListFile, name: str) -> Iterator[tuple[str, Word]]:
    """Give each word with its JSON pointer, of which `ListFile.place` makes its line."""
    rules = read.rules.deny if name == "deny" else read.rules.allow
    return ((f"/{name}/{index}", rule) for index, rule in enumerate(rules))
