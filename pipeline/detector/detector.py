"""Screen a text: which words and contacts stand where, and what to do about it."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from pipeline.detector.candidates import Candidates
from pipeline.detector.combinations import combined
from pipeline.detector.contact_types import Contact
from pipeline.detector.contacts import contacts
from pipeline.detector.findings import ContactHit, Hit, HitKind, Screening, masked, verdict_of
from pipeline.detector.lexicon import Found, Lexicon
from pipeline.detector.lines import Line, Page
from pipeline.detector.normalize import Folded
from pipeline.detector.overlaps import not_covered, reported
from pipeline.detector.rules import Action, Rating
from pipeline.detector.sources import Source, contact_ratings

#: Lists of requests kept ready: devices send the same few over and over, and building 1,000 words takes about 10 ms.
_REQUEST_LISTS_KEPT = 64

#: Hits of one text that are reported: a text made of one word over and over says nothing more by the rest of them.
HITS_MAX = 1_000

#: The hit, over all of a text, that says that it was not looked at whole: too many candidates.
_CUT = "too many candidates"
_CUT_RATING = Rating(action="review")


_REQUEST = Source(Lexicon(), "request")


class Detector:
    """Finds the words of the lists that apply, and those of a request; safe to share between threads.

    Args:
        sources: the lists; a lexicon by itself is a global one without a name. The allowed words of each keep hits of
            all of them off, and those of the request.
    """

    def __init__(self, *sources: Source | Lexicon) -> None:
        self.sources = tuple(one if isinstance(one, Source) else Source(one) for one in sources)
        self._contact_ratings = contact_ratings([source.lexicon for source in self.sources])
        self._has_expressions = any(source.lexicon.expressions.all for source in self.sources)
        self._versions = tuple(source.list_version() for source in self.sources if source.name)
        self._clean = Screening((), "pass", versions=self._versions)

    def screen(self, text: str, words: Sequence[str] = ()) -> Screening:
        """Find what a text hides; a word of one list never hides one of the other.

        Args:
            text: any string, lone surrogates included.
            words: of this request.
        Raises: InvalidInput, naming each of `words` that is blank.
        """
        return self._screen(text, words, Folded(text), None)

    def screen_lines(self, lines: Sequence[Line], words: Sequence[str] = ()) -> Screening:
        """Find what lines read from an image hide, words that go on in the next line too; spans are in their text
        with a line feed between each and the next, and every hit says where it lies in which line.

        Raises: InvalidInput, naming each of `words` that is blank.
        """
        page = Page(lines)
        return self._screen(page.text, words, Folded(page.text, page.joins), page)

    def _screen(self, text: str, words: Sequence[str], folded: Folded, page: Page | None) -> Screening:
        finds = self._finds(text, words, folded)
        told = self._contacts(folded)
        if not finds and not told:
            return self._clean
        finds.sort(key=lambda find: (find.start, find.end))
        spans = _Spans(text, folded, page)
        reach = [spans.contact(one, self._contact_ratings[one.kind]) for one in told]
        verdict = verdict_of(
            [
                *((find.word, find.rating) for find in finds),
                *(((one.kind, one.value), Rating("contact", one.level, one.action)) for one in reach),
            ]
        )
        return Screening(
            tuple(spans.hit(find) for find in finds[:HITS_MAX]),
            verdict.suggestion,
            tuple(reach[:HITS_MAX]),
            verdict.label,
            verdict.level,
            verdict.score,
            masked(text, [*finds, *reach]),
            self._versions,
        )

    def _finds(self, text: str, words: Sequence[str], folded: Folded) -> list["_Find"]:
        found = [(source, *source.lexicon.find(folded)) for source in self.sources]
        if words:
            found.append((_REQUEST, *_lexicon_of(tuple(words)).find(folded)))
        if not self._has_expressions and not any(finds or is_cut for _, finds, is_cut in found):
            return []
        allowed = [find for _, finds, _ in found for find in finds if find.entry.role == "allow"]
        told: list[_Find] = []
        for source, finds, is_cut in found:
            told += [_cut(source, text)] if is_cut else []
            told += self._words(source, finds, allowed)
            told += self._together(source, finds, allowed)
            told += self._expressions(source, text)
        return told

    def _expressions(self, source: Source, text: str) -> Iterator["_Find"]:
        candidates = Candidates(len(text))
        for expression, start, end in candidates(source.lexicon.expressions.find(text)):
            yield _Find(expression.id, source, start, end, expression.rating, "regex")
        if candidates.is_cut:
            yield _cut(source, text)

    def _words(self, source: Source, found: Sequence[Found], allowed: Sequence[Found]) -> Iterator["_Find"]:
        denied = [find for find in found if find.entry.role == "deny" and not find.entry.is_part_too]
        for find in reported(denied, allowed):
            yield _Find(find.entry.word, source, find.start, find.end, find.rating, "word")

    def _together(self, source: Source, found: Sequence[Found], allowed: Sequence[Found]) -> Iterator["_Find"]:
        parts = [find for find in found if find.entry.role == "part"]
        if not parts:
            return
        by_number: dict[int, list[Found]] = {}
        for part in not_covered(parts, allowed):
            by_number.setdefault(part.entry.number, []).append(part)
        for mates in source.lexicon.combinations:
            if mates.words <= by_number.keys():
                own = [find for number in mates.words for find in by_number[number]]
                for together in combined(mates, sorted(own, key=lambda find: (find.start, find.end))):
                    start, end = together.words[0].start, max(find.end for find in together.words)
                    one = mates.combination
                    yield _Find(one.id, source, start, end, one.rating, "combination")

    def _contacts(self, folded: Folded) -> list[Contact]:
        wanted = self._contact_ratings
        return [one for one in contacts(folded) if one.kind in wanted] if wanted else []


@lru_cache(maxsize=_REQUEST_LISTS_KEPT)
def _lexicon_of(words: tuple[str, ...]) -> Lexicon:
    return Lexicon(words)


class _Find(NamedTuple):
    """A hit before all is said of it: a text may hold a hundred thousand."""

    word: str
    source: Source
    start: int
    end: int
    rating: Rating
    kind: HitKind

    @property
    def action(self) -> Action:
        return self.rating.action


def _cut(source: Source, text: str) -> _Find:
    return _Find(_CUT, source, 0, len(text), _CUT_RATING, "cut")


class _Spans:
    """Says all there is to say about spans of one text."""

    def __init__(self, text: str, folded: Folded, page: Page | None) -> None:
        self._text, self._folded, self._page = text, folded, page

    def hit(self, find: _Find) -> Hit:
        start, end, rating = find.start, find.end, find.rating
        segments = self._page.segments(start, end) if self._page else ()
        return Hit(
            find.word,
            find.source.scope,
            start,
            end,
            *self._utf16(start, end),
            self._page.surface(segments) if self._page else self._text[start:end],
            find.kind,
            rating.category,
            rating.level,
            rating.action,
            rating.tags,
            segments,
            find.source.name,
        )

    def contact(self, one: Contact, rating: Rating) -> ContactHit:
        surface = self._text[one.start : one.end]
        at = (one.start, one.end, *self._utf16(one.start, one.end))
        return ContactHit(one.kind, one.value, *at, surface, rating.level, rating.action)

    def _utf16(self, start: int, end: int) -> tuple[int, int]:
        units = self._folded.units
        return (start, end) if units is None else (int(units[start]), int(units[end]))
