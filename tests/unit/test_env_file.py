"""`.env` is read whole or refused; nothing of what stands in it is repeated."""

from pathlib import Path

import pytest

from pipeline.env_file import insist_on_env_file
from pipeline.errors import ConfigurationError


@pytest.mark.parametrize(
    "text", ["", "# a comment\n\nA=1\n", "export A='x y'\nB=\"two\\nlines\"\n", "A=1\r\nB=2\r\n", "A = 1"]
)
def test_a_good_file_is_taken(tmp_path: Path, text: str) -> None:
    (tmp_path / ".env").write_text(text)

    insist_on_env_file(tmp_path / ".env")


def test_no_file_is_fine(tmp_path: Path) -> None:
    insist_on_env_file(tmp_path / ".env")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"A=1\nthe secret is sesame\n", "line 2 is no NAME=value"),
        (b"A='sesame\nB=2\n", "line 1 is no NAME=value"),
        (b"A=sesame\xff", r"is not UTF-8 \(byte 9\)"),
    ],
)
def test_a_line_that_cannot_be_read_is_told_without_what_it_says(tmp_path: Path, content: bytes, told: str) -> None:
    (tmp_path / ".env").write_bytes(content)

    with pytest.raises(ConfigurationError, match=told) as caught:
        insist_on_env_file(tmp_path / ".env")

    assert "sesame" not in str(caught.value)


def test_a_folder_of_that_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / ".env").mkdir()

    with pytest.raises(ConfigurationError, match="cannot be read"):
        insist_on_env_file(tmp_path / ".env")
