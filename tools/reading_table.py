"""Write `pipeline/detector/readings.tsv`, how every ideograph is read in pinyin without tones, from pypinyin.

Run by hand when it has a new version: `python -m tools.reading_table` where it is installed (extra `tables`). Rows say
readings, the usual one first, and the characters that have them. Characters are those that others fold to.
"""

from collections import Counter
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from pypinyin import Style
from pypinyin.phrases_dict import phrases_dict
from pypinyin.pinyin_dict import pinyin_dict
from pypinyin.style import convert

from pipeline.detector.normalize import fold

TARGET = Path(__file__).parents[1] / "pipeline" / "detector" / "readings.tsv"

#: Numerals, which fold to digits.
_NUMERALS = "零一二三四五六七八九"
#: Characters beyond the basic plane are seldom read, and never written for another.
_CODES = 0x10000
#: A reading besides the usual one counts where at least this share of the phrases with the character has it.
_SHARE_MIN = 0.05
_READINGS_MAX = 3
#: Particles, in every sentence and nearly always read in one way; in the other nobody writes them for another.
_PARTICLES = set("的了着地和不")


def main() -> None:
    TARGET.write_text(table(), "utf-8")


def table() -> str:
    """The whole file."""
    lines = [
        f"# Written by tools/reading_table.py: do not edit. pypinyin {version('pypinyin')}.",
        "# readings, the usual one first, and the characters that are read so.",
        *rows(),
    ]
    return "\n".join(lines) + "\n"


def rows() -> Iterator[str]:
    """The rows of the table, in the order of the alphabet."""
    spoken = _spoken()
    by_readings: dict[str, list[str]] = {}
    for code in sorted(pinyin_dict):
        char = chr(code)
        if code < _CODES and fold(char).text == char:
            by_readings.setdefault(" ".join(_readings(char, spoken)), []).append(char)
    for digit, char in enumerate(_NUMERALS):
        by_readings.setdefault(_readings(char, spoken)[0], []).append(str(digit))
    for readings, chars in sorted(by_readings.items()):
        if readings:
            yield f"{readings}\t{''.join(chars)}"


def _spoken() -> dict[str, Counter[str]]:
    """How often each character is read how in phrases."""
    found: dict[str, Counter[str]] = {}
    for phrase, readings in phrases_dict.items():
        for char, (reading, *_) in zip(phrase, readings, strict=False):
            found.setdefault(char, Counter())[_plain(reading)] += 1
    return found


def _readings(char: str, spoken: dict[str, Counter[str]]) -> list[str]:
    told = [_plain(reading) for reading in pinyin_dict[ord(char)].split(",")]
    counts = spoken.get(char, Counter())
    least = _SHARE_MIN * counts.total()
    usual = [reading for reading in dict.fromkeys(told[1:]) if counts[reading] > 1 and counts[reading] >= least]
    readings = dict.fromkeys([told[0], *sorted(usual, key=lambda reading: -counts[reading])])
    told = [reading for reading in readings if reading.isascii() and reading.isalpha()]
    return told[: 1 if char in _PARTICLES else _READINGS_MAX]


def _plain(reading: str) -> str:
    return str(convert(reading, Style.NORMAL, strict=False)).replace("ü", "v")


if __name__ == "__main__":
    main()
