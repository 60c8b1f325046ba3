"""Several lists at once: each keeps its words, allowed words hold for all, contacts are done as the strictest says."""

import json
from typing import Any

import pytest

from pipeline.detector.detector import Detector
from pipeline.detector.lexicon import Lexicon
from pipeline.detector.rule_files import rules_of_json
from pipeline.detector.sources import Source

WORDS = ["电话"]


def lexicon(**rules: Any) -> Lexicon:
    return Lexicon(rules=rules_of_json(json.dumps(rules)))


def actions(*lists: Lexicon) -> dict[str, str]:
    screening = Detector(*lists).screen("13800138000 a@b.com")
    return {one.kind: one.action for one in screening.contacts}


@pytest.mark.feature("D1")
def test_a_hit_says_whose_word_it_is() -> None:
    detector = Detector(
        Source(lexicon(deny=["赌场"]), "global", "house", 3, 1),
        Source(lexicon(deny=["发票"]), "site", "shop", 1, 2),
        Source(lexicon(deny=["彩票", {"word": "赌场", "level": 1}]), "device", "own", 2, 3),
    )

    screening = detector.screen("赌场 发票 彩票 电话", ["电话"])

    assert [(hit.word, hit.list, hit.list_name) for hit in screening.hits] == [
        ("赌场", "global", "house"),
        ("赌场", "device", "own"),
        ("发票", "site", "shop"),
        ("彩票", "device", "own"),
        ("电话", "request", ""),
    ]
    assert [(one.scope, one.name, one.version) for one in screening.versions] == [
        ("global", "house", 3),
        ("site", "shop", 1),
        ("device", "own", 2),
    ]


@pytest.mark.feature("D1")
def test_an_allowed_word_of_one_list_keeps_hits_of_all_off() -> None:
    detector = Detector(
        Source(
            lexicon(deny=["发票"], combos=[{"id": "both", "all": ["发票", "彩票"], "within": 9}]), "global", "house"
        ),
        Source(lexicon(allow=["普通发票"]), "device", "own"),
    )

    assert [hit.start for hit in detector.screen("普通发票 彩票").hits] == []
    assert detector.screen("发票 彩票").hits


@pytest.mark.feature("D4")
def test_contacts_are_done_as_the_strictest_list_says() -> None:
    told = {"phone_cn": "tag", "email": "tag"}

    assert actions() == actions(lexicon(), lexicon(deny=WORDS)) == told
    assert actions(lexicon(), lexicon(contacts={"email": {"action": "review"}})) == {"email": "review"}
    both = (
        lexicon(contacts={"email": {}, "phone_cn": {"action": "block"}}),
        lexicon(contacts={"email": {"action": "mask"}}),
    )
    assert actions(*both) == {"phone_cn": "block", "email": "mask"}
    assert actions(lexicon(contacts={}), lexicon(deny=WORDS)) == {}


def test_no_list_at_all_finds_the_words_of_the_request() -> None:
    screening = Detector().screen("电话", ["电话"])

    assert [hit.word for hit in screening.hits] == ["电话"]
    assert screening.versions == ()
