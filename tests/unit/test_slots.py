"""What a worker process may claim now."""

from pipeline.queue import Claim
from pipeline.slots import Slots


def claim_of(token: int) -> Claim:
    return Claim(f"t{token}", "ocr", "aabbccddeeff", "local", token, 0)


def test_lane_is_claimed_until_its_slots_are_full() -> None:
    slots = Slots()
    slots.open({"ocr": 2})
    assert slots.room("ocr") == 2
    slots.fill([claim_of(1)])
    assert slots.room("ocr") == 1

    slots.fill([claim_of(2)])

    assert not slots.room("ocr")
    assert slots.room("text")


def test_freed_slot_may_be_filled_again() -> None:
    slots = Slots()
    slots.fill([claim_of(1)])

    slots.free([claim_of(1)])

    assert slots.room("ocr")
    assert slots.claims() == []


def test_every_hold_must_be_released_before_a_lane_is_claimed_again() -> None:
    slots = Slots()
    slots.hold("host over its CPU watermark")
    slots.hold("needs a GPU", ["ocr"])
    assert slots.holds("ocr") == ["host over its CPU watermark", "needs a GPU"]

    slots.release("host over its CPU watermark")

    assert not slots.room("ocr")
    assert slots.room("text")
    slots.release("needs a GPU")
    assert slots.room("ocr")


def test_closed_slots_stay_closed() -> None:
    slots = Slots()
    slots.close()

    assert not slots.room("ocr", wait_s=60)


def test_same_task_held_twice_fills_two_slots() -> None:
    slots = Slots()
    slots.open({"ocr": 2})
    for token in (1, 2):
        slots.fill([Claim("same", "ocr", "aabbccddeeff", "local", token, 0)])

    slots.free([Claim("same", "ocr", "aabbccddeeff", "local", 1, 0)])

    assert [held.token for held in slots.claims()] == [2]


def test_a_slot_that_holds_several_is_free_once_all_are_gone() -> None:
    slots = Slots()
    several = [claim_of(number) for number in (5, 6, 7)]
    slots.fill(several)
    assert (slots.in_use(), len(slots.claims()), slots.room("ocr")) == (1, 3, 0)

    slots.free(several[:2])
    assert (slots.in_use(), len(slots.claims()), slots.room("ocr")) == (1, 1, 0)

    slots.free(several[2:])
    assert (slots.in_use(), len(slots.claims()), slots.room("ocr")) == (0, 0, 1)


def test_each_change_of_a_hold_is_told_to_whoever_watches() -> None:
    slots = Slots()
    seen: list[list[str]] = []
    slots.watch(lambda: seen.append(slots.holds("ocr")))

    slots.hold("needs a GPU", ["ocr"])
    slots.release("needs a GPU")
    slots.close()

    assert seen == [["needs a GPU"], [], []]
