"""The dashboard's files: both languages whole, nothing that makes HTML of text, small files."""

import json
import re
from pathlib import Path

import pytest

STATIC = Path(__file__).parents[2] / "web" / "dashboard" / "static"
CATALOGUES = sorted((STATIC / "i18n").glob("*.json"))
SCRIPTS = sorted((STATIC / "js").rglob("*.js"))
#: Ways by which a text could become part of the page as something else than text, or run.
DANGEROUS = ("innerHTML", "outerHTML", "insertAdjacentHTML", "dangerouslySetInnerHTML", "document.write", "eval(")
_KEY = re.compile(r"\bt\(\"([^\"]+)\"")
#: The first part of a word whose rest is a code: `tCode("gate", gate)`, `options("devices.show", SHOWN)`.
_PREFIX = re.compile(r"\b(?:tCode|options)\(\"([^\"]+)\"")


def words_of(path):
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.feature("H4")
def test_every_language_has_the_same_words():
    english, *others = (words_of(path) for path in CATALOGUES)
    assert len(others) >= 1
    for other in others:
        assert set(other) == set(english)
        for key, text in other.items():
            assert sorted(re.findall(r"{\w+}", text)) == sorted(re.findall(r"{\w+}", english[key])), key
            assert text.strip()


def test_words_stand_in_order_and_once():
    for path in CATALOGUES:
        pairs = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=list)
        keys = [key for key, _ in pairs]
        assert keys == sorted(set(keys)), path.name


def test_every_word_that_a_script_asks_for_is_there_and_used():
    asked, prefixes, texts = set(), set(), ""
    for path in SCRIPTS:
        text = path.read_text(encoding="utf-8")
        asked |= set(_KEY.findall(text))
        prefixes |= set(_PREFIX.findall(text))
        texts += text
    known = set(words_of(STATIC / "i18n" / "en.json"))
    assert asked <= known
    of_codes = {key for key in known for prefix in prefixes if key.startswith(f"{prefix}.")}
    for key in known - asked - of_codes:
        assert f'"{key}"' in texts or key.startswith("unit."), f"{key} is used nowhere"


def test_no_script_makes_anything_but_text_of_a_text():
    for path in SCRIPTS:
        text = path.read_text(encoding="utf-8")
        for way in DANGEROUS:
            assert way not in text, f"{path.name}: {way}"


def test_scripts_are_short_and_their_lines_too():
    for path in SCRIPTS:
        lines = path.read_text(encoding="utf-8").splitlines()
        assert len(lines) < 300, path.name
        assert max(map(len, lines)) <= 140, path.name
        assert lines[0].startswith("// "), f"{path.name} does not say what it is for"
