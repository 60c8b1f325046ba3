"""The committed tables are what the tools make of the locked libraries, and name their versions."""

import unicodedata
from collections.abc import Iterable
from importlib.metadata import version

from tools import fold_table, glyph_table, reading_table


def rows_by_character(lines: Iterable[str]) -> dict[int, tuple[str, str]]:
    rows = (line.split("\t") for line in lines)
    return {
        code: (kind, fold)
        for first, last, kind, fold in rows
        for code in range(int(first, 16), int(last, 16) + 1)
    }  # fmt: skip


def test_the_fold_table_is_what_its_tool_makes() -> None:
    head, _, _, *committed = fold_table.TARGET.read_text("utf-8").splitlines()
    expected, made = rows_by_character(committed), rows_by_character(fold_table.rows())
    # A Python with other Unicode data knows more characters: those of Unicode 3.2 are the same in all.
    is_same_unicode = f"Unicode {unicodedata.unidata_version} " in head

    differing = {code for code in expected.keys() | made.keys() if expected.get(code) != made.get(code)}
    assert [
        hex(code) for code in differing if is_same_unicode or unicodedata.ucd_3_2_0.category(chr(code)) != "Cn"
    ] == []
    assert all(f"{name} {version(name)}" in head for name in ("opencc", "confusable-homoglyphs"))


def test_the_table_of_readings_is_what_its_tool_makes() -> None:
    assert reading_table.table() == reading_table.TARGET.read_text("utf-8")


def test_the_table_of_split_glyphs_is_what_its_tool_makes() -> None:
    assert glyph_table.table() == glyph_table.TARGET.read_text("utf-8")
