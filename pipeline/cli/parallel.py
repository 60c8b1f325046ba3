"""Do many waiting things at once, without being held up by them when it is time to go."""

import threading
from collections.abc import Callable, Iterable, Iterator
from queue import Empty, SimpleQueue
from typing import TypeVar

_T = TypeVar("_T")
_R = TypeVar("_R")

#: How often the caller can be interrupted while nothing arrives, seconds.
_LOOK_S = 0.2


def in_parallel(work: Callable[[_T], _R], items: Iterable[_T], stop: threading.Event, *, threads: int) -> Iterator[_R]:
    """Yield `work(item)` of each item as it gets ready, from at most `threads` threads; an error is raised here.

    The threads end with the program: unlike those of an executor they are not waited for.
    Raises: KeyboardInterrupt soon after `stop` was set, whatever the threads wait for.
    """
    todo: SimpleQueue[_T] = SimpleQueue()
    count = 0
    for item in items:
        todo.put(item)
        count += 1
    ready: SimpleQueue[tuple[bool, _R | BaseException]] = SimpleQueue()
    leaving = threading.Event()

    def serve() -> None:
        while not leaving.is_set():
            try:
                ready.put((True, work(todo.get_nowait())))
            except Empty:
                return
            except BaseException as exc:  # noqa: BLE001 (carried over to the caller's thread)
                ready.put((False, exc))

    for _ in range(min(threads, count)):
        threading.Thread(target=serve, daemon=True).start()
    try:
        for _ in range(count):
            yield _next(ready, stop)
    finally:
        leaving.set()


def _next(ready: "SimpleQueue[tuple[bool, _R | BaseException]]", stop: threading.Event) -> _R:
    while True:
        if stop.is_set():
            raise KeyboardInterrupt
        try:
            is_fine, value = ready.get(timeout=_LOOK_S)
        except Empty:
            continue
        if isinstance(value, BaseException) and not is_fine:
            raise value
        return value  # type: ignore[return-value]
