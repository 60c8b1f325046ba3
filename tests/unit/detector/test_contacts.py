"""Contacts are found in any form of digits, and numbers that are none are left alone."""

import pytest

from pipeline.detector.contacts import contacts
from pipeline.detector.normalize import fold


def told(text: str) -> list[tuple[str, str]]:
    return [(one.kind, text[one.start : one.end]) for one in contacts(fold(text))]


@pytest.mark.feature("D4")
@pytest.mark.parametrize(
    ("kind", "surface"),
    [
        ("phone_cn", "13800138000"),
        ("phone_cn", "138 0013 8000"),
        ("phone_cn", "+86 138-0013-8000"),
        ("phone_cn", "1-3-8-0-0-1-3-8-0-0-0"),
        ("phone_cn", "①③⑧⓪⓪①③⑧⓪⓪⓪"),
        ("phone_cn", "壹叁捌零零壹叁捌零零零"),
        ("phone_cn", "400-820-8820"),
        ("phone_cn", "010-88886666"),
        ("phone_cn", "(0571) 88886666"),
        ("id_card", "11010519491231002X"),
        ("id_card", "110105 19491231 002x"),
        ("bank_card", "6222021234567890128"),
        ("bank_card", "4111 1111 1111 1111"),
        ("email", "first.last+tag@mail.example.com"),
        ("email", "a@b。com"),
        ("url", "https://example.com/a?b=c#d"),
        ("url", "www.example.com.cn"),
        ("url", "example点com"),
        ("url", "ｅｘａｍｐｌｅ．ｃｏｍ"),
    ],
)
def test_contact_is_found_whole(kind: str, surface: str) -> None:
    assert told(f"看，{surface}，好") == [(kind, surface)]
    assert told(surface) == [(kind, surface)]


@pytest.mark.parametrize(
    "text",
    [
        "2024-05-01 12:13:14.12345",
        "2013800138000123",
        "138001380001",
        "12800138000",
        "110105194912310021",
        "110105194913310028",
        "6222021234567890127",
        "9999999999999995",
        "13-14-15-16-17-18",
        "3.14159265358979",
        "图1.jpg README.md main.py v1.3.5.2",
        "下午3点半",
        "一二三四五六七八九十",
        "价格12345",
        "Hello. Come in",
    ],
)
def test_other_numbers_and_names_are_no_contacts(text: str) -> None:
    assert told(text) == []


@pytest.mark.feature("D4")
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("加V：abc_12345", [("wechat", "abc_12345")]),
        ("微-信 号: test-9876", [("wechat", "test-9876")]),
        ("QQ群 1234567", [("qq", "1234567")]),
        ("扣.扣①②③④⑤", [("qq", "①②③④⑤")]),
        ("微信13800138000", [("phone_cn", "13800138000"), ("wechat", "13800138000")]),
        ("微信支付", []),
        ("abc_12345", []),
        ("QQ音乐", []),
    ],
)
def test_account_is_found_after_its_cue_only(text: str, found: list[tuple[str, str]]) -> None:
    assert told(text) == found


def test_hotline_is_found_after_its_cue_only() -> None:
    assert told("客服：95588，卡号6222") == [("phone_cn", "95588")]
    assert told("共95588元") == []


def test_number_before_a_word_that_begins_with_a_numeral_is_whole() -> None:
    assert told("打13800138000一起来") == [("phone_cn", "13800138000")]


def test_value_is_plain() -> None:
    assert [one.value for one in contacts(fold("①③⑧ 0013 ８０００ 11010519491231002x"))] == [
        "13800138000",
        "11010519491231002X",
    ]


def test_digits_without_end_cost_no_square() -> None:
    assert contacts(fold("1" * 100_000)) == []
    assert contacts(fold("a." * 50_000)) == []
    assert contacts(fold("1-" * 50_000)) == []
