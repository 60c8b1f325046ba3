"""What it costs to read, check, publish and swap lists, and what texts feel of a swap: part of `make bench-words`.

Four processes each have a text of 50 characters to screen every 5 ms, first while nothing is swapped, then while
a list is put in the place of another every few seconds; both were compiled before. The time of a text is from when it
was due, on the clock on the wall: it holds whatever keeps the text waiting, be that a swap, another process, or the
texts before it.
"""

import argparse
import multiprocessing
import random
import tempfile
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from multiprocessing.synchronize import Event
from pathlib import Path
from time import perf_counter, sleep

import numpy as np
import psutil
from numpy.typing import NDArray

from benchmarks.bench_words import IDEOGRAPHS
from benchmarks.printing import machine, table
from models import base
from models.migrate import migrate
from models.word_lists import EVERYBODY, VersionRow
from models.word_shelf import WordShelf
from pipeline.clock import SystemClock
from pipeline.lists.compiled import CompiledLists
from pipeline.lists.following import FollowedLists
from pipeline.lists.library import Library
from pipeline.lists.lint import lint
from pipeline.lists.reading import read_list
from pipeline.storage import open_store

_POLL_S = 0.1
#: Seconds before and after the first text that a process screens by the new list, whose texts are told apart: it maps
#: the list in that time.
_AROUND_SWAP_S = 0.25
#: Texts after which a process looks whether it is to end.
_TEXTS_BETWEEN_LOOKS = 20

#: Seconds that a process may take to begin, and to tell what it measured.
_ANSWER_S = 60.0

#: When texts were due, how long they took, and when the list was another.
Told = tuple["array[float]", "array[float]", "array[float]"]


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured.

    Args:
        words: sizes of lists that are read, checked, compiled and loaded.
        swapped: size of the list that is swapped under load.
        swaps: how often.
        between_s: seconds between two swaps; without swaps it is measured as long as with them.
        between_texts_s: seconds from when one text is due to when the next is, in each process.
    """

    words: tuple[int, ...] = (20_000, 200_000, 1_000_000)
    swapped: int = 200_000
    swaps: int = 10
    between_s: float = 2.0
    between_texts_s: float = 0.005
    processes: int = 4


TINY = Plan(words=(200,), swapped=200, swaps=1, between_s=1.0, processes=2)


@dataclass(frozen=True, slots=True)
class Place:
    """Where the lists of a run are: a database, a store and a folder of the host."""

    folder: Path

    def open(self) -> tuple[WordShelf, CompiledLists]:
        database = base.connect(f"sqlite:///{self.folder / 'fairlane.db'}")
        migrate(database)
        base.bind(database)
        shelf = WordShelf(database, SystemClock())
        return shelf, self.compiled(shelf)

    def compiled(self, shelf: WordShelf) -> CompiledLists:
        """Compiled lists as another process of the host has them."""
        return CompiledLists(shelf, open_store(str(self.folder / "objects")), self.folder / "words")


def run(plan: Plan) -> Iterator[str]:
    """Measure; give each piece of the report as soon as it is there."""
    yield machine("none") + "\n"
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder))
        shelf, compiled = place.open()
        library = Library(shelf, compiled)
        names = ["words", "s to read", "s to check", "s to publish", "ms to load", "MB resident"]
        yield table(names, [_costs(place, library, size) for size in plan.words])
        yield ""
        yield f"{plan.processes} processes, two lists of {plan.swapped} words swapped {plan.swaps} times"
        names = ["texts", "how many", "us median", "ms 99 %", "ms 99.9 %", "ms longest"]
        yield table(names, _under_load(plan, place, library))


def _costs(place: Place, library: Library, size: int) -> list[str]:
    data = "\n".join(_words(size, seed=size)).encode("gb18030")
    began_s = perf_counter()
    read = read_list(data, "txt")
    read_s = perf_counter()
    lint(read)
    checked_s = perf_counter()
    version = library.bring(EVERYBODY, f"list{size}", read, "bench")
    brought_s = perf_counter()
    library.publish(version.list_id, version.version, force=True)
    published_s = perf_counter()
    library.compiled.lexicon(version.sha256)  # fetches the file of the host
    before_bytes = psutil.Process().memory_info().rss
    loaded_s = perf_counter()
    lexicon = place.compiled(library.shelf).lexicon(version.sha256)
    ended_s = perf_counter()
    grown = (psutil.Process().memory_info().rss - before_bytes) / 1e6
    assert len(lexicon) == size
    library.remove(version.list_id)
    times = (read_s - began_s, checked_s - read_s, published_s - brought_s)
    return [str(size), *(f"{time:.1f}" for time in times), f"{(ended_s - loaded_s) * 1000:.0f}", f"{grown:.0f}"]


def _under_load(plan: Plan, place: Place, library: Library) -> list[list[str]]:
    context = multiprocessing.get_context("spawn")
    answers, stop = context.Queue(), context.Event()
    first, second = (_published(library, plan.swapped, seed) for seed in (0, 1))
    arguments = (place, plan.between_texts_s, answers, stop)
    workers = [context.Process(target=_screen_on, args=arguments, daemon=True) for _ in range(plan.processes)]
    for worker in workers:
        worker.start()
    for _ in workers:
        answers.get(timeout=_ANSWER_S)  # each is ready
    sleep(plan.between_s)  # what starting took has passed
    calm_s = perf_counter()
    sleep(plan.swaps * plan.between_s)
    begun_s = perf_counter()
    for number in range(plan.swaps):
        version = (first, second)[number % 2]
        library.roll_back(version.list_id, version.version)
        sleep(plan.between_s)
    stop.set()
    told = [answers.get(timeout=_ANSWER_S) for _ in workers]
    for worker in workers:
        worker.join()
    return _compared(told, calm_s, begun_s)


def _compared(told: Sequence[Told], calm_s: float, begun_s: float) -> list[list[str]]:
    """Tell texts apart: those before anything was swapped, those around swaps, and the others."""
    kinds: tuple[list[NDArray[np.float64]], ...] = ([], [], [])
    for due_s, took_s, swaps_s in told:
        due, took = np.array(due_s), np.array(took_s)
        due, took = due[due > calm_s], took[due > calm_s]
        is_before = due < begun_s
        is_near = np.zeros(len(due), np.bool_)
        for swap_s in swaps_s:
            is_near |= np.abs(due - swap_s) < _AROUND_SWAP_S
        for kind, chosen in zip(kinds, (is_before, is_near, ~is_before & ~is_near), strict=True):
            kind.append(took[chosen])
    names = ("without swaps", f"within {_AROUND_SWAP_S} s of a swap", "between swaps")
    return [_spread(name, np.concatenate(kind)) for name, kind in zip(names, kinds, strict=True)]


def _screen_on(place: Place, between_s: float, answers: "multiprocessing.Queue[object]", stop: Event) -> None:
    """Screen texts as they fall due until told to stop, or the parent is gone; answer with when and how long."""
    lists = FollowedLists(*place.open(), [], _POLL_S)
    texts = cycle(_words(200, seed=9, length=50))
    lists.open()
    answers.put("ready")
    parent = multiprocessing.parent_process()
    due_s, took_s, swaps_s = array("d"), array("d"), array("d")
    epoch, due = lists.epoch, perf_counter()
    while not stop.is_set() and parent and parent.is_alive():
        for text in islice(texts, _TEXTS_BETWEEN_LOOKS):
            due += between_s
            sleep(max(0.0, due - perf_counter()))
            lists.detector("local", "").screen(text)
            due_s.append(due)
            took_s.append(perf_counter() - due)
            if lists.epoch != epoch:
                epoch = lists.epoch
                swaps_s.append(due)
    lists.close()
    if parent and parent.is_alive():
        answers.put((due_s, took_s, swaps_s))
    else:
        answers.cancel_join_thread()  # nobody reads what is still on its way


def _published(library: Library, size: int, seed: int) -> VersionRow:
    read = read_list("\n".join(_words(size, seed)).encode(), "txt")
    version = library.bring(EVERYBODY, "swapped", read, "bench")
    library.publish(version.list_id, version.version, force=True)
    library.compiled.lexicon(version.sha256)  # fetches the file of the host
    return version


def _words(count: int, seed: int, length: int = 4) -> list[str]:
    chance = random.Random(seed)
    words: dict[str, None] = {}
    while len(words) < count:
        words["".join(chance.choices(IDEOGRAPHS, k=length))] = None
    return list(words)


def _spread(name: str, times_s: NDArray[np.float64]) -> list[str]:
    if not times_s.size:
        return [name, "0", "", "", "", ""]
    middle, percent99, permille999 = np.quantile(times_s, (0.5, 0.99, 0.999))
    longest = [f"{1e3 * time_s:.1f}" for time_s in (percent99, permille999, times_s.max())]
    return [name, f"{times_s.size:,}", f"{1e6 * middle:.0f}", *longest]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tiny", action="store_true", help="only see that it runs")
    for piece in run(TINY if parser.parse_args().tiny else Plan()):
        print(piece, flush=True)
