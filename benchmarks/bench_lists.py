"""What it costs to read, check, publish and swap lists, and what texts feel of a swap: part of `make bench-words`.

Four processes screen texts of 50 characters as fast as they can while one list is published anew every few seconds. The
time of each screening is that of a clock on the wall, so that it holds whatever keeps it waiting, other processes too.
"""

import argparse
import multiprocessing
import random
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.synchronize import Event
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter, sleep

import psutil

from benchmarks.printing import machine, table
from models import base
from models.migrate import migrate
from models.word_lists import EVERYBODY
from models.word_shelf import WordShelf
from pipeline.clock import SystemClock
from pipeline.lists.compiled import CompiledLists
from pipeline.lists.following import FollowedLists
from pipeline.lists.library import Library
from pipeline.lists.lint import lint
from pipeline.lists.reading import read_list
from pipeline.storage import open_store

_POLL_S = 0.1
#: Seconds after a swap whose screenings are told apart.
_AFTER_SWAP_S = 0.5


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured.

    Args:
        words: sizes of lists that are read, checked, compiled and loaded.
        swapped: size of the list that is swapped under load.
        swaps: how often.
        between_s: seconds between two swaps.
    """

    words: tuple[int, ...] = (20_000, 200_000, 1_000_000)
    swapped: int = 200_000
    swaps: int = 5
    between_s: float = 4.0
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
        yield f"{plan.processes} processes, a list of {plan.swapped} words swapped {plan.swaps} times"
        yield table(["texts", "us median", "ms 99 %", "ms longest"], list(_under_load(plan, place, library)))


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


def _under_load(plan: Plan, place: Place, library: Library) -> Iterator[list[str]]:
    context = multiprocessing.get_context("spawn")
    answers, stop = context.Queue(), context.Event()
    _publish(library, plan.swapped, seed=0)
    arguments = (place, answers, stop)
    workers = [context.Process(target=_screen_on, args=arguments) for _ in range(plan.processes)]
    for worker in workers:
        worker.start()
    for _ in workers:
        answers.get()  # each is ready
    for number in range(plan.swaps):
        sleep(plan.between_s)
        _publish(library, plan.swapped, seed=number + 1)
    sleep(plan.between_s)
    stop.set()
    calm, swapping = [], []
    for _ in workers:
        of_calm, of_swapping = answers.get()
        calm += of_calm
        swapping += of_swapping
    for worker in workers:
        worker.join()
    yield _spread("else", calm)
    yield _spread(f"within {_AFTER_SWAP_S} s around a swap", swapping)


def _screen_on(place: Place, answers: "multiprocessing.Queue[object]", stop: Event) -> None:
    """Screen texts until told to stop; answer with the seconds each took, apart from swaps and around them."""
    lists = FollowedLists(*place.open(), [], _POLL_S)
    texts = _words(200, seed=9, length=50)
    lists.open()
    answers.put("ready")
    times: list[tuple[float, float]] = []
    swaps: list[float] = []
    epoch = lists.epoch
    while not stop.is_set():
        for text in texts:
            began_s = perf_counter()
            lists.detector("local", "").screen(text)
            times.append((began_s, perf_counter() - began_s))
        if lists.epoch != epoch:
            epoch = lists.epoch
            swaps.append(perf_counter())
    lists.close()
    near = [any(abs(at - swap) < _AFTER_SWAP_S for swap in swaps) for at, _ in times]
    answers.put(
        tuple(
            [took for (_, took), is_near in zip(times, near, strict=True) if is_near is which]
            for which in (False, True)
        )
    )


def _publish(library: Library, size: int, seed: int) -> None:
    read = read_list("\n".join(_words(size, seed)).encode(), "txt")
    version = library.bring(EVERYBODY, "swapped", read, "bench")
    library.publish(version.list_id, version.version, force=True)


def _words(count: int, seed: int, length: int = 4) -> list[str]:
    chance = random.Random(seed)
    ideographs = [chr(0x4E00 + index) for index in range(3_000)]
    words: dict[str, None] = {}
    while len(words) < count:
        words["".join(chance.choices(ideographs, k=length))] = None
    return list(words)


def _spread(name: str, times_s: list[float]) -> list[str]:
    if len(times_s) < 2:
        return [name, "", "", ""]
    percent99 = quantiles(times_s, n=100)[98]
    return [name, f"{median(times_s) * 1e6:.0f}", f"{percent99 * 1000:.1f}", f"{max(times_s) * 1000:.1f}"]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tiny", action="store_true", help="only see that it runs")
    for piece in run(TINY if parser.parse_args().tiny else Plan()):
        print(piece, flush=True)
