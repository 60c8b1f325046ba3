"""The pages of the words: lists, their versions, and a text tried on them."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from models.word_lists import Owner
from tests.support.browsing import Visit
from tests.support.callers import made_key
from tests.support.dashboard import Dashboard

pytestmark = pytest.mark.feature("H4")


def paste(page: Page, text: str) -> None:
    page.get_by_label("Or paste the words").fill(text)
    page.get_by_role("button", name="Keep as a draft").click()


def put(page: Page, version: int, button: str) -> None:
    """Put a version into effect, and say so again."""
    page.get_by_role("row").filter(has=page.get_by_role("cell", name=str(version), exact=True)).get_by_role(
        "button", name=button
    ).click()
    page.get_by_role("dialog").get_by_role("button", name=button).click()


def put_and_see(page: Page, version: int, button: str) -> None:
    put(page, version, button)
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("row").filter(has=page.get_by_text("in effect", exact=True))).to_contain_text(str(version))


def try_text(page: Page, text: str) -> None:
    page.get_by_label("Text", exact=True).fill(text)
    page.get_by_role("button", name="Try").click()


def test_a_list_is_made_filled_published_and_rolled_back(dashboard: Dashboard, visit: Callable[..., Visit]) -> None:
    page = visit(dashboard).open("#/words", title="Words").page
    page.get_by_label("Name").fill("made-here")
    page.get_by_role("button", name="Make").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("made-here")

    paste(page, "网上赌场\n")
    expect(page.get_by_text("Version 1 is kept as a draft. The linter found nothing.")).to_be_visible()
    put_and_see(page, 1, "Publish")

    paste(page, "网上赌场\n代开发票\n")
    expect(page.get_by_role("row").filter(has_text="draft")).to_contain_text("+1")
    put_and_see(page, 2, "Publish")
    expect(page.get_by_role("row").filter(has_text="was in effect")).to_contain_text("-1")
    put_and_see(page, 1, "Roll back")
    expect(page.get_by_role("row").filter(has_text="was in effect")).to_contain_text("+1")
    assert dashboard.list_named(Owner(), "made-here").published == 1


def test_a_draft_with_warnings_is_published_only_in_spite_of_them(
    dashboard: Dashboard, visit: Callable[..., Visit]
) -> None:
    seen = visit(dashboard).open(f"#/words/{dashboard.make_list('warned', '的')}", title="warned")
    page = seen.page
    page.get_by_text("2 warnings", exact=True).click()
    expect(page.get_by_text("is one character, which innocent texts hold")).to_be_visible()

    put(page, 1, "Publish")
    expect(page.get_by_role("dialog").get_by_role("alert")).to_be_visible()
    seen.expect_fault("422 (Unprocessable")
    page.get_by_label("In spite of 2 warnings").check()
    page.get_by_role("dialog").get_by_role("button", name="Publish").click()
    expect(page.get_by_role("row").filter(has_text="in effect")).to_have_count(1)


def test_a_file_is_brought_by_its_kind(dashboard: Dashboard, visit: Callable[..., Visit], tmp_path: Path) -> None:
    page = visit(dashboard).open(f"#/words/{dashboard.make_list('of-files')}", title="of-files").page
    table = tmp_path / "loans.csv"
    table.write_bytes("word,category,action\n高额贷款,金融,review\n".encode("gb18030"))
    page.get_by_label("File").set_input_files(table)
    page.get_by_role("button", name="Keep as a draft").click()
    expect(page.get_by_role("row").filter(has_text="loans.csv")).to_contain_text("draft")
    put_and_see(page, 1, "Publish")


@pytest.mark.parametrize(("kind", "text"), [("rules (.json)", "{"), ("a table (.csv)", "nothing,of,ours\n1,2,3\n")])
def test_what_is_no_list_is_refused_with_its_place(
    dashboard: Dashboard, visit: Callable[..., Visit], kind: str, text: str
) -> None:
    seen = visit(dashboard).open(f"#/words/{dashboard.make_list('refusing')}", title="refusing")
    seen.expect_fault("422 (Unprocessable")
    seen.page.get_by_label("Kind").select_option(label=kind)
    paste(seen.page, text)
    expect(seen.page.get_by_role("alert")).to_be_visible()


def test_a_text_is_tried_and_its_finds_are_marked(dashboard: Dashboard, visit: Callable[..., Visit]) -> None:
    page = visit(dashboard).open("#/words", title="Words").page
    page.get_by_label("More words").fill("加微信，红包")
    try_text(page, "😀有事加微信 <b>红包</b> 13800138000")
    expect(page.locator("mark")).to_have_text(["加微信", "红包", "13800138000"])
    expect(page.locator(".tried")).to_have_text("😀有事加微信 <b>红包</b> 13800138000")
    expect(page.get_by_role("status").filter(has_text="Suggestion")).to_contain_text("block")

    try_text(page, "今天天气很好")
    expect(page.get_by_text("Nothing was found.")).to_be_visible()


def test_who_is_no_admin_may_try_a_text_and_sees_no_list(keyed: Dashboard, visit: Callable[..., Visit]) -> None:
    key = made_key(keyed.settings.effective_database_url, role="viewer", site="*")
    page = visit(keyed, key).open("#/words", title="Words").page
    try_text(page, "有事请说")
    expect(page.get_by_text("Nothing was found.")).to_be_visible()
    expect(page.get_by_role("heading", name="Lists")).to_have_count(0)
    page.goto(f"{keyed.base_url}/#/words/1")
    expect(page.get_by_text("This key may not see this page.")).to_be_visible()
