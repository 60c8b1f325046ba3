"""normalize_mac: any usual spelling in, one form out, nothing else let through."""

import pytest

from pipeline.errors import InvalidMac
from pipeline.mac import normalize_mac, spell_mac


@pytest.mark.feature("Q1")
@pytest.mark.parametrize(
    "spelling",
    [
        "AA:BB:CC:DD:EE:0F",
        "aa-bb-cc-dd-ee-0f",
        "aabb.ccdd.ee0f",
        "AABB-CCDD-EE0F",
        "AABBCCDDEE0F",
        "aa bb cc dd ee 0f",
        "  aa:bb:cc:dd:ee:0f\n",
    ],
)
def test_every_usual_spelling_becomes_twelve_lowercase_digits(spelling: str) -> None:
    assert normalize_mac(spelling) == "aabbccddee0f"


@pytest.mark.parametrize(
    "spelling",
    [
        "",
        "aa:bb:cc:dd:ee",
        "aa:bb:cc:dd:ee:0f:11",
        "aa:bb-cc:dd:ee:0f",
        "aa::bb:cc:dd:ee0f",
        "gg:bb:cc:dd:ee:0f",
        "aabbccddee0",
        "aa*",
        "１２:bb:cc:dd:ee:0f",
        "٠٠:bb:cc:dd:ee:0f",
        "aa:bb:cc:dd:ee:0f\x00",
        "a" * 10_000,
    ],
)
def test_everything_else_is_refused_with_the_name_of_the_field(spelling: str) -> None:
    with pytest.raises(InvalidMac) as refused:
        normalize_mac(spelling, field="/tasks/3/mac")

    assert refused.value.problems[0].pointer == "/tasks/3/mac"
    assert not spelling or spelling not in str(refused.value)


def test_people_read_pairs_with_colons() -> None:
    assert spell_mac("aabbccddee0f") == "aa:bb:cc:dd:ee:0f"
