"""How fast texts are screened, and lists made ready: `make bench-words`.

All is on: contacts, allowed words, combinations; without the optional views, with each for all words, with all of them
for a fifth of the words and for all. Texts
are drawn from 3,000 ideographs, the common ones more often, with punctuation, some Latin words and dates; a text in
fifty holds a word of the list, half of them hidden by noise. Times are CPU time of one thread; rounds find the same, so
the least of them is told too: the sum of the least of each piece of a few milliseconds, since whatever else runs on
the machine slows some pieces of each round and not all of any.
"""

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import psutil

from benchmarks.printing import machine, spread, table
from pipeline.detector.detector import Detector
from pipeline.detector.homophones import syllables_of
from pipeline.detector.lexicon import Lexicon
from pipeline.detector.normalize import fold
from pipeline.detector.rules import Combination, RuleSet, View, Word
from pipeline.detector.split_glyphs import falls_apart

_ALL: frozenset[View] = frozenset({"ocr", "pinyin", "split"})
#: What a list may want besides, and of how many of its words: nothing, each view, all of them.
_WANTED: tuple[tuple[frozenset[View], float], ...] = (
    (frozenset(), 0),
    (frozenset({"ocr"}), 1),
    (frozenset({"pinyin"}), 1),
    (frozenset({"split"}), 1),
    (_ALL, 0.2),
    (_ALL, 1),
)
#: Characters of one piece of the texts.
_PIECE_CHARS = 10_000
_COMMON = (
    "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动"
    "同工也能下过子说产种面而方后多定行学法"
)
#: Without the strokes among them, which are ornaments.
IDEOGRAPHS = [char for char in map(chr, range(0x4E00, 0x4E00 + 3_000)) if fold(char).text]
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
    texts = [(length, [_text(chance, length, words) for _ in range(count)]) for length, count in plan.texts]
    rows = []
    for views, share in _WANTED:
        detector = Detector(Lexicon(rules=_rules(words, views, share)))
        rows += [
            [", ".join(sorted(views)), f"{share:.0%}", *_screened(detector, some, length, plan.rounds)]
            for length, some in texts
        ]
    yield table(["views", "of words", "characters", "texts/s", "us a text", "hits"], rows)
    yield ""
    heads = ["words", "s to make", "MB at most", "ms to write", "MB of file", "MB more", "ms to map", "us first text",
             "ms longest text", "while mapping"]  # fmt: skip
    yield table(heads, [_compiled(size, plan.rounds if size <= plan.words[0] else 1) for size in plan.words])


def _screened(detector: Detector, texts: list[str], length: int, rounds: int) -> list[str]:
    detector.screen(texts[0])
    step = max(1, _PIECE_CHARS // length)
    pieces = [texts[first : first + step] for first in range(0, len(texts), step)]
    spent_s = [[_spent_s(detector, piece) for piece in pieces] for _ in range(rounds)]
    least_s = sum(map(min, *spent_s)) if rounds > 1 else sum(spent_s[0])
    per_text_s = [sum(one) / len(texts) for one in spent_s]
    best = f"{len(texts) / least_s:,.0f} at best, {1 / median(per_text_s):,.0f}"
    hits = sum(len(detector.screen(text).hits) for text in texts)
    return [f"{length:,}", best, spread([1e6 * one for one in per_text_s], 1), str(hits)]


def _spent_s(detector: Detector, texts: list[str]) -> float:
    began_s = time.process_time()
    for text in texts:
        detector.screen(text)
    return time.process_time() - began_s


def _compiled(size: int, rounds: int) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "list"
        made = _child("--make", str(path), str(size), str(rounds))
        mapped = _child("-m", "benchmarks.load_words", str(path))
    return [f"{size:,}", *made, *(f"{value:,.1f}" for value in mapped)]


def _child(*arguments: str) -> list[Any]:
    """Run a part in a process of its own, whose memory is nothing else's."""
    module = [] if arguments[0] == "-m" else ["-m", "benchmarks.bench_words"]
    done = subprocess.run([sys.executable, *module, *arguments], check=True, capture_output=True, text=True)
    return list(json.loads(done.stdout))


def _make(path: Path, size: int, rounds: int) -> list[str]:
    """Make a list and write it; how long that takes, and how much memory at most."""
    words = _words(random.Random(7), size)
    before_bytes = psutil.Process().memory_info().rss
    spent_s = []
    for _ in range(rounds):
        began_s = time.process_time()
        lexicon = Lexicon(words)
        spent_s.append(time.process_time() - began_s)
    # Of the kernel, in kilobytes on Linux and in bytes on macOS.
    most_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1_024)
    began_s = time.process_time()
    path.write_bytes(lexicon.to_bytes())
    written_ms = 1e3 * (time.process_time() - began_s)
    grown = f"{(most_bytes - before_bytes) / 1e6:,.0f}"
    return [spread(spent_s, 2), grown, f"{written_ms:,.0f}", f"{path.stat().st_size / 1e6:,.1f}"]


def _rules(words: list[str], views: frozenset[View], share: float) -> RuleSet:
    chosen = set(random.Random(3).sample(words, int(share * len(words)))) if share < 1 else set()
    return RuleSet(
        deny=tuple(Word(word, views=_fitting(word, views)) if word in chosen else Word(word) for word in words),
        allow=tuple(Word(word + "店") for word in words[:100]),
        combinations=tuple(Combination(f"c{index}", (words[index], words[-index - 1]), 12) for index in range(20)),
        views=views if share == 1 else frozenset(),
    )


def _fitting(word: str, views: frozenset[View]) -> frozenset[View]:
    """Those of the views in which a word can be found."""
    misfits = {"pinyin": not syllables_of(word, word), "split": not falls_apart(word)}
    return frozenset(view for view in views if not misfits.get(view))


def _words(chance: random.Random, count: int) -> list[str]:
    found: set[str] = set()
    while len(found) < count:
        letters, longest = (_LETTERS, (5, 10)) if chance.random() < 0.1 else (IDEOGRAPHS, (3, 6))
        found.add("".join(chance.choices(letters, k=chance.randint(*longest))))
    return sorted(found)


def _text(chance: random.Random, length: int, words: list[str]) -> str:
    text = ""
    if chance.random() < 0.02:
        noise = chance.choice(["", ".", "😀"])
        text = noise.join(chance.choice(words))
    while len(text) < length:
        text += chance.choice(_COMMON if chance.random() < 0.6 else IDEOGRAPHS)
        if chance.random() < 0.06:
            text += chance.choice("，。、！？ ")
        if chance.random() < 0.005:
            text += chance.choice([" app ", "2024年", "12:30", "WiFi"])
    return text[:length]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tiny", action="store_true", help="a few texts, in no time: says that it works, not more")
    parser.add_argument("--make", nargs=3, metavar=("FILE", "WORDS", "ROUNDS"), help="one list, for the second table")
    options = parser.parse_args()
    if options.make:
        file, size, rounds = options.make
        print(json.dumps(_make(Path(file), int(size), int(rounds))))
        return
    for piece in run(TINY if options.tiny else Plan()):
        print(piece)
        sys.stdout.flush()


if __name__ == "__main__":
    main()
