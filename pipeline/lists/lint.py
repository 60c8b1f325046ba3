"""Look for what is wrong with a list before anybody is screened by it."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, Self

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
    denied, allowed = _Folded.of("deny", read.rules.deny), _Folded.of("allow", read.rules.allow)
    findings = [
        *_too_long(denied),
        *_too_long(allowed),
        *_conflicts(read, denied, allowed),
        *_short(denied),
        *_never_found(read, denied),
        *_ordinary(denied, lexicon),
    ]
    return _report(read, findings, lexicon)


def _report(read: ListFile, findings: list[Finding], lexicon: Lexicon | None) -> Report:
    told: Counter[str] = Counter()
    kept = []
    for finding in sorted(findings, key=lambda finding: finding.severity):
        told[finding.code] += 1
        if told[finding.code] <= _TOLD_MAX:
            kept.append(replace(finding, place=read.place(finding.place)))
    return Report(tuple(kept), dict(told), lexicon)


class _Folded(NamedTuple):
    """The words of one kind.

    Args:
        texts: as folding leaves them. PERF: folded once for all that is looked for.
    """

    name: Literal["deny", "allow"]
    rules: Sequence[Word]
    texts: Sequence[str]

    @classmethod
    def of(cls, name: Literal["deny", "allow"], rules: Sequence[Word]) -> Self:
        return cls(name, rules, _folded([rule.word.strip() for rule in rules]))

    def finding(self, index: int, severity: Severity, code: Code, detail: str) -> Finding:
        """Say what is wrong with a word; by its JSON pointer, of which `ListFile.place` makes its line."""
        return Finding(severity, code, f"/{self.name}/{index}", self.rules[index].word, detail)


def _too_long(words: _Folded) -> Iterator[Finding]:
    for index, rule in enumerate(words.rules):
        if len(rule.word) > WORD_MAX_CHARS and len(rule.word.strip()) > WORD_MAX_CHARS:
            finding = words.finding(index, "error", "too_long", f"is longer than {WORD_MAX_CHARS} characters")
            yield replace(finding, word=rule.word[:_SHOWN_CHARS] + "…")


def _conflicts(read: ListFile, denied: _Folded, allowed: _Folded) -> Iterator[Finding]:
    """Words that fold to the same: of one kind, one is enough; denied and allowed at once, it is never found."""
    first_allowed = _first_of_each(allowed)
    for index, text in enumerate(denied.texts if first_allowed else ()):
        if (known := first_allowed.get(text)) is not None:
            detail = f"is allowed by the same list ({read.place(f'/allow/{known}')})"
            yield denied.finding(index, "error", "conflict", detail)
    for words in (allowed, denied):
        first = _first_of_each(words)
        if len(first) == len(words.texts):
            continue
        for index, text in enumerate(words.texts):
            known = first[text]
            if known != index and not (words is denied and text in first_allowed):
                detail = f"is the same word as {words.rules[known].word} ({read.place(f'/{words.name}/{known}')})"
                yield words.finding(index, "warning", "duplicate", detail)


def _first_of_each(words: _Folded) -> dict[str, int]:
    """Return for each text the index of the first word that folds to it."""
    # Written from the end, so that the first is what stays.
    return dict(zip(reversed(words.texts), range(len(words.texts) - 1, -1, -1), strict=True))


def _short(denied: _Folded) -> Iterator[Finding]:
    for index, text in enumerate(denied.texts):
        if len(text) > _SHORT_LATIN_MAX_CHARS:
            continue
        if len(text) == 1:
            yield denied.finding(index, "warning", "short", "is one character, which innocent texts hold")
        elif text.isascii() and text.isalnum():
            yield denied.finding(index, "warning", "short", "is two letters or digits, which innocent texts hold")


def _never_found(read: ListFile, denied: _Folded) -> Iterator[Finding]:
    """Denied words that are words of combinations, hence no hits by themselves."""
    parts = set(_folded([word.strip() for combination in read.rules.combinations for word in combination.words]))
    for index, text in enumerate(denied.texts if parts else ()):
        if text in parts:
            yield denied.finding(index, "warning", "never_found", "is no hit by itself, being in a combination")


def _ordinary(denied: _Folded, lexicon: Lexicon) -> Iterator[Finding]:
    """Denied words that the list finds in ordinary words that mean something else."""
    found_in: dict[str, str] = {}
    for word, is_whole, find in _found_in(ordinary_words().split("\n"), lexicon):
        if not (is_whole and find.is_sure):
            found_in.setdefault(find.entry.word, word)
    for index, rule in enumerate(denied.rules if found_in else ()):
        if ordinary := found_in.pop(rule.word.strip(), None):
            yield denied.finding(index, "warning", "ordinary", f"is found in the ordinary word {ordinary}")


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
