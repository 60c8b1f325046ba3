"""What no database can hold is replaced, one for one."""

import pytest

from models.text import storable, storable_json


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("", ""),
        ("plain 中文 🙂", "plain 中文 🙂"),
        ("a\x00b", "a\ufffdb"),
        ("\ud83d alone", "\ufffd alone"),
        ("\udc00\ud800", "\ufffd\ufffd"),
        ("\x01\x7f\u0085\uffff", "\x01\x7f\u0085\uffff"),
    ],
)
def test_storable_replaces_nul_and_lone_surrogates(given: str, kept: str) -> None:
    assert storable(given) == kept
    assert len(storable(given)) == len(given)


def test_storable_json_reaches_every_string() -> None:
    value = {"\x00": ["\x00", ("\ud800", 1, 2.5, None, True)], "box": [[0, 1]]}

    assert storable_json(value) == {"\ufffd": ["\ufffd", ["\ufffd", 1, 2.5, None, True]], "box": [[0, 1]]}
