"""How ideographs are read: syllables of pinyin without tones, from `readings.tsv` (tools/reading_table.py)."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pipeline.detector.characters import NO_CHARACTER

_FILE = Path(__file__).with_name("readings.tsv")
#: The table holds characters of the basic plane only.
_CODES = 0x10000
#: Where the symbols of syllables begin: code points of private use.
_FIRST_SYMBOL = 0xE000


@dataclass(frozen=True, slots=True)
class Readings:
    """Readings of folded characters.

    Args:
        first: by code point the symbol of the usual reading, else the character. **Shape** (0x10000,).
        second: the same for another reading where there is one, else as `first`.
        of: all readings of a character, the usual one first.
        symbols: the symbol of each syllable.
    """

    first: NDArray[np.uint32]
    second: NDArray[np.uint32]
    of: Mapping[str, tuple[str, ...]]
    symbols: Mapping[str, str]


@cache
def readings() -> Readings:
    """The tables; about 5 MB, made once in a process that needs them."""
    first = np.arange(_CODES, dtype=np.uint32)
    second = first.copy()
    of: dict[str, tuple[str, ...]] = {}
    symbols: dict[str, str] = {}
    for line in _FILE.read_text("utf-8").splitlines():
        if line.startswith("#"):
            continue
        told, chars = line.split("\t")
        syllables = tuple(told.split())
        own = [symbols.setdefault(syllable, chr(_FIRST_SYMBOL + len(symbols))) for syllable in syllables]
        of |= dict.fromkeys(chars, syllables)
        codes = [*map(ord, chars)]
        first[codes] = ord(own[0])
        second[codes] = ord(own[1 % len(own)])
    for table in (first, second):  # a text may hold the symbols themselves, which sound like nothing
        table[_FIRST_SYMBOL : _FIRST_SYMBOL + len(symbols)] = ord(NO_CHARACTER)
    return Readings(first, second, of, symbols)


@cache
def readings_version() -> str:
    """What changes with the tables: lists that were made by others must be made again."""
    return hashlib.sha256(_FILE.read_bytes()).hexdigest()[:12]
