"""Text from outside, made safe to show on a terminal."""

import json
import re
from typing import Any

#: C0 but tab and newline, DEL, C1, line and paragraph separators, marks that turn the direction of writing
#: (CVE-2021-42574), and halves of surrogate pairs, which have no UTF-8.
_HOSTILE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def clean(text: str) -> str:
    """Replace whatever could command a terminal by U+FFFD, one for one, so that offsets stay right."""
    return _HOSTILE.sub("\N{REPLACEMENT CHARACTER}", text)


def clean_line(text: str) -> str:
    """The same for text that must stay on one line."""
    return clean(" ".join(text.split("\n")))


def to_json(value: Any, *, indent: int | None = None) -> str:
    """Return JSON in which other scripts stay readable and nothing can command a terminal; it decodes to `value`."""
    text = json.dumps(value, ensure_ascii=False, indent=indent, default=str)
    return _HOSTILE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
