"""How ideographs are read: syllables of pinyin without tones, from `readings.tsv` (tools/reading_table.py)."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pipeline.detector.characters import NO_CHARACTER

_FILE = Path(__file__).with_name("readings.tsv")
#: The table holds characters of the basic plane only.
_CODES = 0x10000
#: Where the symbols of syllables begin: code points of private use.
FIRST_SYMBOL = 0xE000
#: Classes before those of syllables: 0 of what is not read, and ASCII characters, each its own.
ASCII_CLASSES = 128
#: Letters of the longest run that is read as syllables.
_RUN_MAX_CHARS = 24
_SYLLABLE_MAX_CHARS = 6
#: Syllables that no run of letters is taken apart into: every English word would hold some.
_NO_SYLLABLES = frozenset(("m", "n", "hm"))


@dataclass(frozen=True, slots=True)
class Readings:
    """Readings of folded characters; those that are read in the same ways are one class.

    Args:
        classes: by code point the class, below 0x10000; that of `a` is the syllable. PERF: of the type that arrays are
            indexed by, which saves a copy at each look-up. **Shape** (0x10000,).
        first: by class the symbol of the usual reading; of an ASCII character itself. **Shape** (classes,).
        second: the same for another reading where there is one, else as `first`.
        written: `first` and `second` as characters.
        spelled: the class of each syllable that is spelled out.
        of: all readings of a character, the usual one first.
        symbols: the symbol of each syllable.
    """

    classes: NDArray[np.intp]
    first: NDArray[np.uint32]
    second: NDArray[np.uint32]
    written: tuple[Sequence[str], Sequence[str]]
    spelled: Mapping[str, int]
    of: Mapping[str, tuple[str, ...]]
    symbols: Mapping[str, str]


@cache
def readings() -> Readings:
    """The tables; about 5 MB, made once in a process that needs them."""
    classes = np.zeros(_CODES, dtype=np.intp)
    classes[:ASCII_CLASSES] = np.arange(ASCII_CLASSES)
    of: dict[str, tuple[str, ...]] = {}
    symbols: dict[str, str] = {}
    read: dict[tuple[str, str], int] = {}
    for line in _FILE.read_text("utf-8").splitlines():
        if line.startswith("#"):
            continue
        told, chars = line.split("\t")
        syllables = tuple(told.split())
        own = [symbols.setdefault(syllable, chr(FIRST_SYMBOL + len(symbols))) for syllable in syllables]
        of |= dict.fromkeys(chars, syllables)
        classes[[*map(ord, chars)]] = read.setdefault((own[0], own[1 % len(own)]), ASCII_CLASSES + len(read))
    spelled = {
        syllable: read.setdefault((symbol, symbol), ASCII_CLASSES + len(read)) for syllable, symbol in symbols.items()
    }
    for syllable, number in spelled.items():
        if len(syllable) == 1:
            classes[ord(syllable)] = number
    own_codes = [ord(NO_CHARACTER), *range(1, ASCII_CLASSES)]
    first, second = (np.array([*own_codes, *(ord(way[index]) for way in read)], np.uint32) for index in (0, 1))
    written = tuple(map(chr, first.tolist())), tuple(map(chr, second.tolist()))
    return Readings(classes, first, second, written, spelled, of, symbols)


@lru_cache(maxsize=4_096)
def syllables_in(run: str) -> Sequence[str]:
    """Take letters apart into syllables, the longest first; into letters where they are none."""
    if len(run) > _RUN_MAX_CHARS:
        return run
    symbols = readings().symbols
    ways: list[tuple[str, ...] | None] = [()]
    for end in range(1, len(run) + 1):
        best: tuple[str, ...] | None = None
        for start in range(max(0, end - _SYLLABLE_MAX_CHARS), end):
            before, syllable = ways[start], run[start:end]
            if before is not None and syllable in symbols and syllable not in _NO_SYLLABLES:
                best = min(best or (*before, syllable), (*before, syllable), key=len)
        ways.append(best)
    return ways[-1] or run


@cache
def readings_version() -> str:
    """What changes with the tables: lists that were made by others must be made again."""
    return hashlib.sha256(_FILE.read_bytes()).hexdigest()[:12]
