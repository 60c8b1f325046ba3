"""A process that submits texts at given times: `python -m benchmarks.peers.sending stock_dramatiq`.

It reads a line of orders, a JSON list of `[at_s, mac, text, wait_ms]` in the order of their times, says `ready`, and
begins when a second line comes. Printed is a JSON list of `[task_id, submitted_ms]`, in the same order, where the time
is that right before the call.
"""

import json
import sys
import threading
from collections.abc import Callable, Iterator
from importlib import import_module
from time import perf_counter

from pipeline.clock import SystemClock


def main() -> None:
    send = import_module(f"benchmarks.peers.{sys.argv[1]}").send
    orders = json.loads(sys.stdin.readline())
    print("ready", flush=True)
    sys.stdin.readline()
    print(json.dumps(list(_sent(send, orders))))


def _sent(send: Callable[[str, str, int], str], orders: list[tuple[float, str, str, int]]) -> Iterator[tuple[str, int]]:
    clock, pause, began_s = SystemClock(), threading.Event(), perf_counter()
    for at_s, mac, text, wait_ms in orders:
        left_s = began_s + at_s - perf_counter()
        if left_s > 0:
            pause.wait(left_s)
        submitted_ms = clock.now_ms()
        yield send(mac, text, wait_ms), submitted_ms


if __name__ == "__main__":
    main()
