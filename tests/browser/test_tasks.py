"""The pages of tasks: found, filtered, explained, shown."""

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.support.browsing import Visit
from tests.support.callers import made_key
from tests.support.dashboard import Dashboard
from tests.support.shown_tasks import HOSTILE, ShownTasks

pytestmark = pytest.mark.feature("H4")

#: What the browser notes when a word that could be a task's id is none.
NO_TASK = "404 (Not Found)"


@pytest.fixture(scope="module")
def tasks(dashboard: Dashboard) -> ShownTasks:
    return ShownTasks(dashboard)


def test_why_a_task_waits_is_told_in_two_clicks(
    dashboard: Dashboard, tasks: ShownTasks, visit: Callable[..., Visit]
) -> None:
    task_id = tasks.waiting("0c0000000001")
    page = visit(dashboard).open().page
    page.get_by_role("navigation").get_by_role("link", name="Tasks").click()
    page.get_by_role("link", name=task_id).click()
    expect(page.get_by_text("No live worker can do it. It waits until one starts.")).to_be_visible()
    expect(page.get_by_text("nobody can say")).to_be_visible()


def test_what_was_found_today_is_one_click_away(
    dashboard: Dashboard, tasks: ShownTasks, visit: Callable[..., Visit]
) -> None:
    task_id = tasks.done_text("0c0000000002", "兼职刷单日结", "刷单")
    page = visit(dashboard).open().page
    page.get_by_role("link", name="ended today").click()
    expect(page.get_by_role("row").filter(has_text=task_id)).to_contain_text("刷单")
    assert "hit=true" in page.url


@pytest.mark.parametrize(
    ("typed", "kind", "asked"),
    [
        ("AA-BB-CC-00-11-21", "device (MAC)", "mac=AA-BB-CC-00-11-21"),
        ("Ab" * 32, "hash of an image", f"image_sha256={'ab' * 32}"),
        ("兼职刷单", "text that was found", "text="),
        ("loan", "text that was found", "text=loan"),
    ],
)
def test_the_search_box_says_what_it_takes_a_text_for(
    dashboard: Dashboard, visit: Callable[..., Visit], typed: str, kind: str, asked: str
) -> None:
    seen = visit(dashboard).open("#/tasks", title="Tasks")
    seen.page.get_by_role("searchbox").fill(typed)
    with seen.page.expect_request(lambda request: asked in request.url):
        seen.page.get_by_role("searchbox").press("Enter")
    expect(seen.page.get_by_role("search")).to_contain_text(f"Searched as {kind}")


def test_a_task_is_found_by_its_id_and_another_meaning_can_be_chosen(
    dashboard: Dashboard, tasks: ShownTasks, visit: Callable[..., Visit]
) -> None:
    task_id = tasks.done_text("0c0000000003", "it names shown-0 and a loan", "loan")
    seen = visit(dashboard).open("#/tasks", title="Tasks")
    page = seen.page
    page.get_by_role("searchbox").fill(task_id)
    page.get_by_role("button", name="Search").click()
    expect(seen.heading()).to_have_text(f"Task {task_id}")

    seen.open("#/tasks", title="Tasks")
    seen.expect_fault(NO_TASK)
    page.get_by_role("searchbox").fill("shown-0")
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_role("search")).to_contain_text("Searched as detection id")
    page.get_by_role("search").get_by_role("button", name="text that was found").click()
    expect(page.get_by_role("row").filter(has_text=task_id)).to_be_visible()


def test_filters_combine_and_stand_in_the_address(
    dashboard: Dashboard, tasks: ShownTasks, visit: Callable[..., Visit]
) -> None:
    found = tasks.done_text("0c0000000004", "a loan", "loan")
    tasks.waiting("0c0000000004")
    seen = visit(dashboard).open("#/tasks?mac=0c0000000004", title="Tasks")
    rows = seen.page.get_by_role("row").filter(has_text="shown-")
    expect(rows).to_have_count(2)
    seen.page.get_by_label("State").select_option("done")
    expect(rows).to_have_count(1)
    seen.page.get_by_label("Found").select_option("true")
    seen.page.get_by_label("Accepted").select_option("1h")
    expect(rows).to_contain_text(found)

    again = visit(dashboard).open(seen.page.url.partition("/#")[2].join(["#", ""]), title="Tasks")
    expect(again.page.get_by_label("State")).to_have_value("done")
    again.page.get_by_label("State").select_option("running")
    expect(again.page.get_by_text("No task matches.")).to_be_visible()
    again.page.get_by_role("button", name="Clear filters").click()
    assert again.page.url.endswith("#/tasks")


def test_pages_of_tasks_lead_on_and_back(dashboard: Dashboard, tasks: ShownTasks, visit: Callable[..., Visit]) -> None:
    newest = [tasks.done_text("0c0000000005", "a loan", "loan") for _ in range(60)][-1]
    page = visit(dashboard).open("#/tasks?mac=0c0000000005", title="Tasks").page
    expect(page.get_by_role("row")).to_have_count(51)
    page.get_by_role("button", name="Older").click()
    expect(page.get_by_role("row")).to_have_count(11)
    page.get_by_role("button", name="Newer").click()
    expect(page.get_by_role("link", name=newest)).to_be_visible()


@pytest.mark.parametrize("kind", ["CSV", "JSONL"])
def test_what_is_shown_is_saved_as_a_file_with_the_key(
    keyed: Dashboard, visit: Callable[..., Visit], kind: str
) -> None:
    task_id = ShownTasks(keyed).done_text("0c0000000006", "a loan", "loan")
    key = made_key(keyed.settings.effective_database_url, role="viewer", site="local")
    page = visit(keyed, key).open("#/tasks?hit=true", title="Tasks").page
    with page.expect_download() as saved:
        page.get_by_role("button", name=f"Save as {kind}").click()
    assert saved.value.suggested_filename == f"tasks.{kind.lower()}"
    text = saved.value.path().read_text("utf-8")
    assert task_id in text
    assert kind == "CSV" or json.loads(text.splitlines()[0])["text"] == "a loan"


def test_a_line_and_its_box_in_the_image_show_each_other(
    dashboard: Dashboard, tasks: ShownTasks, visit: Callable[..., Visit]
) -> None:
    task_id = tasks.done_image("0c0000000007", ("一月房租", "兼职刷单 😀 <b>日结</b>", "谢谢"), hit_line=1)
    seen = visit(dashboard).open(f"#/tasks/{task_id}")
    boxes, lines = seen.page.locator("svg .box"), seen.page.locator(".line")
    expect(seen.page.get_by_role("img", name="Image")).to_be_visible()
    expect(boxes).to_have_count(3)
    expect(seen.page.locator("svg .box.hit")).to_have_count(1)
    expect(lines.nth(1).locator("mark")).to_have_text("兼职刷单 😀 <b>日结</b>")

    lines.nth(1).focus()
    expect(seen.page.locator("svg .box.active.hit")).to_have_count(1)
    boxes.nth(2).hover()
    expect(lines.nth(2)).to_have_class("line  active")


def test_a_task_is_cancelled_once_that_is_confirmed(
    dashboard: Dashboard, tasks: ShownTasks, visit: Callable[..., Visit]
) -> None:
    task_id = tasks.waiting("0c0000000008")
    page = visit(dashboard).open(f"#/tasks/{task_id}").page
    page.get_by_role("button", name="Cancel this task").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel", exact=True).click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("button", name="Cancel this task").click()
    page.get_by_role("dialog").get_by_role("button", name="Yes, cancel the task").click()
    expect(page.get_by_text("It was cancelled")).to_be_visible()
    expect(page.get_by_role("button", name="Cancel this task")).to_have_count(0)


def test_who_may_only_look_cancels_nothing(keyed: Dashboard, visit: Callable[..., Visit]) -> None:
    task_id = ShownTasks(keyed).waiting("0c0000000009")
    key = made_key(keyed.settings.effective_database_url, role="viewer", site="local")
    page = visit(keyed, key).open(f"#/tasks/{task_id}").page
    expect(page.get_by_text("Why it waits")).to_be_visible()
    expect(page.get_by_role("button", name="Cancel this task")).to_have_count(0)


@pytest.mark.parametrize("width_px", [1280, 360])
@pytest.mark.parametrize("text", HOSTILE)
def test_whatever_a_device_wrote_is_only_ever_text(
    dashboard: Dashboard, tasks: ShownTasks, visit: Callable[..., Visit], text: str, width_px: int
) -> None:
    versions = ({"scope": "device", "name": text[:60], "version": 3},)
    of_text = tasks.done_text("0c000000000a", f"😀 {text}", text, versions=versions)
    of_image = tasks.done_image("0c000000000a", (text, "谢谢"), hit_line=0)
    seen = visit(dashboard, width_px=width_px)
    visible = text.replace("\u202e", "⟨202E⟩").replace("\u202c", "⟨202C⟩").replace("\u2066", "⟨2066⟩")
    for address in ("#/tasks?mac=0c000000000a", f"#/tasks/{of_text}", f"#/tasks/{of_image}"):
        seen.open(address)
        expect(seen.page.get_by_text(visible).first).to_be_visible()
        seen.settle()
        seen.page.locator("summary").evaluate_all("all => all.forEach((each) => each.click())")
        assert seen.page.locator("main script, main img[src=x], main [onload], main [onerror]").count() == 0
        assert seen.overflow_px() <= 0, address
    seen.open("#/tasks")
    seen.page.get_by_role("searchbox").fill(text[:200])
    seen.page.get_by_role("searchbox").press("Enter")
    expect(seen.page.get_by_role("search")).to_contain_text("Searched as text that was found")
