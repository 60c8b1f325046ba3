"""read_header: a malformed script stops the process, not a task."""

from pathlib import Path

import pytest

from pipeline.errors import ConfigurationError
from pipeline.queue.scripts import Header, read_header

GOOD = """--[[
move - does it.

KEYS
  1 root  string  it
ARGV
  1 first  int  one
  2 second int  two
RETURNS
  done  when
  lost  state
COST  O(1)
]]
"""


def script(folder: Path, text: str, name: str = "move") -> Path:
    path = folder / f"{name}.lua"
    path.write_text(text)
    return path


def test_a_header_is_read(tmp_path: Path) -> None:
    assert read_header(script(tmp_path, GOOD)) == Header("move", ("root",), ("first", "second"), ("done", "lost"))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("return 1", "must open with a header"),
        (GOOD.replace("move - ", "other - "), "names the script"),
        (GOOD.replace("COST  O(1)\n", ""), "has no COST"),
        (GOOD.replace("2 second", "3 second"), "should be number 2"),
    ],
)
def test_a_malformed_header_is_refused(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(ConfigurationError, match=complaint):
        read_header(script(tmp_path, text))
