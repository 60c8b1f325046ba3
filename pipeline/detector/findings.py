"""What screening a text gives: hits, contacts, and the verdict on the whole."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from pipeline.detector.rules import ACTIONS, LEVEL_MAX, Action, ContactKind, Rating

ListScope = Literal["request", "device", "site", "global"]
HitKind = Literal["word", "combination", "regex", "cut"]
Suggestion = Literal["block", "review", "pass"]
Point = tuple[float, float]
Box = tuple[Point, Point, Point, Point]

_MASK = "*"
_VISIBLE = re.compile(r"[^\n]")
#: What a find of each level leaves of the trust in a text; docs/howto/words.md.
_TRUST_LEFT = {1: 0.8, 2: 0.6, 3: 0.3, 4: 0.05}


@dataclass(frozen=True, slots=True)
class Segment:
    """The part of a hit that lies in one line that was read from an image.

    Args:
        line: its index.
        start: in code points of that line's text, as end, which is exclusive.
        box: corners in px of the upright original image, about where the part stands; None when the line has no box.
    """

    line: int
    start: int
    end: int
    box: Box | None


@dataclass(frozen=True, slots=True)
class Hit:
    """One sensitive word in a text.

    Args:
        word: as its list spells it; of a combination or an expression its id. A hit of kind `cut` is over all of a text
            that has too many candidates to look at them all.
        list: whose word it is.
        list_name: of the list that has it; empty for a word of the request.
        start: in code points of the original text, as end, which is exclusive.
        start_utf16: the same in UTF-16 units, which JavaScript and Java count, as end_utf16.
        surface: the characters of the original text between start and end, without breaks of lines that it goes over.
        segments: its parts line by line, for text read from an image.
    """

    word: str
    list: ListScope
    start: int
    end: int
    start_utf16: int
    end_utf16: int
    surface: str
    kind: HitKind = "word"
    category: str = ""
    level: int = 3
    action: Action = "block"
    tags: tuple[str, ...] = ()
    segments: tuple[Segment, ...] = ()
    list_name: str = ""


@dataclass(frozen=True, slots=True)
class ContactHit:
    """A way to reach somebody; spans as in `Hit`, `value` in plain digits and small letters."""

    kind: ContactKind
    value: str
    start: int
    end: int
    start_utf16: int
    end_utf16: int
    surface: str
    level: int
    action: Action


@dataclass(frozen=True, slots=True)
class ListVersion:
    """A list that a text was screened by; `version` is 0 for a list that has none, being a file of the host."""

    scope: ListScope
    name: str
    version: int


@dataclass(frozen=True, slots=True)
class Screening:
    """What a text holds; the first `HITS_MAX` hits in the order of their place.

    Args:
        label: category of the gravest find; "" when it has none, or nothing was found.
        level: of the gravest find, 1 to 4; 0 when nothing was found.
        score: 0, nothing, to 1; it grows with the number and the levels of finds, the same word counting once.
        masked: the text with each code point of what is blocked, reviewed or masked made `*`; None when that is none.
        versions: the lists it went by.
    """

    hits: tuple[Hit, ...]
    suggestion: Suggestion
    contacts: tuple[ContactHit, ...] = ()
    label: str = ""
    level: int = 0
    score: float = 0.0
    masked: str | None = None
    versions: tuple[ListVersion, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """What all finds of a text say together."""

    suggestion: Suggestion
    label: str
    level: int
    score: float


def verdict_of(ratings: Iterable[tuple[object, Rating]]) -> Verdict:
    """Sum up finds.

    Args:
        ratings: of each find what it is, so that the same twice counts once, and its rating.
    """
    different = dict(ratings)
    if not different:
        return Verdict("pass", "", 0, 0.0)
    gravest = max(different.values(), key=lambda rating: (ACTIONS.index(rating.action), rating.level))
    trust = 1.0
    for rating in different.values():
        trust *= _TRUST_LEFT[min(rating.level, LEVEL_MAX)]
    suggestion: Suggestion = gravest.action if gravest.action in ("block", "review") else "pass"
    return Verdict(suggestion, gravest.category, gravest.level, round(1 - trust, 3))


class Hidden(Protocol):
    """What may have to be hidden."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def action(self) -> Action: ...


def masked(text: str, finds: Sequence[Hidden]) -> str | None:
    """Return the text with what must not be shown made `*`, None when there is nothing of that."""
    hidden = [(find.start, find.end) for find in finds if find.action != "tag"]
    if not hidden:
        return None
    pieces: list[str] = []
    done = 0
    for start, end in sorted(hidden):
        if end > done:
            # Breaks of lines stay, so that lines of the masked text are the lines of the text.
            pieces += text[done : max(start, done)], _VISIBLE.sub(_MASK, text[max(start, done) : end])
            done = end
    return "".join((*pieces, text[done:]))
