"""Pages: what waits and what runs, a bounded piece at a time."""

import pytest

from pipeline.queue.pages import DeviceState, InFlight, Pages
from pipeline.queue.types import DeviceRules
from tests.support.line import BLUE, GREEN, RED, Line


@pytest.fixture
def pages(line: Line) -> Pages:
    return Pages(line.client, line.rules)


@pytest.mark.feature("Q4")
def test_a_device_is_shown_with_its_line_its_rules_and_its_score(line: Line, pages: Pages) -> None:
    line.queue.set_device(RED, DeviceRules(weight=2, max_inflight=3))
    line.submit(RED, 3)
    line.claim()
    line.clock.advance(700_000)

    assert pages.device(RED, "ocr", now_ms=line.clock.now_ms()) == DeviceState(
        mac=RED,
        site="local",
        lane="ocr",
        waiting=2,
        in_flight=1,
        pending=3,
        oldest_ms=line.clock.now_ms() - 700_000,
        score=600.0,
        weight=2.0,
        max_inflight=3,
        rate_per_minute=None,
        is_paused=False,
        unschedulable_until_ms=0,
    )


def test_devices_come_longest_waiting_first_a_page_at_a_time(line: Line, pages: Pages) -> None:
    for mac in (BLUE, RED, GREEN):
        line.submit(mac)
        line.clock.advance(1_000)

    first, second = (pages.devices("ocr", now_ms=0, offset=offset, limit=2) for offset in (0, 2))

    assert [device.mac for device in [*first, *second]] == [BLUE, RED, GREEN]


def test_a_line_is_shown_in_the_order_of_service(line: Line, pages: Pages) -> None:
    ids = line.submit(RED, 5)

    assert pages.waiting(RED, "ocr", offset=1, limit=3) == ids[1:4]


def test_what_is_in_flight_is_shown_with_the_end_of_its_lease(line: Line, pages: Pages) -> None:
    line.submit(RED)
    claim = line.claim()

    assert pages.in_flight("ocr") == [InFlight(claim.task_id, claim.lease_ends_ms)]


@pytest.mark.parametrize(("offset", "limit"), [(-1, 10), (0, 0), (0, 501)])
def test_an_unbounded_page_is_refused(pages: Pages, offset: int, limit: int) -> None:
    with pytest.raises(ValueError, match="page"):
        pages.waiting(RED, "ocr", offset=offset, limit=limit)
