"""What crosses the border between a child and its parent."""

import pickle

import pytest

from pipeline.errors import DeviceBacklogFull, EngineCrashed, FieldProblem, ImageTooLarge, InvalidInput, InvalidMac
from pipeline.ocr import child
from pipeline.ocr.types import OcrLine, OcrResult


@pytest.mark.parametrize("kind", [InvalidInput, InvalidMac])
def test_invalid_input_keeps_its_fields_between_processes(kind: type[InvalidInput]) -> None:
    error = pickle.loads(pickle.dumps(kind([FieldProblem("/mac", "is missing")])))

    assert type(error) is kind
    assert error.problems == (FieldProblem("/mac", "is missing"),)
    assert str(error) == "/mac: is missing"


def test_overload_keeps_its_pause_between_processes() -> None:
    error = pickle.loads(pickle.dumps(DeviceBacklogFull("full", retry_after_ms=4_000)))

    assert (type(error), str(error), error.retry_after_ms) == (DeviceBacklogFull, "full", 4_000)


def test_bad_image_keeps_its_reason_between_processes() -> None:
    error = pickle.loads(pickle.dumps(ImageTooLarge("too large")))

    assert (type(error), str(error)) == (ImageTooLarge, "too large")


def test_result_is_the_same_on_the_other_side() -> None:
    line = OcrLine("text", 0.5, ((0, 0), (1, 0), (1, 1), (0, 1)))
    result = OcrResult((line, line), 10, 20, 0.5, "engine", "model", {"decode": 1, "read": 2})

    assert pickle.loads(pickle.dumps(result)) == result
    assert (result.text, result.line_count, result.mean_confidence) == ("text\ntext", 2, 0.5)


@pytest.mark.parametrize("call", [child.ready, lambda: child.read(b"")])
def test_process_that_was_never_begun_reads_nothing(call: object) -> None:
    with pytest.raises(EngineCrashed, match="never begun"):
        call()  # type: ignore[operator]
