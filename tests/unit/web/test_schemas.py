"""Request schemas list every fault by its place and repeat no content."""

import pytest

from pipeline.errors import InvalidInput, InvalidMac
from pipeline.submission import Rules
from web.schemas import ImageTask, Report, TextBatch, TextTask, validated

RULES = Rules(text_max_chars=10, words_max=3)
GOOD = {"mac": "aa:bb:cc:dd:ee:ff", "text": "hello"}


def faults(model, data, at=""):
    with pytest.raises(InvalidInput) as caught:
        validated(model, data, RULES, at=at)
    return {problem.pointer: problem.detail for problem in caught.value.problems}


def test_a_good_task_keeps_what_was_given():
    task = validated(TextTask, {**GOOD, "words": ["a"], "task_id": "t1"}, RULES)
    assert (task.mac, task.text, task.words, task.task_id, task.detection_id) == (
        GOOD["mac"],
        "hello",
        ["a"],
        "t1",
        None,
    )


def test_every_fault_is_listed():
    found = faults(TextTask, {"text": 123, "words": ["a", 1], "status": "approved", "task_id": "no spaces"})
    assert set(found) == {"/mac", "/text", "/words/1", "/status", "/task_id"}
    assert found["/mac"] == "is required"
    assert found["/text"] == "must be a string"
    assert found["/status"] == "is not a known field"


@pytest.mark.parametrize("data", [[], "x", 1, None, True])
def test_what_is_not_an_object_is_refused(data):
    assert faults(TextTask, data) == {"": "must be an object"}


@pytest.mark.parametrize("text", ["", "a\x00b", "\ud800", "x" * 11, None, ["x"], True])
def test_a_text_must_be_a_storable_string_in_bounds(text):
    assert list(faults(TextTask, {**GOOD, "text": text})) == ["/text"]


def test_a_wrong_mac_alone_has_its_own_error():
    with pytest.raises(InvalidMac):
        validated(TextTask, {**GOOD, "mac": "ａａ:bb:cc:dd:ee:ff"}, RULES)


@pytest.mark.parametrize("name", ["<script>", "\ud800", "a" * 65, "a/b", "a b"])
def test_odd_names_of_unknown_fields_are_not_repeated(name):
    assert list(faults(TextTask, {**GOOD, name: 1})) == [""]


def test_no_detail_repeats_the_content():
    found = faults(TextTask, {"mac": "hush", "text": {"hush": 1}, "words": "hush", "task_id": "hush hush"})
    assert "hush" not in str(found)


def test_too_many_words_are_one_fault():
    assert faults(TextTask, {**GOOD, "words": [1] * 1000}) == {"/words": "must be at most 3 words"}


def test_too_many_fields_are_one_fault():
    assert faults(TextTask, {str(i): i for i in range(1000)}) == {"": "has too many fields"}


def test_pointers_start_where_the_data_stands():
    assert list(faults(TextTask, {"mac": GOOD["mac"]}, at="/tasks/3")) == ["/tasks/3/text"]


@pytest.mark.parametrize("tasks", [[], [{}] * 101, {}, None])
def test_a_batch_holds_one_to_a_hundred_tasks(tasks):
    assert list(faults(TextBatch, {"tasks": tasks})) == ["/tasks"]


def test_an_image_task_needs_its_image():
    assert list(faults(ImageTask, {"mac": GOOD["mac"], "image_url": "x"})) == ["/image_base64", "/image_url"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("score", 1.5),
        ("score", "1"),
        ("score", True),
        ("occurred_ms", -1),
        ("occurred_ms", 10**18),
        ("occurred_ms", 1.5),
        ("label", "x" * 201),
        ("type", "a\x00"),
        ("detection_id", None),
    ],
)
def test_a_report_keeps_its_bounds(field, value):
    good = {"mac": GOOD["mac"], "detection_id": "d1"}
    assert list(faults(Report, {**good, field: value})) == [f"/{field}"]
