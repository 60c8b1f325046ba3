"""Lists come in whatever encoding their program wrote."""

import pytest

from pipeline.errors import InvalidInput
from pipeline.lists.encodings import decoded

SIMPLIFIED = "代开发票\n刷单返利\n网上赌场\n加我微信\n"
TRADITIONAL = "代開發票\n刷單返利\n線上賭場\n加我微信\n"


@pytest.mark.feature("D6")
@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (SIMPLIFIED, "utf-8"),
        (SIMPLIFIED, "utf-8-sig"),
        (SIMPLIFIED, "utf-16"),
        (SIMPLIFIED, "utf-16-le"),
        (SIMPLIFIED, "utf-16-be"),
        (SIMPLIFIED, "utf-32"),
        (SIMPLIFIED, "gbk"),
        (SIMPLIFIED + "㐀𠀀\n", "gb18030"),
        (TRADITIONAL, "big5"),
        ("发票", "gbk"),
        ("發票", "big5"),
        ("word;list\n发票;deny\n", "gbk"),
        ("plain words\n", "ascii"),
        ("plain words\n", "utf-16-le"),
        ("plain words\n", "utf-16-be"),
        ("", "utf-8"),
    ],
)
def test_the_encoding_is_found_out(text: str, encoding: str) -> None:
    assert decoded(text.encode(encoding))[0] == text


def test_a_large_file_is_told_by_its_beginning() -> None:
    text = SIMPLIFIED * 20_000

    assert decoded(text.encode("gbk")) == (text, "gb18030")


def test_an_encoding_that_is_named_is_believed() -> None:
    assert decoded("好".encode("gbk"), "GBK") == ("好", "GBK")


@pytest.mark.parametrize(
    ("data", "encoding", "place"),
    [
        ("好词\n词\n".encode() + "坏".encode("gbk"), None, "line 3"),
        ("好\n词\n".encode("gbk") + b"\xff\xff", "gbk", "line 3"),
        (b"\xff\xfeA", None, "line 1"),
        (b"word\n", "nonsense", "encoding"),
        (b"word\n", "base64", "encoding"),
        (b"word\n", "rot13", "encoding"),
    ],
)
def test_what_fits_no_encoding_is_refused_with_its_line(data: bytes, encoding: str | None, place: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        decoded(data, encoding)

    assert caught.value.problems[0].pointer == place
