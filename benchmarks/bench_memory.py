"""How memory grows with what was done: `make bench-memory`, or `--tasks 20000`, or `--tiny`, which says that it works.

All processes of the Procfile, the engine a light one; nine texts, then an image of 40 kB that fails with all of it in
hand, over and over. Printed: the slope of the resident memory of each process over the second half of the tasks, and
the keys that Redis holds afterwards though nobody declared that they stay.
"""

import argparse
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count

import psutil

from benchmarks.printing import machine, table
from tests.faults.harness.client import Answer, ask, post_json
from tests.faults.harness.house import House, comes_true
from tests.faults.harness.idle_keys import strange_keys
from tests.support.ocr_readers import MARKER
from tests.support.pictures import corner_marked, encoded

TASKS, TINY = 200_000, 200
#: Texts of one request, to which the images that fail come; the share is one in ten.
_TEXTS, _IMAGES = 90, 10
#: Tasks between two looks at the memory: so many parts of all.
_LOOKS = 40
_PAYLOAD_BYTES = 40_000
#: Open at most; what is beyond waits to be sent, not in line.
_OPEN_MAX = 1_500
_LIMIT_S = 600
#: What so many tasks leave fits on disks so many times the usual.
_ROOM = 6

_BAD_IMAGE = encoded(corner_marked()) + b"\0" * _PAYLOAD_BYTES + MARKER + b"bad image"
_BYTES = 1_000_000


def run(tasks: int) -> Iterator[str]:
    """Send so many tasks through all processes; give each piece of the report as soon as it is there."""
    house = House(lease_s=30, room=_ROOM, ocr_slots=2, ocr_tasks_per_child=1_000_000, storage_url="")
    try:
        house.start()
        with house.servers.valkey_client() as client:
            yield machine(str(client.info("server").get("valkey_version", "unknown"))) + "\n"
        looks = list(_measure(house, tasks))
        counted = dict(house.journal.rows("SELECT state, count(*) FROM task GROUP BY 1"))
        yield ", ".join(f"{number:,} {state}" for state, number in sorted(counted.items()))
        rows = [_row(name, [(done, found[name]) for done, found in looks if name in found]) for name in looks[-1][1]]
        yield table(["process", "first, MB", "last, MB", "MB per 10,000 tasks, second half"], rows)
        left = list(strange_keys(house))
        yield "no key without owner or time to live" if not left else "\n".join(left)
    finally:
        house.stop()


def _measure(house: House, tasks: int) -> Iterator[tuple[int, dict[str, float]]]:
    """Send; after each part, how much was done and the resident memory of each process by name, in MB."""
    batch, numbers = _TEXTS + _IMAGES, count(1)
    part = max(batch, tasks // _LOOKS)
    with ThreadPoolExecutor(4) as threads:
        for done in range(0, tasks, part):
            list(threads.map(lambda _: _send(house, next(numbers)), range(part // batch)))
            if done + part >= tasks and not comes_true(lambda: house.journal.open() == 0, _LIMIT_S):
                raise TimeoutError(f"{house.journal.open()} tasks did not end")
            house.servers.tidy()
            yield done + part, _resident_mb(house)


def _send(house: House, number: int) -> None:
    if not comes_true(lambda: house.journal.open() < _OPEN_MAX, _LIMIT_S):
        raise TimeoutError("nothing ends any more")
    texts = [{"mac": f"0a{number % 500:08x}{index:02x}", "text": f"hello {number} {index}"} for index in range(_TEXTS)]
    _insist(lambda: post_json(house.web, "/api/ocr/text", {"tasks": texts}, 60))
    for index in range(_IMAGES):
        path = f"/api/ocr/image?mac=0b{number % 500:08x}{index:02x}"
        _insist(lambda path=path: ask(house.web, "POST", path, _BAD_IMAGE, {"Content-Type": "image/png"}, 60))


def _insist(send: Callable[[], Answer]) -> None:
    """Send until it is accepted: a busy machine says later."""
    if not comes_true(lambda: send().status == 202, _LIMIT_S, 1):
        raise TimeoutError("nothing is accepted any more")


def _resident_mb(house: House) -> dict[str, float]:
    processes: dict[str, psutil.Process] = {
        "web": house.worker("web"),
        "scheduler": house.tree("scheduler")[0],
        "text worker": house.worker("text"),
        "OCR worker": house.worker("ocr"),
        "engine child": house.engine(),
    }
    return {name: process.memory_info().rss / _BYTES for name, process in processes.items()}


def _row(name: str, looks: list[tuple[int, float]]) -> list[str]:
    return [name, f"{looks[0][1]:.1f}", f"{looks[-1][1]:.1f}", f"{slope(looks[len(looks) // 2 :]):.2f}"]


def slope(looks: list[tuple[int, float]]) -> float:
    """The least-squares slope of MB over tasks, for 10,000 tasks; 0 of a single look."""
    if len(looks) < 2:
        return 0.0
    mean_x = sum(done for done, _ in looks) / len(looks)
    mean_y = sum(size for _, size in looks) / len(looks)
    over = sum((done - mean_x) * (size - mean_y) for done, size in looks)
    return 10_000 * over / sum((done - mean_x) ** 2 for done, _ in looks)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=TASKS)
    parser.add_argument("--tiny", action="store_true", help="says that it works, not more")
    options = parser.parse_args()
    for piece in run(TINY if options.tiny else options.tasks):
        print(piece, flush=True)


if __name__ == "__main__":
    main()
