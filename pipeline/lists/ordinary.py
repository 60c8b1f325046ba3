"""Words that innocent texts are made of, to see what a list would find in them."""

import lzma
from functools import cache
from pathlib import Path

_FILE = Path(__file__).with_name("ordinary_words.txt.xz")


@cache
def ordinary_words() -> str:
    """The ordinary words of Chinese and English, one a line.

    Source: `tools/ordinary_words.py`.
    """
    return lzma.decompress(_FILE.read_bytes()).decode("utf-8").removesuffix("\n")
