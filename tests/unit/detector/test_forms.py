"""Words are made ready in bulk as they are one by one."""

import sys

from pipeline.detector.forms import plain_spellings, spelling_of
from pipeline.detector.lexicon import word_fault


def test_bulk_and_single_spellings_agree_for_every_character() -> None:
    words = [f"a{chr(code)}b" for code in range(sys.maxunicode + 1)]

    for word, spelling in zip(words, plain_spellings(words), strict=True):
        if spelling is not None:
            assert word_fault(word) is None
            assert spelling == spelling_of(word), ascii(word)


def test_words_with_noise_or_faults_are_left_to_be_looked_at_one_by_one() -> None:
    words = ["好词", "", "a\nb", "C#", "half \ud83d", "\uffff", "ﬁn", "Good", "国国", "\U0010ffff"]

    assert [spelling and spelling.text for spelling in plain_spellings(words)] == [
        *("好词", None, None, None, None, None, None, "good", "国国", "\U0010ffff")
    ]
    assert [spelling.collapsed for spelling in plain_spellings(["good", "国国x", "gd"]) if spelling] == [
        "god",
        "国x",
        "gd",
    ]
    assert plain_spellings([]) == []
    assert plain_spellings(["", ""]) == [None, None]
