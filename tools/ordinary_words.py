"""Write pipeline/lists/ordinary_words.txt.xz: `python -m tools.ordinary_words`, with the extra `tables` installed.

From jieba's dictionary (MIT): words of two characters or more that it has counted ten times or more. From
english-words: what Webster's Second (public domain) spells in four to ten letters.
"""

import lzma
import re
from importlib.resources import files
from pathlib import Path

from english_words import get_english_words_set

TARGET = Path(__file__).parents[1] / "pipeline" / "lists" / "ordinary_words.txt.xz"
_COUNTED_MIN = 10
_LATIN = re.compile(r"[a-z]{4,10}")


def chinese() -> set[str]:
    rows = (line.split(" ") for line in (files("jieba") / "dict.txt").read_text("utf-8").splitlines())
    return {word for word, counted, *_ in rows if len(word) > 1 and int(counted) >= _COUNTED_MIN and not word.isascii()}


def english() -> set[str]:
    return set(filter(_LATIN.fullmatch, get_english_words_set(["web2"], alpha=True, lower=True)))


if __name__ == "__main__":
    words = sorted(chinese() | english())
    TARGET.write_bytes(lzma.compress("\n".join((*words, "")).encode("utf-8"), preset=9 | lzma.PRESET_EXTREME))
    print(f"{len(words)} words, {TARGET.stat().st_size} bytes")
