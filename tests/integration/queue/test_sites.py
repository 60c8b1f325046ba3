"""Two levels: sites share the lane, devices share their site."""

import pytest

from pipeline.errors import InvalidInput
from pipeline.queue import Task
from pipeline.queue.types import DeviceRules
from tests.support.line import BLUE, GREEN, RED, Line


def shares(line: Line, count: int, cost_ms: int = 100) -> dict[str, float]:
    """The share of each site in the next `count` tasks, all of one cost."""
    served: dict[str, int] = {}
    for _ in range(count):
        claim = line.claim()
        line.clock.advance(cost_ms)
        line.queue.complete(claim.task_id, claim.token, cost_ms=cost_ms)
        served[claim.site] = served.get(claim.site, 0) + 1
    return {site: number / count for site, number in served.items()}


@pytest.mark.feature("Q5")
def test_a_site_gains_nothing_by_inventing_devices(line: Line) -> None:
    for number in range(100):
        line.submit(f"{number:012x}", 3, site="crowd")
    line.submit(RED, 150, site="single")

    assert shares(line, 200) == pytest.approx({"crowd": 0.5, "single": 0.5}, abs=0.02)


@pytest.mark.feature("Q5")
def test_the_weight_of_a_site_acts_on_the_backlog_that_is_there(line: Line) -> None:
    line.submit(RED, 190, site="one")
    line.submit(BLUE, 190, site="three")
    line.drain(20, cost_ms=100)

    line.queue.set_site("three", weight=3)

    assert shares(line, 160) == pytest.approx({"one": 0.25, "three": 0.75}, abs=0.03)
    line.assert_books_balance()


@pytest.mark.feature("Q5")
def test_the_weight_of_a_device_acts_within_its_site_only(line: Line) -> None:
    line.submit(RED, 190, site="one")
    line.submit(BLUE, 190, site="one")
    line.submit(GREEN, 190, site="two")
    line.queue.set_device(RED, DeviceRules(weight=3))

    served = {RED: 0, BLUE: 0, GREEN: 0}
    for _ in range(200):
        claim = line.claim()
        line.clock.advance(100)
        line.queue.complete(claim.task_id, claim.token, cost_ms=100)
        served[claim.mac] += 1

    assert served[GREEN] == pytest.approx(100, abs=4)
    assert served[RED] == pytest.approx(75, abs=4)


def test_a_new_site_is_served_next_beside_one_that_was_alone(line: Line) -> None:
    line.submit(RED, 150, site="old")
    line.drain(20)
    (newcomer,) = line.submit(BLUE, site="new")

    assert newcomer in line.drain(2)


def test_a_device_with_work_stays_with_its_site(line: Line) -> None:
    line.submit(RED, site="first")
    line.queue.enqueue(Task("other", "ocr", RED, line.clock.now_ms(), site="second"))

    assert [line.claim().site for _ in range(2)] == ["first", "first"]
    line.assert_books_balance()


@pytest.mark.feature("Q4")
def test_aging_serves_the_oldest_head_of_all_sites(aging: Line) -> None:
    order = []
    for mac, site in ((BLUE, "two"), (RED, "one"), (GREEN, "two")):
        order += aging.submit(mac, site=site)
        aging.clock.advance(1_000)

    assert aging.drain(3) == order


@pytest.mark.parametrize("weight", [0, -1, 1e-9, 1e9, float("nan"), float("inf")])
def test_absurd_weights_are_refused_and_change_nothing(line: Line, weight: float) -> None:
    with pytest.raises(InvalidInput, match="/weight"):
        line.queue.set_site("one", weight=weight)
    with pytest.raises(InvalidInput, match="/weight"):
        line.queue.set_device(RED, DeviceRules(weight=weight))

    assert line.snapshot() == {}


@pytest.mark.feature("Q5")
def test_a_new_site_is_served_before_one_that_holds_many_slots_already(line: Line) -> None:
    line.submit(RED, 20, site="old")
    for _ in range(10):
        line.claim()
    line.submit(BLUE, site="new")

    assert line.claim().site == "new"
