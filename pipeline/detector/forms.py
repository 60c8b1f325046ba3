"""How a word of a list is looked for: its folded spelling, and what a candidate in a text must keep."""

from dataclasses import dataclass
from itertools import groupby

from pipeline.detector.characters import Kind
from pipeline.detector.normalize import Folded, fold
from pipeline.detector.rules import Boundary

#: Noise that many words have inside and few writers keep: "wi-fi", "don't", "national congress".
_LOOSE = frozenset(" -'\u2019\u00b7\u2010\u2011\u3000\u00a0")
_UNSEEN = frozenset((Kind.MARK, Kind.INVISIBLE))


@dataclass(frozen=True, slots=True)
class Form:
    """A word ready to be found.

    Args:
        text: folded, without noise; as `Folded.plain` has it when `is_literal`.
        is_literal: it has noise that is part of it, as `C#` has, so that noise is not overlooked in it.
        gaps: indices into `text` before which the word itself has a gap.
        runs: lengths of its runs of one character.
        first, last: kinds of its outer characters.
        is_bounded: letters and digits may not go on beyond its edges.
        has_look_alikes: it is spelled in letters that look Latin, and are not.
    """

    text: str
    is_literal: bool
    gaps: frozenset[int]
    runs: tuple[int, ...]
    first: int
    last: int
    is_bounded: bool
    has_look_alikes: bool

    @property
    def collapsed(self) -> str:
        """`text` with each run made one character."""
        return "".join(char for char, _ in groupby(self.text))


def form_of(word: str, boundary: Boundary) -> Form:
    """Return the form of a word without a fault (`lexicon.word_fault`)."""
    folded = fold(word)
    kinds = folded.kinds
    is_literal = not folded.text or not _is_loose(word, kinds)
    text = folded.plain if is_literal else folded.text
    seen = [kind for kind in kinds if kind not in _UNSEEN]
    return Form(
        text=text,
        is_literal=is_literal,
        gaps=frozenset() if is_literal else _gaps(folded),
        runs=tuple(len(list(run)) for _, run in groupby(text)),
        first=seen[0],
        last=seen[-1],
        is_bounded=boundary == "auto",
        has_look_alikes=Kind.LOOK_ALIKE in kinds,
    )


def _is_loose(word: str, kinds: bytes) -> bool:
    """Say whether all noise of a word is such that it may be left out, or be another."""
    noise = [index for index, kind in enumerate(kinds) if kind > Kind.INVISIBLE]
    if not noise:
        return True
    is_inside = kinds[0] <= Kind.INVISIBLE and kinds[-1] <= Kind.INVISIBLE
    return is_inside and all(word[index] in _LOOSE for index in noise)


def _gaps(folded: Folded) -> frozenset[int]:
    places = folded.places.tolist()
    return frozenset(index for index in range(1, len(places)) if places[index] - places[index - 1] > 1)
