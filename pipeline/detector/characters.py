"""What every character of Unicode is to the detector: read once from `characters.tsv` (tools/fold_table.py)."""

import hashlib
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_FILE = Path(__file__).with_name("characters.tsv")
_CODES = 0x110000
#: Folds that are no single character: the index into `expansions` is what is above.
EXPANDED = _CODES
#: What a lone surrogate becomes, which no automaton takes: a code point that is no character and is in no word.
NO_CHARACTER = "\uffff"


class Kind:
    """What a character is, as far as finding words needs to know; no Enum, whose members cost a microsecond each."""

    OTHER = 0  # ideographs, kana, and letters of scripts that put no space between words
    LETTER = 1
    LOOK_ALIKE = 2  # a letter of another script that looks Latin
    DIGIT = 3
    NUMERAL = 4  # of Chinese text, spelled out
    MARK = 5
    INVISIBLE = 6
    SPACE = 7
    LINE = 8
    CLAUSE = 9
    SENTENCE = 10
    POINT = 11
    SYMBOL = 12


@dataclass(frozen=True, slots=True)
class Characters:
    """Tables indexed by code point.

    Args:
        fold: one code point, 0 for noise, or `EXPANDED` and more. **Shape** (0x110000,).
        kind: values of `Kind`. **Shape** as `fold`.
        plain: one code point for each, noise not left out: width and case only where the fold is not one character.
            **Shape** as `fold`.
        expansions: the folds of several code points.
    """

    fold: NDArray[np.uint32]
    kind: NDArray[np.uint8]
    plain: NDArray[np.uint32]
    expansions: tuple[tuple[int, ...], ...]


@cache
def characters() -> Characters:
    """The tables; about 6 MB, made once in a process."""
    fold = np.arange(_CODES, dtype=np.uint32)
    kind = np.zeros(_CODES, dtype=np.uint8)
    expansions: list[tuple[int, ...]] = []
    for first, last, name, spelled in _rows():
        kind[first : last + 1] = getattr(Kind, name.upper())
        if spelled == ".":
            fold[first : last + 1] = 0
        elif spelled[0] in "+-":
            fold[first : last + 1] += np.int32(int(spelled)).astype(np.uint32)
        else:
            fold[first] = EXPANDED + len(expansions)
            expansions.append(tuple(int(code, 16) for code in spelled.split()))
    return Characters(fold, kind, _plain(fold, kind), tuple(expansions))


@cache
def characters_version() -> str:
    """What changes with the tables: words that were folded by others must be folded again."""
    return hashlib.sha256(_FILE.read_bytes()).hexdigest()[:12]


def _plain(fold: NDArray[np.uint32], kind: NDArray[np.uint8]) -> NDArray[np.uint32]:
    own = np.arange(_CODES, dtype=np.uint32)
    # Numerals and look-alikes stay what they are: a plain view must not make a number of "十一".
    is_own = (fold == 0) | (fold >= EXPANDED) | (kind == Kind.NUMERAL) | (kind == Kind.LOOK_ALIKE)
    plain = np.where(is_own, own, fold)
    for code in np.flatnonzero((kind >= Kind.SPACE) & (own > 0x7F)).tolist():
        compatible = unicodedata.normalize("NFKC", chr(code))
        if len(compatible) == 1:
            plain[code] = ord(compatible)
    return plain.astype(np.uint32)


def _rows() -> Iterator[tuple[int, int, str, str]]:
    for line in _FILE.read_text("utf-8").splitlines():
        if not line.startswith("#"):
            first, last, kind, fold = line.split("\t")
            yield int(first, 16), int(last, 16), kind, fold
