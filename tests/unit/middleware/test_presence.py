"""Slots: what can really run at once."""

import pytest

from pipeline.middleware.presence import condition_of, slots_of
from pipeline.slots import Slots
from pipeline.workers.registry import Condition
from pipeline.workers.sampler import HostFigures


@pytest.mark.feature("S3")
def test_an_ocr_worker_counts_its_engine_slots_whatever_its_threads() -> None:
    assert slots_of(["ocr"], threads=8, engine_slots=1) == {"ocr": 1}


def test_more_engine_slots_than_threads_cannot_be_used() -> None:
    assert slots_of(["ocr"], threads=2, engine_slots=4) == {"ocr": 2}


def test_a_text_worker_counts_its_threads() -> None:
    assert slots_of(["text"], threads=8, engine_slots=1) == {"text": 8}


def test_texts_get_the_threads_that_images_leave() -> None:
    assert slots_of(["ocr", "text"], threads=8, engine_slots=2) == {"ocr": 2, "text": 6}
    assert slots_of(["ocr", "text"], threads=1, engine_slots=1) == {"ocr": 1, "text": 1}


@pytest.mark.feature("R4")
def test_announcements_beside_other_work_hold_a_third_of_the_threads() -> None:
    assert slots_of(["notify", "text"], threads=6, engine_slots=1) == {"notify": 2, "text": 4}
    assert slots_of(["ocr", "text", "notify"], threads=8, engine_slots=1) == {"ocr": 1, "text": 5, "notify": 2}
    assert slots_of(["notify"], threads=6, engine_slots=1) == {"notify": 6}


def test_a_worker_is_held_when_no_lane_of_its_own_is_claimed() -> None:
    slots = Slots()
    slots.hold("needs a GPU", ["ocr"])

    assert condition_of(slots, ["text"], HostFigures()) == Condition(0)
    assert condition_of(slots, ["ocr"], HostFigures()) == Condition(0, ("needs a GPU",), is_held=True)
    assert condition_of(slots, ["ocr", "text"], HostFigures()) == Condition(0, ("ocr: needs a GPU",))


def test_a_closed_worker_is_stopping_whatever_else_holds_it() -> None:
    slots = Slots()
    slots.hold("needs a GPU")
    slots.close()

    assert condition_of(slots, ["text"], HostFigures()) == Condition(0, ("stopping",), is_held=True)
