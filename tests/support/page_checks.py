"""What is asked of every page of the dashboard, whatever it shows."""

from typing import Any

from tests.support.browsing import Visit

#: The texts whose colour is too near to that of their ground: WCAG's ratio below 4.5.
_PALE = """
() => {
  const parsed = (text) => {
    const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number);
    return { rgb: [r, g, b], a };
  };
  const ground = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const { rgb, a } = parsed(getComputedStyle(each).backgroundColor);
      if (a === 1) return rgb;
    }
    return [255, 255, 255];
  };
  const light = (rgb) => rgb.map((part) => part / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
  const pale = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const text = walker.currentNode.textContent.trim();
    if (!text || !element.checkVisibility() || element.closest(":disabled")) continue;
    const shades = [light(parsed(getComputedStyle(element).color).rgb), light(ground(element))].sort((a, b) => b - a);
    const ratio = (shades[0] + 0.05) / (shades[1] + 0.05);
    if (ratio < 4.5) pale.push(`${ratio.toFixed(2)} ${element.tagName} ${element.className} ${text.slice(0, 40)}`);
  }
  return pale;
}
"""
#: Give each thing that can be used a number; return what each is.
_NUMBER = """
() => [...document.querySelectorAll(
    "a[href], button:enabled, input:enabled, select:enabled, textarea:enabled, summary, [tabindex='0']")]
  .filter((each) => each.checkVisibility({ visibilityProperty: true }))
  .map((each, index) => (each.dataset.number = index, each.outerHTML.slice(0, 100)))
"""
#: What has the focus: its number, and whether a sighted user can tell.
_FOCUSED = """
() => {
  const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
  const { number } = document.activeElement.dataset;
  return { number: number ? Number(number) : null, isShown: outlineStyle !== "none" && parseFloat(outlineWidth) >= 1 };
}
"""
#: Things that have no name for those who do not see them.
_NAMELESS = """
() => [...document.querySelectorAll("a[href], button, input:not([type='hidden']), select, textarea")]
  .filter((each) => each.checkVisibility() && !each.textContent.trim() && !each.ariaLabel && !each.labels?.length
    && !each.title)
  .map((each) => each.outerHTML.slice(0, 100))
"""


def pale_texts(seen: Visit) -> list[str]:
    """The texts that are hard to read, with their contrast."""
    found: list[str] = seen.page.evaluate(_PALE)
    return found


def nameless(seen: Visit) -> list[str]:
    found: list[str] = seen.page.evaluate(_NAMELESS)
    return found


def unreached_by_keys(seen: Visit) -> list[str]:
    """The things that can be used and that the Tab key never reaches, or reaches without showing it."""
    page = seen.page
    there: list[str] = page.evaluate(_NUMBER)
    page.evaluate("document.activeElement.blur()")
    reached: set[int] = set()
    for _ in range(len(there) + 5):
        page.keyboard.press("Tab")
        focused: dict[str, Any] = page.evaluate(_FOCUSED)
        if focused["isShown"] and focused["number"] is not None:
            reached.add(focused["number"])
    return [what for number, what in enumerate(there) if number not in reached]
