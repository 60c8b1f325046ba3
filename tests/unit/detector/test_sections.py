"""Packed sections come back as they were, or not at all."""

import pytest

from pipeline.detector.sections import packed, unpacked
from pipeline.errors import ListDamaged, ListOutdated

ABOUT = {"engine": "x 1"}
SECTIONS = {"a": b"alpha", "empty": b"", "b": memoryview(bytes(range(17)))}


def test_sections_come_back_at_places_that_suit_numbers() -> None:
    data = packed(ABOUT, SECTIONS)

    back = unpacked(data, ABOUT)

    assert {name: bytes(section) for name, section in back.items()} == {
        name: bytes(section) for name, section in SECTIONS.items()
    }
    assert data.index(b"alpha") % 8 == 0


def test_no_bit_can_be_changed_unseen() -> None:
    data = packed(ABOUT, SECTIONS)

    for place in range(len(data)):
        damaged = bytearray(data)
        damaged[place] ^= 1
        with pytest.raises(ListDamaged):
            unpacked(bytes(damaged), ABOUT)


def test_what_is_cut_short_or_goes_on_is_refused() -> None:
    data = packed(ABOUT, SECTIONS)

    for length in range(len(data)):
        with pytest.raises(ListDamaged):
            unpacked(data[:length], ABOUT)
    with pytest.raises(ListDamaged):
        unpacked(data + b"\0", ABOUT)


def test_what_was_packed_for_another_release_is_refused_by_its_name() -> None:
    with pytest.raises(ListOutdated, match="engine x 1; this release reads format 2, engine x 2"):
        unpacked(packed(ABOUT, SECTIONS), {"engine": "x 2"})
