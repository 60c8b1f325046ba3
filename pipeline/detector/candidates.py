"""How many candidates a text may have: the work is to grow with the text, whatever the list."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

#: Candidates of one search that are looked at: one for each character of the text, and so many besides.
CANDIDATES_BESIDES = 20_000

_T = TypeVar("_T")


class Candidates:
    """Lets so many candidates of each search of one text through, and notes when there were more.

    Words nested in one another have as many candidates for each character of a text made for them as there are words;
    64 of them took 30 s for 100,000 characters.
    """

    def __init__(self, text_chars: int) -> None:
        self._most = CANDIDATES_BESIDES + text_chars
        self.is_cut = False

    def __call__(self, matches: Iterable[_T]) -> Iterator[_T]:
        matches = iter(matches)
        yield from islice(matches, self._most)
        self.is_cut = self.is_cut or next(matches, None) is not None
