"""Reading what anybody may have written: sense or nothing, never an error."""

import pytest

from pipeline.queue import TaskState
from pipeline.queue.reading import snapshot_of, state_named, whole, words


def test_what_makes_sense_is_read() -> None:
    assert (words(b"ocr"), whole("42"), state_named("done")) == ("ocr", 42, TaskState.DONE)
    assert snapshot_of(b'{"timestamp": 1}') == {"timestamp": 1}


@pytest.mark.parametrize("text", [None, "", "x", "-1", "1.5", "9" * 19, "\u0664"])
def test_no_whole_number_is_nought(text: str | None) -> None:
    assert whole(text) == 0


@pytest.mark.parametrize("raw", [None, b"", b"x", b"[]", b"3", b"null", b"\xff", b"[" * 100_000])
def test_no_object_is_no_snapshot(raw: bytes | None) -> None:
    assert snapshot_of(raw) is None


def test_unknown_state_and_broken_text_raise_nothing() -> None:
    assert (state_named("lost"), state_named(None), words(None), words(b"\xff")) == (None, None, "", "\ufffd")
