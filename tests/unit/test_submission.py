"""The rules that every submitted field must keep."""

from dataclasses import replace

import pytest

from pipeline.errors import InvalidInput, InvalidMac
from pipeline.submission import ImageSubmission, Rules, TextSubmission, checked_mac, content_hash

RULES = Rules(text_max_chars=10, words_max=2)
GOOD = TextSubmission(mac="AA-BB-CC-DD-EE-FF", text="hello", words=("a", "b"), task_id="t_1-A", detection_id="d1")
MAC = "aabbccddeeff"


def pointers(submission):
    with pytest.raises(InvalidInput) as caught:
        checked_mac(submission, RULES)
    return [problem.pointer for problem in caught.value.problems]


def test_a_good_submission_gives_the_normalised_mac():
    assert checked_mac(GOOD, RULES) == MAC


@pytest.mark.parametrize(
    ("field", "value", "pointer"),
    [
        ("text", "", "/text"),
        ("text", "x" * 11, "/text"),
        ("text", "a\x00b", "/text"),
        ("text", "a\ud800", "/text"),
        ("words", ("a", "b", "c"), "/words"),
        ("words", ("a", ""), "/words/1"),
        ("words", ("\udfff",), "/words/0"),
        ("words", ("w" * 201,), "/words/0"),
        ("task_id", "", "/task_id"),
        ("task_id", "a/b", "/task_id"),
        ("task_id", "a" * 65, "/task_id"),
        ("task_id", "abc\n", "/task_id"),
        ("task_id", "１２", "/task_id"),
        ("detection_id", "é", "/detection_id"),
    ],
)
def test_each_fault_is_named_by_its_place(field, value, pointer):
    assert pointers(replace(GOOD, **{field: value})) == [pointer]


def test_every_fault_is_listed_not_only_the_first():
    assert set(pointers(TextSubmission(mac="zz", text="", task_id="?"))) == {"/mac", "/text", "/task_id"}


def test_a_fault_of_the_mac_alone_has_its_own_error():
    with pytest.raises(InvalidMac):
        checked_mac(replace(GOOD, mac="*:*:*:*:*:*"), RULES)


def test_no_fault_repeats_the_value():
    with pytest.raises(InvalidInput) as caught:
        checked_mac(TextSubmission(mac="secret-mac", text="secret-text", task_id="secret id"), RULES)
    assert "secret" not in str(caught.value)


def test_equal_submissions_have_equal_hashes():
    assert content_hash(GOOD, MAC) == content_hash(replace(GOOD, mac="aabb.ccdd.eeff", task_id="other"), MAC)


@pytest.mark.parametrize(
    "change",
    [
        {"text": "hello!"},
        {"words": ("ab",)},
        {"words": ("b", "a")},
        {"detection_id": "d2"},
        {"detection_id": None},
        {"site": "elsewhere"},
    ],
)
def test_any_change_of_the_work_changes_the_hash(change):
    assert content_hash(GOOD, MAC) != content_hash(replace(GOOD, **change), MAC)


def test_an_image_and_a_text_of_the_same_bytes_differ():
    image = ImageSubmission(mac=MAC, image=b"hello")
    assert content_hash(image, MAC) != content_hash(TextSubmission(mac=MAC, text="hello"), MAC)


def test_the_hash_depends_on_the_device():
    assert content_hash(GOOD, MAC) != content_hash(GOOD, "0" * 12)
