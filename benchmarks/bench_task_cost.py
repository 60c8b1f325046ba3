"""What one text costs, from its submit over HTTP to its stored result: `make bench-task-cost`, or `--tiny`.

All processes of the Procfile that a text needs, one of each, on a Valkey over TCP and on PostgreSQL (with fsync) or
SQLite; eight clients on kept connections, which share the cores with everything else. Three phases, over and over:
`submit` (nobody works), `work` (what was submitted is worked off), `together` (both at once, HTTP to stored result).
"""

import argparse
import signal
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.printing import machine, spread, table
from benchmarks.raw_clients import send_all, text_request
from benchmarks.text_house import TextHouse, Used, text_house
from pipeline.clock import SystemClock

_PHASES = ("submit", "work", "together")
_DATABASES = ("PostgreSQL", "SQLite")
_WARM_UP = 0.1


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured.

    Args:
        tasks: of one phase.
        rounds: of all phases.
        devices: that send in turns.
    """

    tasks: int = 1_500
    rounds: int = 3
    clients: int = 8
    devices: int = 100
    databases: tuple[str, ...] = _DATABASES


TINY = Plan(tasks=20, rounds=1, clients=2, devices=3)


@dataclass(frozen=True, slots=True)
class Phase:
    """What one phase of one round showed."""

    per_second: float
    used: Used


def run(plan: Plan) -> Iterator[str]:
    """Measure; give each piece of the report as soon as it is there."""
    phases: dict[tuple[str, str], list[Phase]] = defaultdict(list)
    memory: list[list[str]] = []
    for database in plan.databases:
        with (
            TemporaryDirectory(prefix="fairlane-bench-") as folder,
            text_house(Path(folder), database) as house,
        ):
            if database == plan.databases[0]:
                yield machine(house.server_version()) + "\n"
            _sent(house, plan, max(1, int(plan.tasks * _WARM_UP)))
            house.wait_until_done()
            for _ in range(plan.rounds):
                for name, phase in _round(house, plan):
                    phases[database, name].append(phase)
            memory += [
                [database, name, f"{resident:.0f}", f"{own:.0f}"] for name, (resident, own) in house.memory_mb().items()
            ]
    yield f"{plan.rounds} rounds of {plan.tasks:,} texts, {plan.clients} clients, {plan.devices} devices\n"
    yield _cpu_table(plan, phases)
    yield ""
    yield _count_table(plan, phases)
    yield ""
    yield table(["database", "process", "resident, MB", "its own, MB"], memory)


def _round(house: TextHouse, plan: Plan) -> Iterator[tuple[str, Phase]]:
    with house.text_worker_stopped():
        yield "submit", _phase(house, plan, lambda: _sent(house, plan, plan.tasks))
        before, began_ms = house.used(), SystemClock().now_ms()
    ended_ms = house.wait_until_done()
    yield "work", Phase(plan.tasks / (ended_ms - began_ms) * 1000, house.used().since(before))

    def both() -> int:
        _sent(house, plan, plan.tasks)
        return house.wait_until_done()

    yield "together", _phase(house, plan, both)


def _phase(house: TextHouse, plan: Plan, act: Callable[[], int]) -> Phase:
    before, began_ms = house.used(), SystemClock().now_ms()
    ended_ms = act()
    return Phase(plan.tasks / (ended_ms - began_ms) * 1000, house.used().since(before))


def _sent(house: TextHouse, plan: Plan, tasks: int) -> int:
    """Send them all; return when the last one was accepted, epoch ms."""
    macs = [f"0a{number:010x}" for number in range(plan.devices)]
    send_all(house.port, plan.clients, [text_request(macs[number % len(macs)]) for number in range(tasks)])
    return SystemClock().now_ms()


def _cpu_table(plan: Plan, phases: dict[tuple[str, str], list[Phase]]) -> str:
    names = ("web", "text", "scheduler", "Valkey", "PostgreSQL")
    rows = []
    for database in plan.databases:
        for phase in _PHASES:
            found = phases[database, phase]
            cpu_ms = [_per_task(plan, [each.used.cpu_s.get(name, 0.0) * 1000 for each in found]) for name in names]
            rows.append([database, phase, spread([each.per_second for each in found])] + [f"{ms:.2f}" for ms in cpu_ms])
    return table(["database", "phase", "tasks/s", *(f"{name}, CPU ms" for name in names)], rows)


def _count_table(plan: Plan, phases: dict[tuple[str, str], list[Phase]]) -> str:
    """Of each phase but the last, which is the sum of both."""
    columns = [(database, phase) for database in plan.databases for phase in _PHASES[:2]]
    names = dict.fromkeys(name for column in columns for name in phases[column][0].used.counts)
    rows = [
        [name, *(_shown(plan, [each.used.counts.get(name) for each in phases[column]]) for column in columns)]
        for name in names
    ]
    return table(["per task", *(f"{database}, {phase}" for database, phase in columns)], rows)


def _shown(plan: Plan, counts: list[float | None]) -> str:
    known = [count for count in counts if count is not None]
    return f"{_per_task(plan, known):,.1f}" if known else "-"


def _per_task(plan: Plan, totals: list[float]) -> float:
    return median(totals) / plan.tasks


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tiny", action="store_true", help="a few tasks, in seconds: says that it works, not more")
    parser.add_argument("--database", choices=_DATABASES, action="append", help="only this one")
    options = parser.parse_args()
    # What is told to end goes by way of its `finally`: no worker stays behind, stopped for ever.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    plan = TINY if options.tiny else Plan()
    for piece in run(replace(plan, databases=tuple(options.database or _DATABASES))):
        print(piece, flush=True)


if __name__ == "__main__":
    main()
