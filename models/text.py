"""What PostgreSQL cannot hold, taken out at the edge."""

import json
import re
from typing import Any

#: NUL fits neither `text` nor `jsonb`; half of a surrogate pair is not Unicode text and fits no driver.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
#: How JSON spells those, and the halves of whole pairs.
_SUSPECT = re.compile(r"\\u(0000|d[89a-f])")


def storable(text: str) -> str:
    """Return `text` with each character that no database holds replaced by U+FFFD.

    One code point for one, and one UTF-16 unit for one: positions in the text stay true.
    """
    return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def storable_json(value: Any) -> Any:
    """Return a JSON value whose strings, those of the keys included, are all storable."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {storable_json(key): storable_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [storable_json(item) for item in value]
    return value


def storable_words(value: Any) -> str:
    """The words of a JSON value whose strings are made storable."""
    # PERF: looking through them takes a tenth of what walking through the value takes.
    words = json.dumps(value)
    return json.dumps(storable_json(value)) if _SUSPECT.search(words) else words
