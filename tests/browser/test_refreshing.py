"""What the dashboard does by itself: it asks again, quietly, and only while somebody looks."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.support.browsing import Visit
from tests.support.dashboard import Dashboard

pytestmark = pytest.mark.feature("H4")

#: ms; longer than the period of anything on the overview.
ROUND_MS = 20_000
DEVICES = [f"0a00000000{number:02x}" for number in range(1, 40)]


def on_fast_time(seen: Visit) -> Visit:
    """The overview, drawn; from then on time passes when `pass_time` says."""
    seen.page.clock.install()
    seen.open()
    seen.settle()
    seen.page.clock.pause_at(seen.page.evaluate("Date.now() / 1000 + 1"))
    seen.settle()
    return seen


def pass_time(seen: Visit) -> None:
    seen.page.clock.run_for(ROUND_MS)
    seen.settle()


def asked_of(seen: Visit) -> int:
    return len([url for url in seen.asked if "/api/" in url])


def test_a_page_asks_again_while_it_is_seen_and_not_while_it_is_hidden(
    dashboard: Dashboard, visit: Callable[..., Visit]
) -> None:
    seen = on_fast_time(visit(dashboard))
    before = asked_of(seen)
    pass_time(seen)
    assert asked_of(seen) > before

    seen.hide(True)
    seen.settle()
    before = asked_of(seen)
    for _ in range(5):
        pass_time(seen)
    assert asked_of(seen) == before

    seen.hide(False)
    seen.settle()
    assert asked_of(seen) > before


@pytest.mark.parametrize("width_px", [360, 1280])
def test_nothing_jumps_when_figures_change(dashboard: Dashboard, visit: Callable[..., Visit], width_px: int) -> None:
    dashboard.submit_text(DEVICES[0])
    dashboard.wait_for_snapshot()
    seen = on_fast_time(visit(dashboard, width_px=width_px))
    waiting = seen.page.get_by_role("row").filter(has_text="text").locator("td.number").first
    pass_time(seen)
    before = waiting.inner_text()
    seen.page.evaluate("jumps.length = 0")
    for mac in DEVICES:
        dashboard.submit_text(mac)
    dashboard.wait_for_snapshot()
    for _ in range(3):
        pass_time(seen)
    expect(waiting).not_to_have_text(before)
    assert seen.jumps() == []


def test_what_was_shown_stays_while_the_service_is_away_and_is_fresh_when_it_is_back(
    dashboard: Dashboard, visit: Callable[..., Visit]
) -> None:
    seen = on_fast_time(visit(dashboard))
    notice = seen.page.get_by_text("The service does not answer. What is shown may be old.").first
    seen.expect_fault("ERR_CONNECTION_REFUSED")
    seen.expect_fault("failed: ")
    figures = seen.page.locator(".figures dd").all_inner_texts()

    dashboard.web.stop()
    pass_time(seen)
    expect(notice).to_be_visible()
    assert seen.page.locator(".figures dd").all_inner_texts() == figures

    dashboard.start_web()
    pass_time(seen)
    expect(notice).not_to_be_visible()
    assert seen.page.locator(".figures dd").all_inner_texts() != []


def test_a_page_that_was_left_is_not_asked_for_any_more(dashboard: Dashboard, visit: Callable[..., Visit]) -> None:
    seen = on_fast_time(visit(dashboard))
    seen.page.evaluate("location.hash = '#/workers'")
    seen.settle()
    seen.asked.clear()
    pass_time(seen)
    assert not [url for url in seen.asked if "/api/stats" in url or "/api/alarms" in url]
