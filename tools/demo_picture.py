"""Draw docs/demo.svg from a real run: `fairlane demo | python -m tools.demo_picture`."""

import sys
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

TARGET = Path(__file__).parents[1] / "docs" / "demo.svg"
#: Columns of the drawn terminal.
WIDTH = 104
#: rich's own frame, without the web font that it would fetch.
FRAME = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "Noto Sans Mono CJK SC", monospace;
  font-size: {char_height}px; line-height: {line_height}px; }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: sans-serif; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" /></clipPath>{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">{matrix}</g>
</g>
</svg>
"""


def main() -> None:
    console = Console(record=True, width=WIDTH, file=sys.stderr)
    console.print("$ make demo")
    console.print(Text.from_ansi(sys.stdin.read()))
    console.save_svg(str(TARGET), title="fairlane", theme=MONOKAI, code_format=FRAME, unique_id="demo")


if __name__ == "__main__":
    main()
