"""A visit to the dashboard in a real browser, which notes whatever a page must never do."""

import shutil
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from playwright.sync_api import Browser, BrowserContext, Locator, Page, Playwright, expect

#: What a page tells of itself: refusals of its policy, and by how much its layout jumped without the user's doing.
_WATCH = """
addEventListener("securitypolicyviolation", (event) =>
  noteFault(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
window.jumps = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) {
    if (!entry.hadRecentInput) jumps.push({ at: entry.startTime, by: entry.value, what: entry.sources.map(
      ({ node }) => node && (node.outerHTML ?? node.textContent).slice(0, 120)) });
  }
}).observe({ type: "layout-shift", buffered: true });
"""
#: How a browser says that a question of a page that was left is no longer asked.
_GIVEN_UP = "net::ERR_ABORTED"


def start_chromium(playwright: Playwright) -> Browser:
    """Debian's chromium, without its sandbox, which it has not for root; playwright's own browsers are not used."""
    program = shutil.which("chromium")
    assert program, "install Debian's package chromium"
    return playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])


@dataclass(frozen=True, slots=True)
class Look:
    """With whose eyes a visitor looks: the theme and language of the system, the width of the screen in px."""

    theme: Any = "light"
    language: str = "en-US"
    width_px: int = 1280


class Visit:
    """One tab; when it ends, whatever was noted and not expected fails the test.

    Args:
        base_url: of the service.
        key: of the visitor, who is signed in from the start.
    """

    def __init__(self, browser: Browser, base_url: str, look: Look, key: str | None = None) -> None:
        self.base_url = base_url
        self.faults: list[str] = []
        self.asked: list[str] = []
        self._expected: list[str] = []
        self.context: BrowserContext = browser.new_context(
            viewport={"width": look.width_px, "height": 900}, color_scheme=look.theme, locale=look.language
        )
        self.context.expose_function("noteFault", lambda fault: self.faults.append(fault))
        self.context.add_init_script(_WATCH)
        if key is not None:
            self.context.add_init_script(f"sessionStorage.setItem('fairlane.key', '{key}')")
        self.page: Page = self.context.new_page()
        self._listen()

    def expect_fault(self, part: str) -> None:
        """Bear with faults that hold this text; one at least must be there in the end."""
        self._expected.append(part)

    def open(self, address: str = "#/", title: str | None = None) -> Self:
        """Go to an address of the dashboard; return when its heading, `title` if given, is there."""
        self.page.goto(f"{self.base_url}/{address}")
        heading = self.page.get_by_role("heading", level=1, name=title) if title else self.heading()
        expect(heading).to_be_visible()
        return self

    def heading(self) -> Locator:
        return self.page.get_by_role("heading", level=1)

    def menu(self) -> dict[str, str]:
        """The addresses of the menu's pages, and what each is called there."""
        links = self.page.get_by_role("navigation").locator("a").all()
        return {str(link.get_attribute("href")): link.inner_text().strip() for link in links}

    def settle(self) -> None:
        """Return once nothing more is asked, and what came is drawn."""
        self.page.wait_for_load_state("networkidle")

    def hide(self, is_hidden: bool) -> None:
        """Tell the page that its tab is hidden, or seen again: a browser without a screen has no tab in front."""
        self.page.evaluate(
            "(hidden) => { Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });"
            " document.dispatchEvent(new Event('visibilitychange')); }",
            is_hidden,
        )

    def jumps(self) -> list[dict[str, Any]]:
        """The movements of its layout, with what moved, that no key or click of the visitor's explains."""
        found: list[dict[str, Any]] = self.page.evaluate("jumps")
        return found

    def overflow_px(self) -> int:
        """By how much the page is wider than the screen."""
        return int(self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))

    def close(self) -> None:
        self.context.close()

    def unexpected(self) -> list[str]:
        """What was noted and not expected, and what was expected and never seen."""
        bad = [fault for fault in self.faults if not any(part in fault for part in self._expected)]
        return bad + [f"never seen: {part}" for part in self._expected if not any(part in one for one in self.faults)]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        if kind is None:
            assert self.unexpected() == []

    def _listen(self) -> None:
        page, note = self.page, self.faults.append
        page.on("console", self._on_console)
        page.on("pageerror", lambda error: note(f"error: {error}"))
        page.on("requestfailed", lambda asked: note(f"failed: {asked.url}") if asked.failure != _GIVEN_UP else None)
        page.on("request", lambda asked: self.asked.append(asked.url))
        page.on("dialog", self._on_dialog)

    def _on_console(self, said: Any) -> None:
        if said.type in ("error", "warning", "assert"):
            self.faults.append(f"console: {said.text} {said.location['url']}")

    def _on_dialog(self, dialog: Any) -> None:
        self.faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()
