"""Of finds that overlap, tell which are reported."""

from collections.abc import Iterable, Sequence

from pipeline.detector.lexicon import Found
from pipeline.detector.rules import ACTIONS


def reported(denied: Iterable[Found], allowed: Iterable[Found]) -> list[Found]:
    """Return the denied words that no allowed one covers, left to right.

    Of words that cover one another the longest is kept, and a shorter one only where more is done about it; of one
    word that overlaps itself the first is kept; words that overlap in part are all kept.
    """
    outside = not_covered(denied, allowed)
    kept: list[Found] = []
    #: For each action, weakest first: how far to the right reaches what was kept and is at least as strong.
    reach = [0] * len(ACTIONS)
    ends: dict[str, int] = {}
    rated = [(find, ACTIONS.index(find.rating.action)) for find in outside]
    for find, strength in sorted(rated, key=lambda pair: (pair[0].start, -pair[0].end, -pair[1])):
        if reach[strength] >= find.end or ends.get(find.entry.word, 0) > find.start:
            continue
        kept.append(find)
        ends[find.entry.word] = find.end
        for weaker in range(strength + 1):
            reach[weaker] = max(reach[weaker], find.end)
    return kept


def not_covered(finds: Iterable[Found], allowed: Iterable[Found]) -> Sequence[Found]:
    """Return the finds that lie in no allowed word, in no order."""
    covers = sorted((find.start, find.end) for find in allowed)
    if not covers:
        return list(finds)
    outside = []
    position, reach = 0, 0
    for find in sorted(finds, key=lambda find: find.start):
        while position < len(covers) and covers[position][0] <= find.start:
            reach = max(reach, covers[position][1])
            position += 1
        if reach < find.end:
            outside.append(find)
    return outside
