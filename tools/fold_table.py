"""Write `pipeline/detector/characters.tsv`, what every character is to the detector, from well-kept libraries.

Run by hand when one of them has a new version: `python -m tools.fold_table` where `opencc` and `confusable-homoglyphs`
are installed (extra `tables`). Rows say a range, what kind its characters are, and what each of them folds to.
"""

import platform
import re
import sys
import unicodedata
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import confusable_homoglyphs.utils
import opencc

TARGET = Path(__file__).parents[1] / "pipeline" / "detector" / "characters.tsv"

#: Digits of Chinese text: everyday, financial, and spoken. 參 and 参 are left out: they mean "take part".
_DIGITS = ("零〇", "一壹弌幺", "二贰貳弍", "三叁叄", "四肆", "五伍", "六陆陸", "七柒", "八捌", "九玖")
_NUMERALS = {char: str(digit) for digit, chars in enumerate(_DIGITS) for char in chars}
_SENTENCE = set("。！？!?;；｡…‽⁉⁈⁇")
_CLAUSE = set(",，、:：､﹐﹑﹕")
_LINE = set("\n\r\x0b\x0c\x85\u2028\u2029")
#: Blank, though no space by their category: fillers of Hangul, the empty Braille cell.
_INVISIBLE = {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0, *range(0x180B, 0x1810)}
#: Strokes are ideographs by their category; no text of today has one by itself but as an ornament between others.
_STROKES = set("丶丨丿亅乀乁乚")
#: Marks that go on any letter; those of scripts that cannot do without them stay.
_MARKS = ((0x0300, 0x036F), (0x1AB0, 0x1AFF), (0x1DC0, 0x1DFF), (0x20D0, 0x20FF), (0xFE00, 0xFE0F), (0xFE20, 0xFE2F),
          (0xE0000, 0xE0FFF))  # fmt: skip
#: Blocks of pictures, with what later versions of Unicode will put there.
_PICTURES = ((0x1F000, 0x1F0FF), (0x1F1E6, 0x1F1FF), (0x1F200, 0x1F2FF), (0x1F300, 0x1FAFF))
_BOUNDED = ("LATIN", "GREEK", "CYRILLIC", "ARMENIAN", "GEORGIAN", "HEBREW", "ARABIC", "COPTIC", "CHEROKEE")
_NOT_LATIN = tuple(f"{script} " for script in _BOUNDED if script != "LATIN")
_NO_CHARACTER = "\uffff"
#: Letters with a stroke, a hook or without a dot, which do not decompose.
_LATIN_VARIANT = re.compile(r"LATIN SMALL LETTER (?:DOTLESS )?([A-Z])(?: WITH .*)?")
_SIMPLIFIED = opencc.OpenCC("t2s")


def main() -> None:
    TARGET.write_text(table(), "utf-8")


def table() -> str:
    """The whole file."""
    sources = [
        f"Unicode {unicodedata.unidata_version} (Python {platform.python_version()})",
        *(f"{name} {version(name)}" for name in ("opencc", "confusable-homoglyphs")),
    ]
    lines = [
        f"# Written by tools/fold_table.py: do not edit. {', '.join(sources)}.",
        "# first, last, kind, fold: `+n` or `-n` is the distance to one character, else its characters in hex,",
        "# or `.`: none. Characters that are not here are kind `other` and fold to themselves.",
        *rows(),
    ]
    return "\n".join(lines) + "\n"


def rows() -> Iterator[str]:
    """The rows of the table, in the order of their characters."""
    open_row: tuple[int, int, str, str] | None = None
    looks = look_alikes()
    for code in range(sys.maxunicode + 1):
        kind, folded = describe(code, looks)
        is_plain = kind == "other" and folded == chr(code)
        row = None if is_plain else (code, code, kind, _spelled(code, folded))
        if open_row and row and row[2:] == open_row[2:] and open_row[1] == code - 1 and not row[3][0].isalnum():
            open_row = (open_row[0], code, *row[2:])
            continue
        if open_row:
            yield _line(*open_row)
        open_row = row
    if open_row:
        yield _line(*open_row)


def _line(first: int, last: int, kind: str, fold: str) -> str:
    return f"{first:x}\t{last:x}\t{kind}\t{fold}"


def describe(code: int, looks: dict[str, str]) -> tuple[str, str]:
    """The kind of a character, and what it folds to: nothing for what is noise."""
    char = chr(code)
    if 0xD800 <= code < 0xE000 or code == 0xFFFF:
        return "other", _NO_CHARACTER
    if kind := _noise(code, char):
        return kind, ""
    folded = _folded(char, looks)
    if folded.isascii() and folded.isalpha() and unicodedata.name(char, "").startswith(_NOT_LATIN):
        return "look_alike", folded
    if char in _NUMERALS:
        return "numeral", folded
    if folded and all("0" <= one <= "9" for one in folded):
        return "digit", folded
    if folded and _is_bounded(folded[0]):
        return "letter", folded
    return ("other", folded) if folded else ("symbol", "")


def look_alikes() -> dict[str, str]:
    """Letters of other scripts that look like a Latin one, in either case -> that letter, small."""
    table = confusable_homoglyphs.utils.load("confusables.json")
    direct: dict[str, str] = {}
    for char, similar in table.items():
        compatible = unicodedata.normalize("NFKC", char)
        if (
            len(char) == len(compatible) == 1
            and not char.isascii()
            and not compatible.isascii()
            and unicodedata.category(char)[0] == "L"
        ):
            latin = {one["c"].lower() for one in similar if len(one["c"]) == 1 and one["c"].isascii()}
            if latin := {letter for letter in latin if letter.isalpha()}:
                direct[char] = _preferred(char, latin)
    # Both cases of a letter go to one: a small one that looks like nothing follows its capital.
    found: dict[str, str] = {}
    for char, latin_letter in direct.items():
        small = char.lower()
        if unicodedata.name(char, "").split(" ")[0] in _BOUNDED and len(small) == 1:
            target = direct.get(small, latin_letter)
            found[char] = found[small] = target
            if len(small.upper()) == 1:
                found[small.upper()] = target
    return {char: latin for char, latin in found.items() if not unicodedata.name(char, "").startswith("LATIN ")}


def _preferred(char: str, latin: set[str]) -> str:
    # Confusables chain (l, I, 1): the letter of the same name wins, then the first of the alphabet.
    last = unicodedata.name(char, "").rsplit(" ", 1)[-1].lower()
    return last if last in latin else min(latin)


def _noise(code: int, char: str) -> str | None:
    category = unicodedata.category(char)
    if char in _LINE:
        return "line"
    if char == "." or char == "．":
        return "point"
    if char in _SENTENCE:
        return "sentence"
    if char in _CLAUSE:
        return "clause"
    if category == "Zs" or char == "\t" or code == 0x2800:
        return "space"
    if _within(code, _MARKS):
        return "mark"
    if category in ("Cc", "Cf") or code in _INVISIBLE:
        return "invisible"
    return _symbol(code, char, category)


def _symbol(code: int, char: str, category: str) -> str | None:
    enclosed = unicodedata.normalize("NFKC", char) != char or _enclosed(char)
    if (
        char in _STROKES
        or category[0] == "P"
        or (category[0] == "S" and not (enclosed and category == "So" and char not in "™℠"))
    ):
        return "symbol"
    return "symbol" if _within(code, _PICTURES) and not enclosed else None


def _folded(char: str, looks: dict[str, str]) -> str:
    if char in looks:
        return looks[char]
    text = _enclosed(char) or unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", char).casefold())
    if len(text) > 1:
        text = text.strip("()〔〕.,\u2044")
    return "".join(_last_step(one, looks) for one in text if not _noise(ord(one), one) or one == _NO_CHARACTER)


def _last_step(char: str, looks: dict[str, str]) -> str:
    if char in looks:
        return looks[char]
    if char in _NUMERALS:
        return _NUMERALS[char]
    if plain := _LATIN_VARIANT.fullmatch(unicodedata.name(char, "")):
        return plain[1].lower()
    base = unicodedata.normalize("NFD", char)[0]
    if base != char and _is_bounded(base):
        return looks.get(base, base)
    if "\u3400" <= char < "\ua000" or ord(char) >= 0x20000:
        simple = _simplified(char)
        return _NUMERALS.get(simple, simple)
    return char


def _simplified(char: str) -> str:
    while len(simple := _SIMPLIFIED.convert(char)) == 1 and simple != char:
        char = simple  # a simplified form may be the traditional one of another
    return char


def _enclosed(char: str) -> str:
    """The letter or digit in a circle or a square that has no decomposition, else nothing."""
    name = unicodedata.name(char, "")
    if name.startswith(("NEGATIVE CIRCLED LATIN", "NEGATIVE SQUARED LATIN")) and name[-2] == " ":
        return name[-1].lower()
    if "CIRCLED" in name and unicodedata.numeric(char, -1) in range(10) and unicodedata.category(char) == "No":
        return str(int(unicodedata.numeric(char)))
    return ""


def _spelled(code: int, folded: str) -> str:
    if not folded:
        return "."
    if len(folded) == 1:
        return f"{ord(folded) - code:+d}"
    return " ".join(f"{ord(one):x}" for one in folded)


def _is_bounded(char: str) -> bool:
    return unicodedata.category(char)[0] == "L" and unicodedata.name(char, "").split(" ")[0] in _BOUNDED


def _within(code: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= code <= last for first, last in ranges)


if __name__ == "__main__":
    main()
