"""A private Valkey for one simulation, and the queue on it; both end with the block."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event

from pipeline.clock import Clock, SystemClock
from pipeline.embedded import EmbeddedValkey
from pipeline.errors import ConfigurationError
from pipeline.queue.connection import connect, reaching
from pipeline.queue.fair_queue import FairQueue
from pipeline.queue.keys import Keys
from pipeline.queue.rules import Rules
from pipeline.queue.types import Lane, Standing, Task
from pipeline.runner import tether

#: Seconds the server may take to answer, and to end.
_PATIENCE_S = 20


class ScriptedQueue(FairQueue):
    """The fair queue itself, on an empty server, with one thing more that only a simulation may do."""

    def __init__(self, url: str, rules: Rules, clock: Clock | None) -> None:
        #: For what a measurement asks of the server itself.
        self.server = connect(url, patience_s=_PATIENCE_S)
        super().__init__(self.server, rules, clock)
        with reaching("empty the server"):
            self.server.flushall()

    def fill(self, tasks: Sequence[Task]) -> None:
        """Put tasks in line, many at once."""
        self.restore([Standing(task) for task in tasks])

    def set_estimates(self, lane: Lane, costs_ms: dict[str, int]) -> None:
        """Let the lane believe that tasks of these size classes cost so many worker-ms; each end teaches it anew."""
        with reaching("set estimates"):
            self.server.hset(Keys(self.rules.prefix).lane(lane), "estimates", json.dumps(costs_ms))


@contextmanager
def private_valkey() -> Iterator[str]:
    """Run a Valkey that keeps nothing and that nobody else reaches.

    Yields: its URL.
    Raises: ConfigurationError where no binary is installed, or when it does not start.
    """
    # The path of a unix socket may have 107 bytes, fewer than some temporary folders have by themselves.
    with tempfile.TemporaryDirectory(prefix="fairlane-simulate-") as folder:
        valkey = EmbeddedValkey(Path(folder), Path(folder) / "valkey.sock")
        valkey.prepare()
        command = [*tied(), *valkey.command(), "--appendonly", "no"]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, cwd=folder)
        try:
            _await_answer(valkey, process)
            yield f"unix://{valkey.socket_path}"
        finally:
            process.terminate()
            process.wait(_PATIENCE_S)


def tied() -> list[str]:
    """The words that let a program die with this process, where the kernel can do that."""
    if sys.platform != "linux":
        return []
    return [sys.executable, "-I", "-S", str(tether.__file__), str(os.getpid()), "-1"]


def _await_answer(valkey: EmbeddedValkey, process: "subprocess.Popen[bytes]") -> None:
    clock = SystemClock()
    give_up_ms = clock.monotonic_ms() + _PATIENCE_S * 1000
    while not valkey.is_answering():
        if process.poll() is not None or clock.monotonic_ms() > give_up_ms:
            raise ConfigurationError("the private Valkey of the simulation does not start")
        Event().wait(0.02)
