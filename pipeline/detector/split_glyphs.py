"""Words whose characters are written as their parts, side by side: 贝者博 for 赌博; from `glyphs.tsv`
(tools/glyph_table.py). What is found so is never sure: 女子 is 好, and is a word of its own.
"""

import hashlib
from functools import cache
from itertools import islice, product
from pathlib import Path

_FILE = Path(__file__).with_name("glyphs.tsv")
#: Ways to write one word that are searched for.
_WAYS_MAX = 64


def split_spellings(text: str) -> list[str]:
    """Return the ways to write a folded word in which a character, or some, are taken apart."""
    parts = _parts()
    choices = [(char, *parts.get(char, ())) for char in text]
    return [*dict.fromkeys("".join(way) for way in islice(product(*choices), 1, _WAYS_MAX + 1))]


@cache
def _parts() -> dict[str, tuple[str, ...]]:
    rows = (line.split("\t") for line in _FILE.read_text("utf-8").splitlines() if not line.startswith("#"))
    return {char: tuple(ways.split(" ")) for char, ways in rows}


@cache
def glyphs_version() -> str:
    """What changes with the table: lists that were made by another must be made again."""
    return hashlib.sha256(_FILE.read_bytes()).hexdigest()[:12]
