"""Take docs/pictures from a real service: `fairlane demo --keep`, then `make screenshots URL=http://127.0.0.1:…`.

Three devices send pictures, one floods, so that there is something to be seen; then a browser visits the pages, in both
themes and languages. Debian's chromium, as in `make test-browser`.
"""

import json
import shutil
import sys
import urllib.request
from itertools import count
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Browser, sync_playwright

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"
SAMPLES = sorted((Path(__file__).parents[1] / "pipeline" / "samples").glob("*.png"))
#: Device -> pictures it sends.
FLOOD = {"02b84a86d301": 40, "02b84a86d302": 6, "02b84a86d303": 4}
_WORD = "兼职"
_PHONE_PX, _DESK_PX = 360, 1280


class Shot(NamedTuple):
    """One picture: its name, the page, theme, language and width."""

    name: str
    address: str
    theme: str = "light"
    language: str = "en-US"
    width_px: int = _DESK_PX


def main() -> None:
    """Feed the service at the address given, and take the pictures."""
    base_url = sys.argv[1].rstrip("/")
    task_id = feed(base_url)
    FOLDER.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for shot in shots(task_id):
            take(browser, base_url, shot)


def shots(task_id: str) -> list[Shot]:
    return [
        Shot("overview", "#/"),
        Shot("overview-dark-zh", "#/", "dark", "zh-CN"),
        Shot("overview-phone-zh", "#/", "light", "zh-CN", _PHONE_PX),
        Shot("devices", "#/devices"),
        Shot("device-dark", f"#/devices/{next(iter(FLOOD))}", "dark"),
        Shot("tasks-zh", "#/tasks?hit=true", "light", "zh-CN"),
        Shot("task", f"#/tasks/{task_id}"),
        Shot("task-dark-zh", f"#/tasks/{task_id}", "dark", "zh-CN"),
        Shot("dead-letters", "#/dead-letters"),
        Shot("words-zh", "#/words", "light", "zh-CN"),
        Shot("workers-dark", "#/workers", "dark"),
    ]


def feed(base_url: str) -> str:
    """Send one picture with a hit and wait for it; then flood. Return the id of the first task."""
    samples = {path.name: path.read_bytes() for path in SAMPLES}
    first = _send(base_url, "02b84a86d304", samples["chat_part_time_job.png"], f"&words={urllib.request.quote(_WORD)}")
    for _ in range(12):
        with urllib.request.urlopen(f"{base_url}/api/ocr/tasks/{first}?wait=20") as answer:
            if json.load(answer)["ended_ms"]:
                break
    number = count()
    for mac, pictures in FLOOD.items():
        for _ in range(pictures):
            # Bytes behind the end of a PNG are not looked at; they make each picture another one.
            _send(base_url, mac, samples["parcel_label.png"] + str(next(number)).encode())
    return first


def _send(base_url: str, mac: str, data: bytes, more: str = "") -> str:
    request = urllib.request.Request(
        f"{base_url}/api/ocr/image?mac={mac}{more}", data=data, headers={"Content-Type": "image/png"}
    )
    with urllib.request.urlopen(request) as answer:
        return str(json.load(answer)["task_id"])


def take(browser: Browser, base_url: str, shot: Shot) -> None:
    context = browser.new_context(
        viewport={"width": shot.width_px, "height": 800}, color_scheme=shot.theme, locale=shot.language
    )
    page = context.new_page()
    page.goto(f"{base_url}/{shot.address}")
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(500)
    page.screenshot(path=FOLDER / f"{shot.name}.png", full_page=True)
    context.close()


if __name__ == "__main__":
    main()
