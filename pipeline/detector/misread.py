"""The view of what an OCR engine may have read wrongly: characters that look alike are one."""

from collections.abc import Iterable, Iterator, Sequence

from pipeline.detector.automaton import Automaton, Match

#: Characters that engines take for one another, as folding leaves them; confusions of print, not of pen.
_ALIKE = (
    *("0o", "1li", "2z", "5s", "8b"),
    *(
        "口囗",
        "日曰",
        "微徽徵",
        "未末",
        "己已巳",
        "土士",
        "人入",
        "天夭",
        "戊戌戍",
        "贝见",
        "免兔",
        "鸟乌",
        "侯候",
        "博搏",
    ),
    *(
        "赌睹",
        "晴睛",
        "治冶",
        "券卷",
        "折拆",
        "今令",
        "刀力",
        "大太犬",
        "王玉",
        "困因囚",
        "间问",
        "白自",
        "目且",
        "干千于",
    ),
)
_TABLE = {ord(char): group[0] for group in _ALIKE for char in group}


class Misread:
    """Finds patterns where characters of the text may be others that look like them; immutable.

    Args:
        texts: folded words, none twice.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = list(texts)
        sharing: dict[str, list[int]] = {}
        for index, text in enumerate(self._texts):
            sharing.setdefault(text.translate(_TABLE), []).append(index)
        self._automaton = Automaton(list(sharing))
        self._sharing: Sequence[list[int]] = list(sharing.values())

    def find(self, text: str) -> Iterator[Match]:
        """Give start, end and index of the pattern for each place that is not the pattern itself, but half of it."""
        for start, end, index in self._automaton.find(text.translate(_TABLE)):
            for pattern in self._sharing[index]:
                same = sum(map(str.__eq__, text[start:end], self._texts[pattern]))
                if (end - start) <= 2 * same < 2 * (end - start):
                    yield start, end, pattern
