"""What the queue costs at 10 to 1,000,000 devices: `make bench-queue`, or with `--tiny` in seconds.

All sizes lie on one server side by side and are measured in turns, so that whatever else the machine does falls on all
of them and their ratios mean something. One client, one unix socket, one call at a time: what is printed is what a
caller waits, beside what the server's core works for it.
"""

import argparse
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from statistics import median
from time import perf_counter_ns

import redis

from benchmarks.compact_server import compact_server
from benchmarks.printing import machine, spread, table
from benchmarks.scale_fill import enqueue_all
from benchmarks.scale_hosts import Place, mac_of
from pipeline.queue import Claim, FairQueue, Task
from pipeline.queue.types import LANES

#: Calls sent in one go while devices are paused.
_PAGE = 1_000


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured.

    Args:
        devices: the sizes; each device has one task waiting.
        rounds: how often each size has its turn.
        calls: of each kind, in one turn.
    """

    devices: Sequence[int] = (10, 1_000, 100_000, 1_000_000)
    rounds: int = 7
    calls: int = 1_000


TINY = Plan(devices=(10, 50), rounds=2, calls=10)


@dataclass(slots=True)
class Turns:
    """The medians of one operation, one for each turn: µs that the caller waits, µs of the server, calls per second."""

    caller_us: list[float] = field(default_factory=list)
    server_us: list[float] = field(default_factory=list)
    per_second: list[float] = field(default_factory=list)


class _PausingQueue(FairQueue):
    """The queue, and one thing more that only a measurement needs."""

    def pause_all(self, macs: Sequence[str]) -> None:
        """Pause devices, many at once."""
        rows = [(mac, self.rules.policy, " ".join(LANES), "", "", "", "1", "") for mac in macs]
        self._call_many("set_device", rows)


class Size:
    """One number of devices under a prefix of its own."""

    def __init__(self, client: redis.Redis, devices: int) -> None:
        self.client, self.devices = client, devices
        self.place = Place("", prefix=f"d{devices}:")
        self.queue = _PausingQueue(client, self.place.rules)
        self.measured: dict[str, Turns] = {name: Turns() for name in ("enqueue", "claim", "complete")}
        self._ids, self._fills = count(), 0
        self._random = random.Random(devices)

    def fill(self) -> float:
        """Put one task of every device in line; return the bytes that each took."""
        before = self._used_bytes()
        enqueue_all(self.client, self.place, self.devices, self._fills)
        self._fills += 1
        return (self._used_bytes() - before) / self.devices

    def pause(self, part: float) -> None:
        """Pause this part of the devices, whose tasks wait on."""
        paused = int(self.devices * part)
        for start in range(0, paused, _PAGE):
            self.queue.pause_all([mac_of(device) for device in range(start, min(start + _PAGE, paused))])

    def take_turn(self, calls: int, eager: Sequence[int]) -> None:
        """Enqueue, claim and complete `calls` tasks, of the devices in `eager`."""
        tasks = [self._task(self._random.choice(eager)) for _ in range(calls)]
        claims: list[Claim] = []
        self._measure("enqueue", [lambda task=task: self.queue.enqueue(task) for task in tasks])
        self._measure("claim", [lambda: claims.extend(self.queue.claim("text"))] * calls)
        assert len(claims) == calls, "a claim found nothing"
        self._measure(
            "complete",
            [lambda claim=claim: self.queue.complete(claim.task_id, claim.token, cost_ms=10) for claim in claims],
        )

    def forget_turns(self) -> None:
        self.measured = {name: Turns() for name in self.measured}

    def _measure(self, name: str, calls: Sequence[Callable[[], object]]) -> None:
        waits, before = [], self._script_usec()
        for call in calls:
            began = perf_counter_ns()
            call()
            waits.append(perf_counter_ns() - began)
        turns = self.measured[name]
        turns.caller_us.append(median(waits) / 1e3)
        turns.server_us.append((self._script_usec() - before) / len(calls))
        turns.per_second.append(len(waits) * 1e9 / sum(waits))

    def _task(self, device: int) -> Task:
        return Task(f"{self.devices:016d}-{next(self._ids):019d}", "text", mac_of(device), 0)

    def _script_usec(self) -> float:
        stats = self.client.info("commandstats")
        return float(stats["cmdstat_fcall"]["usec"]) if "cmdstat_fcall" in stats else 0.0

    def _used_bytes(self) -> int:
        return int(self.client.info("memory")["used_memory"])


def measure_costs(sizes: Sequence[Size], plan: Plan, *, gated: float) -> str:
    """Let the sizes take turns; return the table.

    Args:
        gated: part of the devices that are paused: tasks are enqueued for the others.
    """
    for size in sizes:
        size.forget_turns()
    for turn in range(plan.rounds + 1):
        for size in sizes:
            size.take_turn(plan.calls, range(int(size.devices * gated), size.devices))
            if turn == 0:
                size.forget_turns()  # the first one warms up: caches, connections, the server's memory
    rows = []
    for name in ("enqueue", "claim", "complete"):
        first = sizes[0].measured[name]
        for size in sizes:
            turns = size.measured[name]
            rows.append(
                [
                    name,
                    f"{size.devices:,}",
                    spread(turns.per_second),
                    spread(turns.caller_us),
                    spread(turns.server_us, 1),
                    f"{median(turns.caller_us) / median(first.caller_us):.2f}",
                    f"{median(turns.server_us) / median(first.server_us):.2f}",
                ]
            )
    return table(["operation", "devices", "per second", "p50 µs", "server µs", "p50, ratio", "server, ratio"], rows)


def measure_memory(client: redis.Redis, sizes: Sequence[Size]) -> str:
    """Fill the sizes; return the bytes per device with a task, and apart for the device and for the task."""
    Size(client, 1).fill()  # scripts and the like are there once, whatever the size
    rows = [[f"{size.devices:,} devices, one task each", f"{size.fill():,.0f}"] for size in sizes]
    probe = Size(client, max(2, min(100_000, sizes[-1].devices) - 1))
    with_first, with_second = probe.fill(), probe.fill()
    rows.append(["of it the task: the second one of each device", f"{with_second:,.0f}"])
    rows.append(["of it the device: what remains", f"{with_first - with_second:,.0f}"])
    for key in client.scan_iter(f"d{probe.devices}:*", count=10_000):
        client.unlink(key)
    return table(["memory", "bytes each"], rows)


def measure_floor(client: redis.Redis, calls: int) -> str:
    """What a caller waits for a script that does nothing: no queue can be faster."""
    script = client.register_script("return 1")
    waits = []
    script()
    for _ in range(calls):
        began = perf_counter_ns()
        script()
        waits.append((perf_counter_ns() - began) / 1e3)
    return f"floor     {median(waits):.0f} µs: p50 of a script that does nothing"


def run(plan: Plan) -> Iterator[str]:
    """Measure everything; give each piece of the report as soon as it is there."""
    with compact_server() as (_, client):
        sizes = [Size(client, devices) for devices in plan.devices]
        yield machine(str(client.info("server").get("valkey_version", "unknown")))
        yield measure_floor(client, plan.calls)
        yield f"plan      {plan.rounds} turns of {plan.calls:,} calls a size; median (least–most) of the turns"
        yield "\nMemory\n\n" + measure_memory(client, sizes)
        yield "\nAll devices can be served\n\n" + measure_costs(sizes, plan, gated=0)
        for size in sizes:
            size.pause(0.9)
        yield "\n90 % of the devices are paused, their tasks wait on\n\n" + measure_costs(sizes, plan, gated=0.9)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tiny", action="store_true", help="each thing once, in seconds: says that it works, not more")
    for piece in run(TINY if parser.parse_args().tiny else Plan()):
        print(piece, flush=True)


if __name__ == "__main__":
    main()
