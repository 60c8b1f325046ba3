"""Cases from public complaints about word filters: what each rule set finds in each text, to the character."""

import json
from pathlib import Path
from typing import Any

import pytest

from pipeline.detector.detector import Detector
from pipeline.detector.findings import ContactHit, Hit, Screening
from pipeline.detector.lexicon import Lexicon
from pipeline.detector.lines import Line
from pipeline.detector.rule_files import rules_of_json

pytestmark = pytest.mark.usefixtures("each_way")

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parents[2] / "data" / "word_cases.json").read_text("utf-8"))
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])


def screen(case: dict[str, Any]) -> Screening:
    rules = {name: value for name, value in case["rules"].items() if name != "builtin"}
    if "view" in case:  # that of its words, be they as short as they are
        rules["deny"] = [
            {**(word if isinstance(word, dict) else {"word": word}), "views": [case["view"]]} for word in rules["deny"]
        ]
    rules["contacts"] = {kind: {} for kind in case["rules"].get("builtin", [])}
    detector = Detector(Lexicon(rules=rules_of_json(json.dumps(rules))))
    if "lines" in case:
        return detector.screen_lines([Line(text) for text in case["lines"]])
    return detector.screen(case["input"])


def told(find: Hit | ContactHit) -> dict[str, Any]:
    return {
        "word": find.word if isinstance(find, Hit) else find.kind,
        "surface": find.surface,
        "start": find.start,
        "end": find.end,
        "start_utf16": find.start_utf16,
        "end_utf16": find.end_utf16,
        "segments": [[one.line, one.start, one.end] for one in find.segments] if isinstance(find, Hit) else [],
    }


@pytest.mark.feature("D2")
@pytest.mark.feature("D3")
@pytest.mark.feature("D4")
@each_case
def test_case_finds_what_is_expected_and_nothing_else(case: dict[str, Any]) -> None:
    screening = screen(case)

    found = sorted((told(find) for find in (*screening.hits, *screening.contacts)), key=lambda find: find["start"])
    expected = case["expect"]["hits"]
    assert [{name: find[name] for name in want} for find, want in zip(found, expected, strict=False)] == expected
    assert len(found) == len(expected)
    if "view" in case:
        assert screening.suggestion == "review"
    for name, value in case.get("expect_fields", {}).items():
        assert json.loads(json.dumps([getattr(hit, name) for hit in screening.hits])) == [value] * len(screening.hits)
