"""The pages of the announcements and of the audit."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.support.browsing import Visit
from tests.support.callers import made_key
from tests.support.dashboard import Dashboard

pytestmark = pytest.mark.feature("H4")


def test_what_failed_is_filtered_chosen_and_made_again(dashboard: Dashboard, visit: Callable[..., Visit]) -> None:
    failed = dashboard.failed_deliveries("0b0000000001", 3)
    page = visit(dashboard).open("#/announcements", title="Announcements").page
    page.get_by_label("State").select_option("failed")
    page.get_by_label("Device").fill("0b:00:00:00:00:01")
    page.get_by_role("button", name="Filter", exact=True).click()
    rows = page.get_by_role("row").filter(has_text="its reply was 500")
    expect(rows).to_have_count(3)
    assert "state=failed" in page.url

    page.get_by_label(f"Choose {failed[0]}", exact=True).check()
    page.get_by_role("button", name="Replay the 1 chosen").click()
    expect(page.get_by_role("dialog")).to_contain_text("1 announcements will be made again.")
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    expect(rows).to_have_count(3)

    page.get_by_role("button", name="Replay the 1 chosen").click()
    page.get_by_role("dialog").get_by_role("button", name="Replay").click()
    expect(page.get_by_text("1 announcements are made again.")).to_be_visible()
    expect(rows).to_have_count(2)

    page.get_by_role("button", name="Replay those of the filter").click()
    page.get_by_role("dialog").get_by_role("button", name="Replay").click()
    expect(page.get_by_text("2 announcements are made again.")).to_be_visible()
    expect(rows).to_have_count(0)
    page.goto(f"{dashboard.base_url}/#/audit")
    expect(page.get_by_role("row").filter(has_text="POST /api/deliveries/replay").first).to_contain_text("0b0000000001")


def test_one_announcement_is_shown_in_full(dashboard: Dashboard, visit: Callable[..., Visit]) -> None:
    (failed,) = dashboard.failed_deliveries("0b0000000002", 1)
    page = visit(dashboard).open("#/announcements", title="Announcements").page
    page.get_by_role("link", name=str(failed), exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Announcement {failed}")
    expect(page.locator("pre")).to_contain_text("task_id")
    expect(page.get_by_text("its reply was 500")).to_be_visible()
    page.get_by_role("button", name="Replay", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Replay").click()
    expect(page.get_by_text("on its way")).to_be_visible()


def test_pages_of_announcements_lead_on_and_back(dashboard: Dashboard, visit: Callable[..., Visit]) -> None:
    newest = dashboard.failed_deliveries("0b0000000003", 60)[-1]
    page = visit(dashboard).open("#/announcements?mac=0b0000000003", title="Announcements").page
    expect(page.get_by_role("row")).to_have_count(51)
    page.get_by_role("button", name="Older").click()
    expect(page.get_by_role("row")).to_have_count(11)
    page.get_by_role("button", name="Newer").click()
    expect(page.get_by_role("link", name=str(newest), exact=True)).to_be_visible()


def test_who_may_only_look_makes_nothing_again(keyed: Dashboard, visit: Callable[..., Visit]) -> None:
    keyed.failed_deliveries("0b0000000001", 1)
    key = made_key(keyed.settings.effective_database_url, role="viewer", site="local")
    page = visit(keyed, key).open("#/announcements", title="Announcements").page
    expect(page.get_by_role("row").filter(has_text="its reply was 500")).to_have_count(1)
    expect(page.get_by_role("button", name="Replay")).to_have_count(0)
    expect(page.get_by_role("checkbox")).to_have_count(0)
