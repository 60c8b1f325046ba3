"""Verify in the original text what was found in a view of it: gaps, edges, runs, letters that only look right.

A view without noise finds `f.u.c.k`, and also the end of one sentence glued to the beginning of the next; which of the
two a candidate is can only be told from what lies between its characters.
"""

from collections.abc import Sequence
from itertools import pairwise

from pipeline.detector.characters import Kind
from pipeline.detector.forms import Form
from pipeline.detector.normalize import Folded

#: Characters between two of a word, at most; invisible ones do not count.
_GAP_MAX_CHARS = 8
#: Invisible characters that are looked past, at most: a text of nothing else must not cost its square.
_PASSED_MAX_CHARS = 64
#: Runs from here on are nothing that a language does by itself.
_STRETCHED = 3

_LETTERS = frozenset((Kind.LETTER, Kind.LOOK_ALIKE))
_DIGITS = frozenset((Kind.DIGIT, Kind.NUMERAL))
_UNSEEN = frozenset((Kind.MARK, Kind.INVISIBLE))
_LOOK_ALIKE = bytes((Kind.LOOK_ALIKE,))
_LETTER = bytes((Kind.LETTER,))
_BREAKS = frozenset((Kind.CLAUSE, Kind.SENTENCE, Kind.LINE))

Span = tuple[int, int]


def verified(folded: Folded, form: Form, start: int, end: int) -> Span | None:
    """Return the span in the original of a candidate `[start, end)` of `folded.text`, None when it is none."""
    places = folded.places
    first, last = int(places[start]), int(places[end - 1])
    if form.is_bounded and _goes_on(folded, form, start, end):
        return None
    if last - first + 1 != end - start and not _gaps_fit(folded.kinds, places[start:end].tolist(), form.gaps):
        return None
    return _ended(folded.kinds, form, first, last)


def verified_run(folded: Folded, form: Form, bounds: Sequence[int]) -> Span | None:
    """Return the span of a candidate in runs that begin and end at `bounds`; None when it is none, or not stretched."""
    lengths = [after - before for before, after in pairwise(bounds)]
    places = folded.places
    if not _is_stretched(lengths, form.runs, [folded.kinds[int(places[bound])] for bound in bounds[:-1]]):
        return None
    return verified(folded, form, bounds[0], bounds[-1])


def verified_literal(folded: Folded, form: Form, start: int, end: int) -> Span | None:
    """Return the span of a candidate `[start, end)` of the literal view, which is that of the original."""
    kinds = folded.kinds
    if form.is_bounded and (_continues(kinds, start, -1, form.first) or _continues(kinds, end - 1, 1, form.last)):
        return None
    return start, end


def _ended(kinds: bytes, form: Form, first: int, last: int) -> Span | None:
    if _LOOK_ALIKE in kinds[first : last + 1] and not _looks_meant(kinds[first : last + 1], form):
        return None
    end = last + 1
    while end < len(kinds) and kinds[end] == Kind.MARK and end - last <= _PASSED_MAX_CHARS:
        end += 1
    return first, end


def _looks_meant(kinds: bytes, form: Form) -> bool:
    # A word all in Cyrillic is Russian, not a Latin word in disguise; one with a letter or two of it is.
    return form.has_look_alikes or _LETTER in kinds


def _goes_on(folded: Folded, form: Form, start: int, end: int) -> bool:
    kinds, places = folded.kinds, folded.places
    first, last = int(places[start]), int(places[end - 1])
    if form.first <= Kind.NUMERAL and form.first != Kind.OTHER:
        is_part = start > 0 and int(places[start - 1]) == first  # of a character that folds to several
        if is_part or _continues(kinds, first, -1, form.first):
            return True
    if form.last <= Kind.NUMERAL and form.last != Kind.OTHER:
        is_part = end < len(places) and int(places[end]) == last
        return is_part or _continues(kinds, last, 1, form.last)
    return False


def _continues(kinds: bytes, edge: int, step: int, kind: int) -> bool:
    """Say whether beyond the edge of a candidate, whose word ends on `kind` there, comes more of the like."""
    place = edge + step
    for _ in range(_PASSED_MAX_CHARS):
        if not 0 <= place < len(kinds):
            return False
        if kinds[place] not in _UNSEEN:
            break
        place += step
    neighbour = kinds[place]
    if kind in _LETTERS:
        return neighbour in _LETTERS
    if kind in _DIGITS:
        if neighbour == Kind.POINT == kinds[edge + step]:
            beyond = place + step
            return kinds[edge] == Kind.DIGIT and 0 <= beyond < len(kinds) and kinds[beyond] == Kind.DIGIT  # 64.5
        # Chinese text counts without spaces: a numeral beside a numeral says nothing about where a word begins.
        is_chinese = kind == Kind.NUMERAL and kinds[edge] == Kind.NUMERAL == neighbour
        return neighbour in _DIGITS and not is_chinese
    return False


def _gaps_fit(kinds: bytes, places: Sequence[int], own: frozenset[int]) -> bool:
    """Say whether all that lies between the characters of a candidate is noise, and no end of a clause."""
    gaps = [
        (index, kinds[before + 1 : after].translate(None, bytes(_UNSEEN)))
        for index, (before, after) in enumerate(pairwise(places), start=1)
        if after - before > 1
    ]
    seen = [(index, gap) for index, gap in gaps if gap]
    # As many gaps as could be: letters set apart one by one, which no clause is.
    is_spaced = len(places) > 2 and len(seen) == len(places) - 1
    return all(
        len(gap) <= _GAP_MAX_CHARS
        and _gap_fits(gap, kinds[places[index - 1]], kinds[places[index]], is_own=index in own, is_spaced=is_spaced)
        for index, gap in seen
    )


def _gap_fits(gap: bytes, before: int, after: int, *, is_own: bool, is_spaced: bool) -> bool:
    if is_own:
        is_end = Kind.SENTENCE in gap or Kind.POINT in gap
        return not is_end or (is_spaced and before in _LETTERS and after in _LETTERS)
    if before == Kind.DIGIT and after == Kind.DIGIT:
        return False  # 6.4, 1-10, 1,100: what stands between digits has a meaning of its own
    if is_spaced:
        return True
    has_space = Kind.SPACE in gap
    if before in _LETTERS and after in _LETTERS and has_space:
        return False
    if Kind.LINE in gap or (Kind.POINT in gap and has_space):
        return False
    return Kind.SYMBOL in gap or not _BREAKS.intersection(gap)


def _is_stretched(lengths: Sequence[int], own: Sequence[int], kinds: Sequence[int]) -> bool:
    """Say whether runs are those of a word, some of them longer for show: `fuuuck`, but not `good` for `god`."""
    if (
        len(own) < 2
        or len(lengths) != len(own)
        or any(length < least for length, least in zip(lengths, own, strict=True))
    ):
        return False
    longer = [index for index, length in enumerate(lengths) if length > own[index]]
    if not longer or any(kinds[index] in _DIGITS for index in longer):
        return False
    return len(longer) == len(lengths) or any(lengths[index] >= _STRETCHED for index in longer)
