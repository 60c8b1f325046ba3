"""Words that are written as they sound are found where a list wants it, and are never more than a review."""

import json

import pytest
from pypinyin.phrases_dict import phrases_dict

from pipeline.detector.detector import Detector
from pipeline.detector.homophones import latin_spellings, sounds_of_word
from pipeline.detector.lexicon import Lexicon
from pipeline.detector.rule_files import rules_of_json
from pipeline.errors import InvalidInput

pytestmark = pytest.mark.usefixtures("each_way")


def told(text: str, *words: str, allow: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    rules = {"deny": [{"word": word, "views": ["pinyin"]} for word in words], "allow": allow}
    return [
        (hit.surface, hit.action) for hit in Detector(Lexicon(rules=rules_of_json(json.dumps(rules)))).screen(text).hits
    ]


def reviews(text: str, *words: str, allow: tuple[str, ...] = ()) -> list[str]:
    return [surface for surface, action in told(text, *words, allow=allow) if action == "review"]


@pytest.mark.feature("D2")
@pytest.mark.parametrize(
    ("word", "text", "found"),
    [
        ("微信", "薇信 围芯 威👌信 维​新", ["薇信", "围芯", "威👌信", "维​新"]),
        ("代开发票", "带开发飘，代開发piao", ["带开发飘", "代開发piao"]),
        ("重庆", "冲庆 虫庆 中情", ["冲庆", "虫庆", "中情"]),  # read either way
        ("充钱", "重钱", ["重钱"]),  # the other reading of what stands there
        ("长大", "涨大 场大", ["涨大", "场大"]),
        ("三级片", "叁级骗 3级骗 伞级片", ["叁级骗", "3级骗", "伞级片"]),
        ("酒吧", "9吧 久吧", ["9吧", "久吧"]),
        ("加V信", "家v芯 jiavxin 加v xin", ["家v芯", "jiavxin", "加v xin"]),
    ],
)
def test_characters_that_sound_alike_are_worth_a_review(word: str, text: str, found: list[str]) -> None:
    assert reviews(text, word) == found


@pytest.mark.feature("D2")
@pytest.mark.parametrize(
    ("word", "text", "found"),
    [
        ("微信", "weixin WEIXIN ｗｅｉｘｉｎ wēixìn", ["weixin", "WEIXIN", "ｗｅｉｘｉｎ", "wēixìn"]),
        ("微信", "wei xin, wei-xin, wei'xin, w e i x i n", ["wei xin", "wei-xin", "wei'xin", "w e i x i n"]),
        ("微信", "w.e.i.x.i.n w。e。i。x。i。n", ["w.e.i.x.i.n", "w。e。i。x。i。n"]),
        ("微信", "wei信 微xin 威 xin", ["wei信", "微xin", "威 xin"]),
        ("妓女", "jinv jinü jinu ji女", ["jinv", "jinü", "jinu", "ji女"]),
        ("西安", "xian xi'an xi安", ["xian", "xi'an", "xi安"]),
        ("代开发票", "daikai发票 代kaifapiao 代kai发piao", ["daikai发票", "代kaifapiao", "代kai发piao"]),
        ("还钱", "huanqian haiqian", ["huanqian", "haiqian"]),
    ],
)
def test_syllables_in_latin_letters_are_worth_a_review(word: str, text: str, found: list[str]) -> None:
    assert reviews(text, word) == found


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("微信", "wx VX weixins aweixin 微x"),
        ("微信", "威。信 威，信 威\n信"),
        ("微信", "weix in"),
        ("微信", "wei. xin wei.xin"),
        ("微信", "awei信 微xinli"),
        ("酒吧", "19吧"),
        ("西安", "先生"),
        ("我们", "womens"),
    ],
)
def test_what_only_begins_or_ends_alike_is_none(word: str, text: str) -> None:
    assert told(text, word) == []


def test_the_word_itself_is_found_for_sure() -> None:
    assert told("微信 微.信 重庆", "微信", "重庆") == [("微信", "block"), ("微.信", "block"), ("重庆", "block")]


def test_allowed_words_count_here_too() -> None:
    assert told("威信 weixin支付 威信", "微信", allow=("威信", "weixin支付")) == []


def test_a_list_wants_it_for_words_of_three_ideographs_only() -> None:
    rules = rules_of_json(json.dumps({"deny": ["微信", "代开票"], "views": ["pinyin"]}))

    hits = Detector(Lexicon(rules=rules)).screen("威信 weixin 带开票 daikaipiao").hits

    assert [hit.surface for hit in hits] == ["带开票", "daikaipiao"]


def test_numbers_have_no_sound_unless_they_are_spelled_out() -> None:
    rules = rules_of_json(json.dumps({"deny": ["110", "八九六四"], "views": ["pinyin"]}))

    assert [hit.surface for hit in Detector(Lexicon(rules=rules)).screen("依依灵 罢酒流寺 bajiuliusi").hits] == [
        "罢酒流寺",
        "bajiuliusi",
    ]


def test_characters_of_private_use_sound_like_nothing() -> None:
    (way,) = sounds_of_word("微信")

    assert told(way, "微信") == []


def test_an_allowed_word_has_no_views() -> None:
    with pytest.raises(InvalidInput) as caught:
        rules_of_json(json.dumps({"allow": [{"word": "威信", "views": ["pinyin"]}]}))

    assert [problem.pointer for problem in caught.value.problems] == ["/allow/0/views"]


@pytest.mark.parametrize("word", ["赌", "abc", "110", "あい", "C#", "赌あ博"])
def test_a_word_that_has_no_sound_is_refused_with_its_place(word: str) -> None:
    rules = rules_of_json(json.dumps({"deny": ["好", {"word": word, "views": ["pinyin"]}]}))

    with pytest.raises(InvalidInput) as caught:
        Lexicon(rules=rules)

    assert [problem.pointer for problem in caught.value.problems] == ["/deny/1/views"]


def test_ordinary_phrases_hold_next_to_nothing() -> None:
    words = (
        "代开发票 六合彩 三级片 海洛因 摇头丸 一夜情 百家乐 老虎机 高利贷 校园贷 办假证 刷信誉 枪支弹药 迷奸药 催情药 "
        "包小姐 色情网站 成人电影 信用卡套现 洗黑钱 网络赌博 地下钱庄 时时彩 窃听器 加微信 扣扣群 兼职刷单 日结工资"
    )
    detector = Detector(Lexicon(rules=rules_of_json(json.dumps({"deny": words.split(), "views": ["pinyin"]}))))
    phrases = list(phrases_dict)

    found = [
        hit.surface
        for begin in range(0, len(phrases), 500)
        for hit in detector.screen("".join(phrases[begin : begin + 500])).hits
        if hit.action == "review"
    ]

    assert len(phrases) > 40_000
    assert found == ["剥削阶"]  # 包小姐


def test_a_word_of_many_readings_is_searched_for_in_a_few() -> None:
    assert len(sounds_of_word("重" * 12)) == len(latin_spellings("重" * 12)) == 16
