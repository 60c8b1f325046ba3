"""Script-laden text, wherever a device, a file or a receiver can put it: it is seen as text, and nothing runs."""

from collections.abc import Callable, Iterator
from urllib.parse import quote
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import expect

from tests.support.browsing import Visit
from tests.support.dashboard import Dashboard

pytestmark = pytest.mark.feature("H4")

#: What would run if it were made a part of the page, in several ways of getting there.
HOSTILE = "\"'><img src=x onerror=alert(1)><script>alert(2)</script><svg onload=alert(3)></svg>javascript:alert(4)"
MAC = "0c0000000001"
#: Of all that is made of these texts, what a page would hold.
PLANTED = "main img[src='x'], main script, main a[href^='javascript:'], main [onerror], main [onload]"


@pytest.fixture(scope="module")
def hostile(dashboard: Dashboard) -> Iterator[Dashboard]:
    """A service where nearly everything that others may write is hostile."""
    dashboard.finish_picture("hostile-picture", MAC, HOSTILE)
    dashboard.bury("hostile-letter", MAC, HOSTILE)
    dashboard.failed_deliveries(MAC, 1, error=HOSTILE)
    dashboard.submit_text(MAC, HOSTILE)
    entry = dict.fromkeys(("queues", "state", "holds", "engine", "version", "word_faults"), HOSTILE)
    dashboard.enter_worker(HOSTILE, 1, **entry)
    list_id = dashboard.make_list("hostile", f"{HOSTILE}\n{HOSTILE}\n")
    body = Request(
        f"{dashboard.base_url}/api/words/{list_id}?source={quote(HOSTILE)}",
        data=f"{HOSTILE}\n的\n".encode(),
        method="PUT",
        headers={"Content-Type": "text/plain; charset=utf-8"},
    )
    urlopen(body).close()
    yield dashboard
    dashboard.roster.leave(f"{HOSTILE}:1")


def nothing_was_planted(seen: Visit) -> None:
    expect(seen.page.locator(PLANTED)).to_have_count(0)


def test_nothing_that_others_wrote_runs_on_any_page(hostile: Dashboard, visit: Callable[..., Visit]) -> None:
    seen = visit(hostile).open()
    for address in (*seen.menu(), f"#/devices/{MAC}", f"#/tasks?text={quote('alert(2)')}", "#/nothing/<script>"):
        seen.open(address)
        seen.settle()
        nothing_was_planted(seen)


@pytest.mark.parametrize(
    ("address", "times"),
    [
        ("#/tasks/hostile-picture", 3),
        ("#/tasks/hostile-letter", 1),
        ("#/dead-letters/1", 1),
        ("#/announcements/1", 1),
        ("#/announcements", 1),
        ("#/workers", 6),
        ("#/words/1", 2),
    ],
)
def test_what_others_wrote_is_seen_as_they_wrote_it(
    hostile: Dashboard, visit: Callable[..., Visit], address: str, times: int
) -> None:
    seen = visit(hostile)
    if address.endswith("-picture"):
        seen.expect_fault("hostile-picture/image")  # what was read in it is kept, the picture itself is not
    seen.open(address)
    seen.settle()
    for each in seen.page.locator("main summary").all():
        each.click()
    assert seen.page.locator("main").inner_text().count("<script>alert(2)</script>") >= times
    nothing_was_planted(seen)


def test_a_text_that_is_tried_stays_text(hostile: Dashboard, visit: Callable[..., Visit]) -> None:
    seen = visit(hostile).open("#/words", title="Words")
    page = seen.page
    page.get_by_label("More words").fill("<script>alert(2)</script>")
    page.get_by_label("Text", exact=True).fill(HOSTILE)
    page.get_by_role("button", name="Try").click()
    expect(page.locator("mark").first).to_contain_text("alert")
    expect(page.locator(".tried")).to_have_text(HOSTILE)
    nothing_was_planted(seen)


def test_an_address_that_others_made_stays_text(hostile: Dashboard, visit: Callable[..., Visit]) -> None:
    seen = visit(hostile)
    seen.expect_fault("404 (Not Found)")
    for address in (f"#/tasks/{quote(HOSTILE, safe='')}", f"#/announcements/{quote(HOSTILE, safe='')}"):
        seen.open(address)
        seen.settle()
        nothing_was_planted(seen)
