"""What a compiled list costs a process that maps it: run in a process of its own by `bench_words`, who reads it.

Memory is what the process has more of after the list was mapped; pauses are the longest that a thread which screens
texts all the time saw while another mapped the list and put it in the place of the one before.
"""

import json
import sys
import threading
import time
from pathlib import Path

import psutil

from pipeline.detector.detector import Detector
from pipeline.detector.lexicon import Lexicon

_TEXT = "今天天气不错，我们去公园散步，下午三点开会，记得带上笔记本。" * 2
_ROUNDS = 10


def main() -> None:
    path = Path(sys.argv[1])
    Detector(Lexicon(["词"])).screen(_TEXT)  # what every process has anyway
    process = psutil.Process()
    before_bytes = process.memory_info().rss
    detector = Detector(Lexicon.open(path))
    grown_bytes = process.memory_info().rss - before_bytes
    began_s = time.perf_counter()
    detector.screen(_TEXT[:50])
    first_us = 1e6 * (time.perf_counter() - began_s)
    load_ms = min(_load_ms(path) for _ in range(_ROUNDS))
    alone_ms, beside_ms = _pauses_ms(detector, path, 0), _pauses_ms(detector, path, _ROUNDS)
    print(json.dumps([grown_bytes / 1e6, load_ms, first_us, alone_ms, beside_ms]))


def _load_ms(path: Path) -> float:
    began_s = time.process_time()
    Lexicon.open(path)
    return 1e3 * (time.process_time() - began_s)


def _pauses_ms(detector: Detector, path: Path, loads: int) -> float:
    """Return the longest time that one text took while lists were mapped one after the other."""
    served = [detector]
    longest_s = 0.0
    is_over = threading.Event()

    def screen() -> None:
        nonlocal longest_s
        while not is_over.is_set():
            began_s = time.perf_counter()
            served[0].screen(_TEXT)
            longest_s = max(longest_s, time.perf_counter() - began_s)

    thread = threading.Thread(target=screen)
    thread.start()
    for _ in range(loads):
        served[0] = Detector(Lexicon.open(path))
    is_over.wait(0 if loads else 0.5)
    is_over.set()
    thread.join()
    return 1e3 * longest_s


if __name__ == "__main__":
    main()
