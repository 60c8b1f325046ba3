"""Words are made ready in bulk as they are one by one."""

import sys

from pipeline.detector.forms import collapsed, plain_spellings, spelling_of, word_fault


def test_bulk_and_single_spellings_agree_for_every_character() -> None:
    words = [f"a{chr(code)}b" for code in range(sys.maxunicode + 1)]
    plain = plain_spellings(words)

    assert len(plain.texts) == len(words)
    for index in set(range(len(words))) - plain.odd:
        word, text = words[index], plain.texts[index]
        assert word_fault(word) is None
        spelling = spelling_of(word)
        assert (spelling.text, spelling.is_literal) == (text, False), ascii(word)
        assert index in plain.doubled or spelling.collapsed == text, ascii(word)


def test_words_with_noise_or_faults_are_left_to_be_looked_at_one_by_one() -> None:
    words = ["好词", "", "a\nb", "C#", "half \ud83d", "\uffff", "ﬁn", "Good", "国国", "\U0010ffff"]
    plain = plain_spellings(words)

    assert plain.odd == {1, 2, 3, 4, 5, 6}
    assert [plain.texts[index] for index in (0, 7, 8, 9)] == ["好词", "good", "国国", "\U0010ffff"]
    assert plain.doubled >= {7, 8}
    assert plain_spellings([]).texts == []
    assert plain_spellings(["", ""]).odd == {0, 1}


def test_runs_are_made_one() -> None:
    assert [collapsed(text) for text in ("good", "国国x", "gd", "")] == ["god", "国x", "gd", ""]
