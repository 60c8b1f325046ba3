"""How far one queue goes: `make bench-scale`, or with `--tiny` in seconds; `--only` names parts.

* `sizes`: 1,000,000 devices and 10,000,000 waiting tasks; what they take, and whether calls cost more than with 100.
* `drain`: a million tasks put in line and served until none is left.
* `cluster`: three nodes with shards beside one server.
* `hosts`: 3, 10 and 30 hosts that claim, start and complete without working.

Everything runs on this machine, so servers and clients share its cores: what a server's core works for one task says
more of other machines than tasks per second do.
"""

import argparse
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter

import redis

from benchmarks import bench_queue
from benchmarks.bench_queue import Size, measure_costs
from benchmarks.printing import machine, spread, table
from benchmarks.scale_hosts import Place, Served, Work, at_once, put_in_line, serve, work_of
from pipeline.queue import Inspector
from tests.support.clusters import client_of, started_cluster
from tests.support.own_servers import started_valkey
from tests.support.processes import wait_until

_DEEPEN = Path(__file__).with_name("deepen.lua")
#: Devices that one call deepens: about 0.1 s of the server.
_DEEPENED_AT_ONCE = 10_000
#: Longer than any turn.
_UNTIL_EMPTY_S = 86_400.0


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured.

    Args:
        devices: the sizes, smallest first.
        tasks_each: of every device.
        turns: how often each size has its turn.
        calls: of each kind, in one turn of a size.
        fillers: processes that put tasks in line.
        idle: devices that are left behind with nothing pending.
        drained: tasks put in line and served until none is left.
        drainers: hosts that serve them.
        backlog: tasks in line before hosts begin.
        seconds: that hosts then serve.
        hosts: how many of them, in turns.
        rounds: how often each number of hosts, or each form of servers, has its turn.
        shards: of the three nodes.
    """

    devices: Sequence[int] = (100, 10_000, 1_000_000)
    tasks_each: int = 10
    turns: int = 9
    calls: int = 1_000
    fillers: int = 2
    idle: int = 20_000
    drained: int = 1_000_000
    drainers: int = 3
    backlog: int = 60_000
    seconds: float = 8
    hosts: Sequence[int] = (3, 10, 30)
    rounds: int = 3
    shards: int = 6


TINY = Plan(
    devices=(5, 20),
    tasks_each=3,
    turns=1,
    calls=5,
    idle=10,
    drained=60,
    drainers=2,
    backlog=60,
    seconds=0.5,
    hosts=(1, 2),
    rounds=1,
    shards=3,
)


def run(plan: Plan, only: Sequence[str] = ()) -> Iterator[str]:
    """Measure everything, or some parts; give each piece of the report as soon as it is there."""
    with _server() as (_, client):
        yield machine(str(client.info("server").get("valkey_version", "unknown")))
    for name, measure in PARTS.items():
        if not only or name in only:
            yield from measure(plan)


def measure_sizes(plan: Plan) -> Iterator[str]:
    """Sizes side by side on one server: what they take, how long they take to fill, what calls cost."""
    with _server() as (url, client):
        sizes, rows = [], list[list[str]]()
        for devices in plan.devices:
            sizes.append(Size(client, devices))
            rows += _filled(client, Place(url, prefix=sizes[-1].queue.rules.prefix), devices, plan)
        yield "\nMemory while a size grows\n\n" + table(
            ["devices", "tasks waiting", "bytes for each more", "GB used", "GB resident", "seconds"], rows
        )
        costs = bench_queue.Plan(devices=plan.devices, rounds=plan.turns, calls=plan.calls)
        yield f"\nCalls, {plan.turns} turns of {plan.calls:,} a size\n\n" + measure_costs(sizes, costs, gated=0)
    yield "\n" + _measure_idle(plan)


def measure_drain(plan: Plan) -> Iterator[str]:
    """So many tasks in, and out again, until the books say that nothing is left."""
    devices = max(1, plan.drained // 10)
    with _server() as (url, client):
        place = Place(url, dedupe_ms=1_000)
        filling_s, filling = _timed(
            client, lambda: at_once(plan.fillers, put_in_line, place, plan.fillers, devices, 0, 10)
        )
        serving_s, serving = _timed(client, lambda: at_once(plan.drainers, serve, place, _UNTIL_EMPTY_S))
        tasks = 10 * devices
        rows = [
            _phase(f"put in line, {plan.fillers} processes, pages of 500", filling_s, filling, tasks),
            _phase(f"claimed, started, completed, {plan.drainers} hosts", serving_s, serving, tasks),
        ]
        yield f"\n{tasks:,} tasks of {devices:,} devices\n\n" + table(_PHASES, rows)
        books = [books for books in Inspector(client, place.rules).audit() if books.lane == "text"]
        assert books[0].balances, books
        assert books[0].ended["done"] == books[0].accepted == tasks, books
        wait_until(lambda: client.info("keyspace")["db0"]["expires"] <= devices, 60)
        left = Counter(key.decode().removeprefix(place.prefix).split(":")[0] for key in client.scan_iter(count=10_000))
        yield f"books     balance: {tasks:,} accepted, {tasks:,} done; left: " + _listed(left)


def measure_cluster(plan: Plan) -> Iterator[str]:
    """One server and three nodes in turns, by the same hosts."""
    hosts, rows = max(plan.hosts[:2]), list[list[str]]()
    with (
        tempfile.TemporaryDirectory(prefix="fairlane-scale-") as folder,
        started_valkey("127.0.0.1") as single,
        started_cluster(Path(folder)) as cluster,
    ):
        forms = {
            "one server": (Place(single.url), [client_of(single)]),
            f"three nodes, {plan.shards} shards": (
                Place(cluster.url, plan.shards),
                [client_of(node) for node in cluster.nodes],
            ),
        }
        turns: dict[str, list[list[float]]] = {name: [] for name in forms}
        for _ in range(plan.rounds):
            for name, (place, servers) in forms.items():
                turns[name].append(_numbers(*_served_turn(place, servers, hosts, plan)))
        rows = [[name, *map(spread, zip(*numbers, strict=True))] for name, numbers in turns.items()]
    yield f"\nThree nodes beside one, {hosts} hosts\n\n" + table(["servers", *_NUMBERS], rows)


def measure_hosts(plan: Plan) -> Iterator[str]:
    """More and more hosts on one server."""
    turns: dict[int, list[list[float]]] = {hosts: [] for hosts in plan.hosts}
    with started_valkey("127.0.0.1") as server, client_of(server) as client:
        for _ in range(plan.rounds):
            for hosts in plan.hosts:
                turns[hosts].append(_numbers(*_served_turn(Place(server.url), [client], hosts, plan)))
    rows = [[f"{hosts}", *map(spread, zip(*numbers, strict=True))] for hosts, numbers in turns.items()]
    yield "\nHosts on one server\n\n" + table(["hosts", *_NUMBERS], rows)


PARTS: dict[str, Callable[[Plan], Iterator[str]]] = {
    "sizes": measure_sizes,
    "drain": measure_drain,
    "cluster": measure_cluster,
    "hosts": measure_hosts,
}
_PHASES = ["what", "seconds", "tasks/s", "Redis core %", "core µs/task", "bytes in/task", "bytes out/task"]
_NUMBERS = ["tasks/s", "busiest core %", "cores µs/task", "claim p50 µs", "claim p99 µs", "bytes/task"]


def _filled(client: redis.Redis, place: Place, devices: int, plan: Plan) -> Iterator[list[str]]:
    """Give every device its first task by real calls, the others by the server itself; a row of the table for each."""
    for number in range(plan.tasks_each):
        before, began = _used_bytes(client), perf_counter()
        if number == 0:
            at_once(plan.fillers, put_in_line, place, plan.fillers, devices, 0, 1)
        else:
            deepen(client, place, devices, number, number)
        seconds, used = perf_counter() - began, _used_bytes(client)
        yield [
            f"{devices:,}",
            f"{devices * (number + 1):,}",
            f"{(used - before) / devices:,.0f}",
            f"{used / 1e9:.2f}",
            f"{int(client.info('memory')['used_memory_rss']) / 1e9:.2f}",
            f"{seconds:.1f}",
        ]


def deepen(client: redis.Redis, place: Place, devices: int, first: int, last: int) -> None:
    """Put the tasks `first` to `last` of every device behind those that it has, by a script of the server's own."""
    script = client.register_script(_DEEPEN.read_text("utf-8"))
    seconds, micros = client.time()
    now_ms = int(seconds) * 1000 + int(micros) // 1000
    for start in range(0, devices, _DEEPENED_AT_ONCE):
        end = min(start + _DEEPENED_AT_ONCE, devices) - 1
        script(
            keys=[f"{place.prefix}epoch"], args=["text", start, end, first, last, now_ms, now_ms + place.rules.ttl_ms]
        )


def _measure_idle(plan: Plan) -> str:
    """What a device takes that has had a task and has nothing pending now."""
    with _server() as (url, client):
        place = Place(url, dedupe_ms=1)
        at_once(1, put_in_line, place, 1, 1, 0, 1)
        at_once(1, serve, place, _UNTIL_EMPTY_S)
        before = _used_bytes(client)
        at_once(1, put_in_line, place, 1, plan.idle, 1, 2)
        at_once(1, serve, place, _UNTIL_EMPTY_S)
        wait_until(lambda: client.info("keyspace")["db0"]["expires"] <= plan.idle, 60)
        each = (_used_bytes(client) - before) / plan.idle
    return f"idle      {each:,.0f} bytes: a device with nothing pending, until it is forgotten a day later"


def _served_turn(place: Place, servers: list[redis.Redis], hosts: int, plan: Plan) -> tuple[list[Served], Work]:
    """An emptied queue, a backlog, and hosts that serve it for so long."""
    for server in servers:
        server.flushall()
    devices = max(1, plan.backlog // 10)
    # So that the servers know the scripts.
    at_once(1, put_in_line, place, 1, 3 * plan.shards, 10, 11)
    at_once(1, serve, place, _UNTIL_EMPTY_S)
    at_once(plan.fillers, put_in_line, place, plan.fillers, devices, 0, 10)
    before = work_of(servers)
    served = at_once(hosts, serve, place, plan.seconds)
    return served, work_of(servers).since(before)


def _numbers(served: Sequence[Served], work: Work) -> list[float]:
    """In the order of `_NUMBERS`."""
    tasks = max(1, sum(one.tasks for one in served))
    took_s = max(one.ended_s for one in served) - min(one.began_s for one in served)
    waits = sorted(wait for one in served for wait in one.claim_us)
    return [
        tasks / took_s,
        100 * max(work.cores_s) / took_s,
        1e6 * sum(work.cores_s) / tasks,
        median(waits),
        quantiles(waits, n=100)[98],
        (work.in_bytes + work.out_bytes) / tasks,
    ]


def _timed(client: redis.Redis, call: Callable[[], object]) -> tuple[float, Work]:
    before, began = work_of([client]), perf_counter()
    call()
    return perf_counter() - began, work_of([client]).since(before)


def _phase(what: str, seconds: float, work: Work, tasks: int) -> list[str]:
    return [
        what,
        f"{seconds:.0f}",
        f"{tasks / seconds:,.0f}",
        f"{100 * work.cores_s[0] / seconds:.0f}",
        f"{1e6 * work.cores_s[0] / tasks:.0f}",
        f"{work.in_bytes / tasks:,.0f}",
        f"{work.out_bytes / tasks:,.0f}",
    ]


def _listed(left: Counter[str]) -> str:
    return ", ".join(f"{count:,} {kind}" for kind, count in sorted(left.items()))


def _used_bytes(client: redis.Redis) -> int:
    return int(client.info("memory")["used_memory"])


@contextmanager
def _server() -> Iterator[tuple[str, redis.Redis]]:
    """A server that keeps small values as docs/howto/redis.md wants it."""
    with started_valkey() as server, redis.Redis.from_url(server.url) as client:
        for kind in ("hash", "zset"):
            client.config_set(f"{kind}-max-listpack-value", 128)
        yield server.url, client


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tiny", action="store_true", help="each thing once, in seconds: says that it works, not more")
    parser.add_argument("--only", choices=PARTS, nargs="+", default=(), help="these parts")
    arguments = parser.parse_args()
    for piece in run(TINY if arguments.tiny else Plan(), arguments.only):
        print(piece, flush=True)


if __name__ == "__main__":
    main()
