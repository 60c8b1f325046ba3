"""Screen a text: which words stand where, and what to do about it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from pipeline.detector.lexicon import Lexicon
from pipeline.detector.normalize import Folded, fold

ListName = Literal["request", "global"]
Suggestion = Literal["block", "pass"]

#: Lists of requests kept ready: devices send the same few over and over, and building 1,000 words takes about 1 ms.
_REQUEST_LISTS_KEPT = 64


#: Hits of one text that are reported: a text made of one word over and over says nothing more by the rest of them.
HITS_MAX = 1_000


@dataclass(frozen=True, slots=True)
class Hit:
    """One sensitive word in a text.

    Args:
        word: as its list spells it.
        list: whose word it is.
        start: in code points of the original text, as end, which is exclusive.
        start_utf16: the same in UTF-16 units, which JavaScript and Java count, as end_utf16.
        surface: the characters of the original text between start and end.
    """

    word: str
    list: ListName
    start: int
    end: int
    start_utf16: int
    end_utf16: int
    surface: str


@dataclass(frozen=True, slots=True)
class Screening:
    """What a text holds; the first `HITS_MAX` hits in the order of their place."""

    hits: tuple[Hit, ...]
    suggestion: Suggestion


class Detector:
    """Finds the words of the global list and those of a request; safe to share between threads.

    Args:
        lexicon: the global list.
    """

    def __init__(self, lexicon: Lexicon) -> None:
        self._global = lexicon
        self._lexicon_of = lru_cache(maxsize=_REQUEST_LISTS_KEPT)(Lexicon)

    def screen(self, text: str, words: Sequence[str] = ()) -> Screening:
        """Find words whatever their width and case; a word of one list never hides one of the other.

        Args:
            text: any string, lone surrogates included.
            words: of this request.
        Raises: InvalidInput, naming each of `words` that is blank.
        """
        folded = fold(text)
        hits = self._hits("request", self._lexicon_of(tuple(words)), text, folded) if words else []
        hits += self._hits("global", self._global, text, folded)
        hits.sort(key=lambda hit: (hit.start, hit.end))
        return Screening(tuple(hits[:HITS_MAX]), "block" if hits else "pass")

    def _hits(self, name: ListName, lexicon: Lexicon, text: str, folded: Folded) -> list[Hit]:
        found = lexicon.find(folded)
        units = _Utf16Counter(text)
        hits = []
        for word, start, end in found[:HITS_MAX]:
            start_utf16 = units.before(start)
            hits.append(Hit(word, name, start, end, start_utf16, units.before(end), text[start:end]))
        return hits


class _Utf16Counter:
    """Counts UTF-16 units before growing places of one text, looking at each character once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._place = 0
        self._units = 0

    def before(self, place: int) -> int:
        """Return the units before `place`, which must not be less than at the call before."""
        # Two units for each character outside the basic plane; a lone surrogate is one.
        self._units += len(self._text[self._place : place].encode("utf-16-le", "surrogatepass")) // 2
        self._place = place
        return self._units
