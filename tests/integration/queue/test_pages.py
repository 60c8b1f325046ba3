"""Pages: what waits and what runs, a bounded piece at a time."""

import math

import pytest

from pipeline.queue.device_states import Listed
from pipeline.queue.pages import InFlight, Pages
from pipeline.queue.types import DeviceRules
from tests.support.line import BLUE, GREEN, RED, Line


@pytest.fixture
def pages(line: Line) -> Pages:
    return Pages(line.client, line.rules, line.clock)


def macs_of(places: list[Listed]) -> list[str]:
    return [place.mac for place in places]


@pytest.mark.feature("Q4", "Q18")
def test_a_device_is_shown_with_its_lines_its_rules_and_its_score(line: Line, pages: Pages) -> None:
    line.queue.set_device(RED, DeviceRules(weight=2, max_inflight=3, paused_lanes=frozenset({"text"})))
    line.submit(RED, 3)
    line.claim()
    line.clock.advance(700_000)

    (red,) = pages.states([RED])

    assert (red.mac, red.site, red.pending, red.weight, red.max_inflight) == (RED, "local", 3, 2.0, 3)
    assert (red.rate_per_minute, red.is_paused, red.paused_lanes) == (None, False, {"text"})
    ocr = red.line("ocr")
    assert (ocr.waiting, ocr.in_flight, ocr.wait_ms, ocr.score) == (2, 1, 700_000, 600.0)
    assert (ocr.gate, ocr.is_starved, ocr.unschedulable_until_ms) == ("", True, 0)
    assert (red.line("text").gate, red.line("text").waiting, red.line("text").is_starved) == ("paused", 0, False)


def test_a_device_that_nobody_knows_is_shown_with_nothing(pages: Pages) -> None:
    (red,) = pages.states([RED])

    assert (red.site, red.pending, red.weight) == ("", 0, 1.0)
    assert {(each.waiting, each.wait_ms, each.listed_ms, each.share, each.due_share) for each in red.lines} == {
        (0, None, None, None, None)
    }


@pytest.mark.feature("Q6")
@pytest.mark.parametrize(
    ("rules", "gate"), [(DeviceRules(is_paused=True), "paused"), (DeviceRules(max_inflight=1), "capped")]
)
def test_who_must_not_be_served_does_not_starve(line: Line, pages: Pages, rules: DeviceRules, gate: str) -> None:
    line.submit(RED, 2)
    line.claim()
    line.queue.set_device(RED, rules)
    line.clock.advance(31_000)

    ocr = pages.states([RED])[0].line("ocr")

    assert (ocr.gate, ocr.is_starved) == (gate, False)


@pytest.mark.feature("Q5")
def test_shares_are_of_what_the_site_was_given_of_late(line: Line, pages: Pages) -> None:
    line.queue.set_device(RED, DeviceRules(weight=3))
    line.submit(RED, 40)
    line.submit(BLUE, 40)
    line.submit("cc0000000009@north", 10, site="north")
    line.drain(40)

    red, blue = (device.line("ocr") for device in pages.states([RED, BLUE]))

    assert red.share == pytest.approx(0.75, abs=0.05)
    assert red.share + blue.share == pytest.approx(1.0, abs=0.001)
    assert (red.due_share, blue.due_share) == (0.75, 0.25)


def test_a_share_fades_when_others_go_on(line: Line, pages: Pages) -> None:
    line.submit(RED)
    line.submit(BLUE)
    line.drain(2, cost_ms=5_000)
    line.clock.advance(600_000)
    line.submit(BLUE)
    line.drain(1, cost_ms=5_000)

    red, blue = (device.line("ocr") for device in pages.states([RED, BLUE]))

    assert red.share == pytest.approx(1 / (2 + math.e), abs=0.01)
    assert (blue.share > 0.7, red.due_share) == (True, None)


def test_places_come_longest_waiting_first_a_page_at_a_time(line: Line, pages: Pages) -> None:
    for mac in (BLUE, RED, GREEN):
        line.submit(mac)
        line.clock.advance(1_000)

    first = pages.listed(["ocr"], limit=2)

    assert macs_of([*first, *pages.listed(["ocr"], after=first[-1], limit=2)]) == [BLUE, RED, GREEN]


def test_pages_among_devices_of_one_instant_miss_nobody(line: Line, pages: Pages) -> None:
    macs = [f"{number:012x}" for number in range(20)]
    for number, mac in enumerate(macs):
        line.submit(mac, lane="ocr" if number % 3 else "text")
    seen: list[Listed] = []

    while page := pages.listed(["ocr", "text"], after=seen[-1] if seen else None, limit=3):
        seen += page

    assert sorted(macs_of(seen)) == macs
    assert seen == sorted(seen)


@pytest.mark.feature("H3")
def test_a_site_has_an_index_of_its_own(line: Line, pages: Pages) -> None:
    for number in range(5):
        line.submit(f"{number:012x}@north", site="north")
    line.submit(RED, site="south")

    assert macs_of(pages.listed(["ocr", "text"], site="south")) == [RED]
    assert len(pages.listed(["ocr"], site="north")) == 5

    line.drain(6)

    assert pages.listed(["ocr"], site="south") == pages.listed(["ocr"]) == []


def test_what_no_fairlane_wrote_is_passed_over(line: Line, pages: Pages) -> None:
    line.submit(RED)
    line.client.zadd(pages._keys.oldest("ocr"), {"a b": 1, b"\xff\xfe": 2, "x" * 99: 3})
    line.client.hset(pages._keys.meta(RED), mapping={"weight": "nan", "max_inflight": "x", "pending_count": "1e999"})

    (place,) = pages.listed(["ocr"])
    (red,) = pages.states([place.mac])

    assert (red.mac, red.weight, red.max_inflight, red.pending) == (RED, 1.0, None, 0)


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
    with pytest.raises(ValueError, match="page"):
        pages.listed(["ocr"], limit=501)
