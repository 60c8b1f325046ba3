"""The pages of dead letters: what died, whether it can run again, and that it does."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.support.browsing import Visit
from tests.support.callers import made_key
from tests.support.dashboard import Dashboard
from tests.support.shown_tasks import HOSTILE, ShownTasks

pytestmark = pytest.mark.feature("H4")


@pytest.fixture(scope="module")
def tasks(dashboard: Dashboard) -> ShownTasks:
    return ShownTasks(dashboard)


def test_what_died_is_seen_and_run_again_from_the_overview(
    dashboard: Dashboard, tasks: ShownTasks, visit: Callable[..., Visit]
) -> None:
    task_id = tasks.dead("0d0000000001")
    page = visit(dashboard).open().page
    page.locator(".figure").filter(has_text="Dead letters").get_by_role("link").click()
    row = page.get_by_role("row").filter(has_text=task_id)
    expect(row).to_contain_text("The engine took too long")
    expect(row).to_contain_text("can run again")

    row.get_by_role("checkbox").check()
    page.get_by_role("button", name="Replay 1 chosen").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("run again: 1.")
    dialog.get_by_role("button", name="Cancel").click()
    expect(row).to_contain_text("can run again")
    page.get_by_role("button", name="Replay 1 chosen").click()
    dialog.get_by_role("button", name="Replay").click()
    expect(page.get_by_text("Tasks that will run again: 1.")).to_be_visible()

    page.get_by_label("Replay", exact=True).select_option("replayed")
    expect(row).to_contain_text("replayed")
    row.get_by_role("link", name=task_id).click()
    expect(page.get_by_text("Why it waits")).to_be_visible()


def test_all_that_match_are_counted_before_they_are_dropped(
    dashboard: Dashboard, tasks: ShownTasks, visit: Callable[..., Visit]
) -> None:
    for _ in range(3):
        tasks.dead("0d0000000002")
    tasks.dead("0d0000000003")
    page = visit(dashboard).open("#/dead-letters", title="Dead letters").page
    page.get_by_label("Device").fill("0D-00-00-00-00-02")
    page.get_by_label("Device").press("Enter")
    expect(page.get_by_text("Dead letters: 3")).to_be_visible()
    page.get_by_role("button", name="Drop all that match").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("deleted for good: 3.")
    dialog.get_by_role("button", name="Drop").click()
    expect(page.get_by_text("Dead letters that were dropped: 3.")).to_be_visible()
    expect(page.get_by_text("No dead letter matches.")).to_be_visible()
    page.get_by_role("button", name="Clear filters").click()
    expect(page.get_by_role("row").filter(has_text="0d:00:00:00:00:03")).to_have_count(1)


def test_a_replay_tells_how_many_are_left_and_what_was_refused(
    dashboard: Dashboard, tasks: ShownTasks, visit: Callable[..., Visit]
) -> None:
    for _ in range(40):
        tasks.dead("0d0000000004", code="worker_crash")
    page = visit(dashboard).open("#/dead-letters?mac=0d0000000004", title="Dead letters").page
    page.get_by_role("button", name="Replay all that match").click()
    page.get_by_role("dialog").get_by_role("button", name="Replay").click()
    expect(page.get_by_text("Tasks that will run again: 40.")).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="replayed").first).to_be_visible()


def test_one_letter_is_shown_in_full_and_dropped(
    dashboard: Dashboard, tasks: ShownTasks, visit: Callable[..., Visit]
) -> None:
    task_id = tasks.dead("0d0000000005", code="something_new")
    page = visit(dashboard).open(f"#/dead-letters?task_id={task_id}", title="Dead letters").page
    page.get_by_role("row").filter(has_text=task_id).get_by_role("link").first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Dead letter ")
    expect(page.get_by_text("something_new").first).to_be_visible()
    page.get_by_text("Raw JSON").click()
    expect(page.locator("pre")).to_contain_text("有事请说")
    page.get_by_role("button", name="Drop").click()
    page.get_by_role("dialog").get_by_role("button", name="Drop").click()
    expect(page.get_by_text("Dead letters that were dropped: 1.")).to_be_visible()


def test_who_may_only_look_is_offered_nothing_to_do(keyed: Dashboard, visit: Callable[..., Visit]) -> None:
    task_id = ShownTasks(keyed).dead("0d0000000006")
    key = made_key(keyed.settings.effective_database_url, role="viewer", site="local")
    page = visit(keyed, key).open("#/dead-letters", title="Dead letters").page
    row = page.get_by_role("row").filter(has_text=task_id)
    expect(row).to_be_visible()
    for name in ("Replay", "Drop", "Choose"):
        expect(page.get_by_role("button", name=name)).to_have_count(0)
    row.get_by_role("link").first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Dead letter ")
    expect(page.get_by_role("button", name="Drop")).to_have_count(0)


@pytest.mark.parametrize("width_px", [1280, 360])
def test_whatever_killed_a_task_is_only_ever_text(
    dashboard: Dashboard, tasks: ShownTasks, visit: Callable[..., Visit], width_px: int
) -> None:
    for text in HOSTILE:
        tasks.dead(f"0d00000{width_px:05d}", message=text)
    seen = visit(dashboard, width_px=width_px)
    seen.open(f"#/dead-letters?mac=0d00000{width_px:05d}", title="Dead letters")
    expect(seen.page.get_by_text("alert(1)").first).to_be_visible()
    assert seen.overflow_px() <= 0
    addresses = seen.page.locator("tbody a[href^='#/dead-letters/']").evaluate_all(
        "all => all.map((each) => each.hash)"
    )
    assert len(addresses) == len(HOSTILE)
    for address in addresses:
        seen.open(address)
        expect(seen.page.locator(".refusal .said")).to_be_visible()
        seen.page.locator("summary").click()
        assert seen.page.locator("main script, main img[src=x], main [onload], main [onerror]").count() == 0
        assert seen.overflow_px() <= 0, address
