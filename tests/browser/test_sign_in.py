"""Who looks: the key at the door, and what a role sees."""

import json
import re
import urllib.request
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.support.browsing import Visit
from tests.support.callers import made_key
from tests.support.dashboard import Dashboard

pytestmark = pytest.mark.feature("H4")

#: What the browser notes of each question that the service refuses for want of a key.
REFUSED = "401 (Unauthorized)"


def key_for(dashboard: Dashboard, role: str, site: str = "*") -> str:
    return made_key(dashboard.settings.effective_database_url, role=role, site=site)


def may(dashboard: Dashboard, key: str) -> set[str]:
    asked = urllib.request.Request(f"{dashboard.base_url}/api/me", headers={"Authorization": f"Bearer {key}"})
    with urllib.request.urlopen(asked) as answer:
        return set(json.load(answer)["may"])


def sign_in(seen: Visit, key: str) -> None:
    seen.page.get_by_label("API key").fill(key)
    seen.page.get_by_role("button", name="Sign in").click()


def test_a_key_opens_the_dashboard_and_signing_out_closes_it(keyed: Dashboard, visit: Callable[..., Visit]) -> None:
    seen = visit(keyed).open("", title="fairlane")
    seen.expect_fault(REFUSED)
    sign_in(seen, key_for(keyed, "admin"))
    expect(seen.heading()).to_have_text("Overview")

    seen.page.reload()
    expect(seen.heading()).to_have_text("Overview")

    seen.page.get_by_role("button", name="Sign out").click()
    expect(seen.page.get_by_label("API key")).to_be_visible()
    assert seen.page.evaluate("sessionStorage.length") == 0


def test_a_key_of_one_tab_is_not_known_to_another(keyed: Dashboard, visit: Callable[..., Visit]) -> None:
    seen = visit(keyed).open("", title="fairlane")
    seen.expect_fault(REFUSED)
    sign_in(seen, key_for(keyed, "admin"))
    expect(seen.heading()).to_have_text("Overview")
    assert seen.context.cookies() == []

    other = seen.context.new_page()
    other.goto(keyed.base_url)
    expect(other.get_by_label("API key")).to_be_visible()


@pytest.mark.parametrize("key", ["fl_nothing", "密钥", "<b>key</b>", "x" * 500])
def test_a_wrong_key_is_refused_and_a_right_one_then_works(
    keyed: Dashboard, visit: Callable[..., Visit], key: str
) -> None:
    seen = visit(keyed).open("", title="fairlane")
    seen.expect_fault(REFUSED)
    sign_in(seen, key)
    expect(seen.page.get_by_role("alert")).to_contain_text("This key is not valid.")

    sign_in(seen, key_for(keyed, "viewer"))
    expect(seen.heading()).to_have_text("Overview")


@pytest.mark.parametrize(
    ("role", "site"), [("viewer", "north"), ("operator", "north"), ("viewer", "*"), ("admin", "*")]
)
def test_the_menu_holds_what_the_key_may_see(
    keyed: Dashboard, visit: Callable[..., Visit], role: str, site: str
) -> None:
    key = key_for(keyed, role, site)
    seen = visit(keyed, key)
    seen.page.goto(keyed.base_url)
    expect(seen.page.get_by_role("navigation")).to_be_visible()
    shown = {link.get_attribute("href") for link in seen.page.get_by_role("navigation").get_by_role("link").all()}

    pages: list[dict[str, str | None]] = seen.page.evaluate(
        "import('./static/js/pages.js').then(({ PAGES }) => PAGES.map(({ draw, keyOf, ...rest }) => rest))"
    )
    allowed = may(keyed, key)
    assert shown == {f"#/{page['name']}" for page in pages if page.get("title") and page["may"] in allowed}
    for page in pages:
        if page["may"] not in allowed:
            seen.page.goto(f"{keyed.base_url}/#/{page['name'] or 'overview'}")
            expect(seen.page.get_by_role("main")).not_to_have_text(re.compile("Oldest wait"))


def test_who_sees_one_site_begins_at_the_first_page_of_the_menu(keyed: Dashboard, visit: Callable[..., Visit]) -> None:
    seen = visit(keyed, key_for(keyed, "viewer", "north"))
    seen.page.goto(keyed.base_url)
    first = seen.page.get_by_role("navigation").get_by_role("link").first
    expect(first).to_have_attribute("aria-current", "page")
    expect(seen.page.get_by_text("This key may not see this page.")).to_have_count(0)
