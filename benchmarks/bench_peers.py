"""fairlane beside what people would use instead: `make bench-peers`, a part with `--only latency`, or `--tiny`.

Throughput: texts a second, from a waiting line to stored results and from HTTP to stored results, and the CPU of each
text, on PostgreSQL and on SQLite. Latency: from submit to start beside idle workers. Flood: how long devices with
little to do wait beside one with thousands of tasks, each of 50 ms. All in real processes; the systems take turns, so
that what else the machine does falls on all of them. What each peer is and how it is set up: `benchmarks/peers`.
"""

import argparse
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import redis

from benchmarks.peers.measures import SHAPE, Throughput, flooded_waits_ms, lonely_waits_ms, throughput
from benchmarks.peers.running import Place
from benchmarks.peers.systems import CELERY, DRAMATIQ, FAIRLANE, ORIGINAL, PEERS, SYSTEMS, System
from benchmarks.peers.work import FLOOD_WAIT_MS
from benchmarks.printing import machine, spread, table
from tests.support.own_servers import started_postgres, started_valkey

PARTS = ("postgresql", "sqlite", "latency", "flood")
#: By how much fairlane is to be faster than each of these.
_TARGETS = {ORIGINAL: 10.0, CELERY: 3.0, DRAMATIQ: 1.0}
_P50_MS, _P99_MS = 10, 50
#: The columns of waits, as wide as what stands in them.
_NAME, _WAITS = "           system", ["waits", " p50 ms", " p99 ms", " max ms"]
#: A light device waits for the slot that is free next, and for the dispatch.
_FLOODED_MS = FLOOD_WAIT_MS + 50


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured.

    Args:
        rounds: turns of each system for its throughput.
        tasks: in line before the workers begin.
        posts: of the clients, in all.
        limit_s: of each of the two measurements; slow systems are judged by what they did until then.
        lonely: texts sent one by one to idle workers, `lonely_s` apart.
        flood: tasks of the flooding device.
        light: tasks of all light devices, `light_rate` of them a second.
    """

    rounds: int = 3
    tasks: int = 4_000
    posts: int = 500
    clients: int = 8
    limit_s: float = 8.0
    lonely: int = 200
    lonely_s: float = 0.05
    flood: int = 2_000
    light: int = 300
    light_devices: int = 20
    light_rate: float = 20.0


TINY = Plan(rounds=1, tasks=200, posts=10, clients=2, limit_s=20, lonely=4, flood=200, light=6, light_devices=3)


def run(plan: Plan, parts: Sequence[str] = PARTS, systems: Sequence[System] = SYSTEMS) -> Iterator[str]:
    """Measure; give each piece of the report as soon as it is there."""
    with ExitStack() as stack:
        valkey = stack.enter_context(started_valkey("127.0.0.1"))
        client = stack.enter_context(redis.Redis.from_url(valkey.url))
        yield machine(str(client.info("server").get("valkey_version", "unknown"))) + "\n"
        postgres = Place(valkey, stack.enter_context(started_postgres()))
        if "postgresql" in parts:
            yield from _throughput(plan, postgres, systems)
        if "sqlite" in parts:
            yield from _throughput(plan, Place(valkey, None), systems)
        if "latency" in parts:
            yield from _latency(plan, postgres, systems)
        if "flood" in parts:
            yield from _flood(plan, postgres, systems)


def _throughput(plan: Plan, place: Place, systems: Sequence[System]) -> Iterator[str]:
    shown: dict[System, list[Throughput]] = {system: [] for system in systems}
    for number in range(plan.rounds):
        # The other way round in every second round: what drifts falls on all.
        for system in systems if number % 2 == 0 else reversed(systems):
            one = throughput(system, place, plan.tasks, plan.posts, plan.clients, plan.limit_s)
            shown[system].append(one)
            yield f"turn {number + 1}, {system.name}: queue {one.queue_rate:.0f}/s, HTTP {one.http_rate:.0f}/s"
    yield f"\ntexts, {place.database}, {SHAPE.processes} processes of {SHAPE.threads} threads, {plan.rounds} turns each"
    columns = ["queue to stored/s", "HTTP to stored/s", "CPU ms: workers", "web", "servers"]
    yield table(["system", *columns], [[system.name, *_figures(turns)] for system, turns in shown.items()])
    yield "\n".join(_ratios(shown)) + "\n"


def _figures(turns: Sequence[Throughput]) -> list[str]:
    rates = [spread([turn.queue_rate for turn in turns]), spread([turn.http_rate for turn in turns])]
    costs = ("workers_ms", "web_ms", "servers_ms")
    return [*rates, *(spread([getattr(turn, cost) for turn in turns], 2) for cost in costs)]


def _ratios(shown: Mapping[System, Sequence[Throughput]]) -> Iterator[str]:
    """How many times as fast fairlane was as each peer, round by round."""
    for peer in PEERS:
        if FAIRLANE not in shown or peer not in shown:
            continue
        pairs = list(zip(shown[FAIRLANE], shown[peer], strict=True))
        queue = [ours.queue_rate / theirs.queue_rate for ours, theirs in pairs]
        http = [ours.http_rate / theirs.http_rate for ours, theirs in pairs]
        wanted = f"; wanted: {_TARGETS[peer]:.0f}" if peer in _TARGETS else ""
        yield f"fairlane / {peer.name}: queue {spread(queue, 2)}, HTTP {spread(http, 2)}{wanted}"


def _latency(plan: Plan, place: Place, systems: Sequence[System]) -> Iterator[str]:
    yield f"submit to start beside idle workers, {place.database}, one text every {plan.lonely_s * 1000:.0f} ms"
    yield from _waits(systems, lambda system: lonely_waits_ms(system, place, plan.lonely, plan.lonely_s))
    yield f"wanted of fairlane: p50 below {_P50_MS} ms, p99 below {_P99_MS} ms\n"


def _flood(plan: Plan, place: Place, systems: Sequence[System]) -> Iterator[str]:
    amounts = (plan.flood, plan.light, plan.light_devices, plan.light_rate)
    yield f"submit to start of {plan.light_devices} light devices beside one with {plan.flood:,} tasks waiting"
    yield from _waits(systems, lambda system: flooded_waits_ms(system, place, *amounts))
    yield f"wanted of fairlane: a maximum of {_FLOODED_MS} ms, one residual service time and 50 ms"


def _waits(systems: Sequence[System], measure: Callable[[System], list[int]]) -> Iterator[str]:
    """A table whose rows come as they are measured, since each takes its time."""
    header, rule, _ = table([_NAME, *_WAITS], [[" " * len(_NAME), *_WAITS]]).splitlines()
    yield f"{header}\n{rule}"
    for system in systems:
        waits_ms = measure(system)
        shares = (waits_ms[int(len(waits_ms) * share)] for share in (0.5, 0.99))
        row = [str(len(waits_ms)), *(f"{wait_ms:,}" for wait_ms in (*shares, waits_ms[-1]))]
        yield table([_NAME, *_WAITS], [[system.name, *row]]).splitlines()[-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tiny", action="store_true", help="a moment each: says that it works, not more")
    parser.add_argument("--only", choices=PARTS, nargs="+", default=PARTS, help="some parts")
    names = [system.name for system in SYSTEMS]
    parser.add_argument("--systems", choices=names, nargs="+", default=names, help="some systems")
    parser.add_argument("--rounds", type=int, default=Plan().rounds, help="turns of each system for its throughput")
    options = parser.parse_args()
    # So that a benchmark that is ended takes its processes with it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    plan = TINY if options.tiny else Plan(rounds=options.rounds)
    for piece in run(plan, options.only, [system for system in SYSTEMS if system.name in options.systems]):
        print(piece, flush=True)


if __name__ == "__main__":
    main()
