"""How fast texts are screened, and lists made ready: `make bench-words`.

All is on: every view, contacts, allowed words, combinations. Texts are drawn from 3,000 ideographs, the common ones
more often, with punctuation, some Latin words and dates; a text in fifty holds a word of the list, half of them hidden
by noise. Times are CPU seconds of one thread; rounds find the same, so the least of them is told too.
"""

import argparse
import random
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

from benchmarks.printing import machine, spread, table
from pipeline.detector.detector import Detector
from pipeline.detector.lexicon import Lexicon
from pipeline.detector.rules import Combination, RuleSet, Word

_COMMON = (
    "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动"
    "同工也能下过子说产种面而方后多定行学法"
)
_IDEOGRAPHS = [chr(0x4E00 + index) for index in range(3_000)]
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured.

    Args:
        words: sizes of the lists that are made ready; texts are screened by the first.
        texts: length in characters -> how many there are.
        rounds: how often all is done.
    """

    words: tuple[int, ...] = (20_000, 200_000, 1_000_000)
    texts: tuple[tuple[int, int], ...] = ((1_000, 300), (50, 5_000))
    rounds: int = 7


TINY = Plan(words=(200,), texts=((1_000, 3), (50, 10)), rounds=1)


def run(plan: Plan) -> Iterator[str]:
    """Measure; give each piece of the report as soon as it is there."""
    yield machine("none") + "\n"
    chance = random.Random(7)
    words = _words(chance, plan.words[0])
    detector = Detector(Lexicon(rules=_rules(words)))
    yield table(["characters", "texts/s", "us a text", "hits"], [
        _screened(detector, [_text(chance, length, words) for _ in range(count)], length, plan.rounds)
        for length, count in plan.texts
    ])  # fmt: skip
    yield ""
    yield table(["words", "s to make ready", "us for the first text of 50"], [
        _compiled(_words(chance, size), plan.rounds if size <= plan.words[0] else 1, _text(chance, 50, words))
        for size in plan.words
    ])  # fmt: skip


def _screened(detector: Detector, texts: list[str], length: int, rounds: int) -> list[str]:
    detector.screen(texts[0])
    spent_s = []
    for _ in range(rounds):
        began_s = time.process_time()
        hits = sum(len(detector.screen(text).hits) for text in texts)
        spent_s.append((time.process_time() - began_s) / len(texts))
    best = f"{1 / min(spent_s):,.0f} at best, {1 / median(spent_s):,.0f}"
    return [f"{length:,}", best, spread([1e6 * one for one in spent_s], 1), str(hits)]


def _compiled(words: list[str], rounds: int, text: str) -> list[str]:
    spent_s, first_us = [], []
    for _ in range(rounds):
        began_s = time.process_time()
        detector = Detector(Lexicon(words))
        spent_s.append(time.process_time() - began_s)
        began_s = time.process_time()
        detector.screen(text)
        first_us.append(1e6 * (time.process_time() - began_s))
    return [f"{len(words):,}", spread(spent_s, 2), spread(first_us)]


def _rules(words: list[str]) -> RuleSet:
    return RuleSet(
        deny=tuple(map(Word, words)),
        allow=tuple(Word(word + "店") for word in words[:100]),
        combinations=tuple(Combination(f"c{index}", (words[index], words[-index - 1]), 12) for index in range(20)),
    )


def _words(chance: random.Random, count: int) -> list[str]:
    found: set[str] = set()
    while len(found) < count:
        letters, longest = (_LETTERS, (5, 10)) if chance.random() < 0.1 else (_IDEOGRAPHS, (3, 6))
        found.add("".join(chance.choices(letters, k=chance.randint(*longest))))
    return sorted(found)


def _text(chance: random.Random, length: int, words: list[str]) -> str:
    text = ""
    if chance.random() < 0.02:
        noise = chance.choice(["", ".", "😀"])
        text = noise.join(chance.choice(words))
    while len(text) < length:
        text += chance.choice(_COMMON if chance.random() < 0.6 else _IDEOGRAPHS)
        if chance.random() < 0.06:
            text += chance.choice("，。、！？ ")
        if chance.random() < 0.005:
            text += chance.choice([" app ", "2024年", "12:30", "WiFi"])
    return text[:length]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tiny", action="store_true", help="a few texts, in no time: says that it works, not more")
    for piece in run(TINY if parser.parse_args().tiny else Plan()):
        print(piece)
        sys.stdout.flush()


if __name__ == "__main__":
    main()
