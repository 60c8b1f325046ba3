"""How far a text that was read is from the one that was written, in edits of single characters."""

import unicodedata
from collections.abc import Sequence

import numpy as np

#: Two lines are the same one, misread, while they differ in no more than this part of the longer.
_SAME_LINE = 0.3
#: Signs that differ in typography only, and in no search.
_SAME_SIGNS = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "•": "·", "・": "·"})


def folded(text: str) -> str:
    """A text as it is compared: NFKC, without white space, each family of quotes, dashes and bullets as one sign."""
    return "".join(unicodedata.normalize("NFKC", text).translate(_SAME_SIGNS).split())


def edits_in_order(known: str, found: str) -> int:
    """The Levenshtein distance of two texts."""
    if not known or not found:
        return len(known) + len(found)
    codes = np.frombuffer(found.encode("utf-32-le"), dtype=np.uint32)
    steps = np.arange(len(found) + 1)
    row = steps.copy()
    for number, char in enumerate(known, start=1):
        best = np.empty_like(row)
        best[0] = number
        best[1:] = np.minimum(row[1:] + 1, row[:-1] + (codes != ord(char)))
        # What an insertion costs runs along the row: the least of all earlier cells plus their distance.
        row = np.minimum.accumulate(best - steps) + steps
    return int(row[-1])


def edits_of_lines(known: Sequence[str], found: Sequence[str]) -> tuple[int, int]:
    """Return the edits between two sets of lines in whatever order, and how many known lines were found exactly.

    Equal lines are paired first, then those that differ least. What remains on both sides is compared as one text, so
    that a line read in two pieces, or two read as one, is no error; order counts among what remains only.
    """
    rest_known, rest_found = list(known), list(found)
    for line in known:
        if line in rest_found:
            rest_found.remove(line)
            rest_known.remove(line)
    exact = len(known) - len(rest_known)
    edits = 0
    for cost, a, b in _pairs(rest_known, rest_found):
        if rest_known[a] and rest_found[b]:
            edits += cost
            rest_known[a] = rest_found[b] = ""
    return edits + edits_in_order("".join(rest_known), "".join(rest_found)), exact


def _pairs(known: Sequence[str], found: Sequence[str]) -> list[tuple[int, int, int]]:
    """Edits, and the places of both lines, of all pairs alike enough; the most alike first."""
    pairs = []
    for a, one in enumerate(known):
        for b, other in enumerate(found):
            longer = max(len(one), len(other))
            if abs(len(one) - len(other)) > _SAME_LINE * longer:
                continue
            cost = edits_in_order(one, other)
            if cost <= _SAME_LINE * longer:
                pairs.append((cost / longer, cost, a, b))
    return [(cost, a, b) for _, cost, a, b in sorted(pairs)]
