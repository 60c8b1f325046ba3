"""The frame around every page, and what holds for each."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.support.browsing import Visit
from tests.support.dashboard import Dashboard
from tests.support.page_checks import nameless, pale_texts, unreached_by_keys

pytestmark = pytest.mark.feature("H4")

CATALOGUES = Path(__file__).parents[2] / "web" / "dashboard" / "static" / "i18n"
NARROW_PX = 360

each_theme = pytest.mark.parametrize("theme", ["light", "dark"])
each_language = pytest.mark.parametrize("language", ["en-US", "zh-CN"])


def words(language: str) -> dict[str, str]:
    found: dict[str, str] = json.loads((CATALOGUES / f"{language}.json").read_text("utf-8"))
    return found


def every_page(seen: Visit) -> list[str]:
    """The addresses of the menu, each opened and drawn in turn by whoever walks the list."""
    seen.open()
    return list(seen.menu())


def walk(seen: Visit, address: str) -> None:
    seen.open(address)
    seen.settle()


def test_the_language_is_the_browsers_until_another_is_chosen(
    dashboard: Dashboard, visit: Callable[..., Visit]
) -> None:
    seen = visit(dashboard, language="zh-CN").open(title=words("zh-CN")["nav.overview"])
    assert seen.page.evaluate("document.documentElement.lang") == "zh-CN"

    seen.page.get_by_role("banner").get_by_role("combobox").select_option("en")
    expect(seen.heading()).to_have_text("Overview")
    seen.page.reload()
    expect(seen.heading()).to_have_text("Overview")
    assert seen.page.evaluate("document.documentElement.lang") == "en"


@each_language
def test_no_page_shows_the_key_of_a_word(dashboard: Dashboard, visit: Callable[..., Visit], language: str) -> None:
    seen = visit(dashboard, language=language)
    for address in every_page(seen):
        walk(seen, address)
        text = seen.page.locator("body").inner_text()
        assert not [key for key in words("en") if re.search(rf"(?<!\w){re.escape(key)}(?!\w)", text)], address


@each_theme
def test_the_theme_is_the_systems(dashboard: Dashboard, visit: Callable[..., Visit], theme: str) -> None:
    seen = visit(dashboard, theme=theme).open()
    ground = seen.page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
    assert (max(ground) < 64) if theme == "dark" else (min(ground) > 192)


@each_theme
def test_every_text_of_every_page_can_be_read(dashboard: Dashboard, visit: Callable[..., Visit], theme: str) -> None:
    seen = visit(dashboard, theme=theme)
    for address in every_page(seen):
        walk(seen, address)
        assert pale_texts(seen) == [], address


@each_language
def test_no_page_is_wider_than_a_phone(dashboard: Dashboard, visit: Callable[..., Visit], language: str) -> None:
    seen = visit(dashboard, language=language, width_px=NARROW_PX)
    for address in every_page(seen):
        walk(seen, address)
        assert seen.overflow_px() <= 0, address


def test_on_a_phone_the_menu_opens_and_leads_on(dashboard: Dashboard, visit: Callable[..., Visit]) -> None:
    seen = visit(dashboard, width_px=NARROW_PX).open()
    button, links = (
        seen.page.get_by_role("button", name="Menu"),
        seen.page.get_by_role("navigation").get_by_role("link"),
    )
    expect(links.first).not_to_be_visible()
    button.click()
    expect(button).to_have_attribute("aria-expanded", "true")
    links.last.click()
    expect(seen.heading()).to_be_visible()


def test_every_page_is_reached_by_keys_alone(dashboard: Dashboard, visit: Callable[..., Visit]) -> None:
    seen = visit(dashboard).open()
    for address in seen.menu():
        seen.page.evaluate("document.activeElement.blur()")
        for _ in range(60):
            seen.page.keyboard.press("Tab")
            if seen.page.evaluate("document.activeElement.getAttribute('href')") == address:
                break
        seen.page.keyboard.press("Enter")
        expect(seen.page.locator(f"nav a[href='{address}']")).to_have_attribute("aria-current", "page")
        expect(seen.heading()).to_be_visible()


def test_everything_on_every_page_is_reached_by_keys_and_named(
    dashboard: Dashboard, visit: Callable[..., Visit]
) -> None:
    seen = visit(dashboard)
    for address in every_page(seen):
        walk(seen, address)
        assert unreached_by_keys(seen) == [], address
        assert nameless(seen) == [], address


def test_the_first_key_skips_the_menu(dashboard: Dashboard, visit: Callable[..., Visit]) -> None:
    seen = visit(dashboard).open()
    seen.page.keyboard.press("Tab")
    seen.page.keyboard.press("Enter")
    assert seen.page.evaluate("document.activeElement.id") == "content"
    assert seen.page.url.endswith("#/")
