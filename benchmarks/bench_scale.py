"""How far one queue goes: `make bench-scale`, or with `--tiny` in seconds; `--only` names parts.

* `sizes`: 1,000,000 devices and 10,000,000 waiting tasks; what they take, and whether calls cost more than with 100.
* `idle`: what a device takes that has nothing pending.
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
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter

import redis

from benchmarks.compact_server import compact_server
from benchmarks.printing import machine, spread, table
from benchmarks.scale_hosts import UNTIL_EMPTY_S, Place, Served, Work, at_once, put_in_line, serve, stand_by, work_of
from benchmarks.scale_plan import TINY, Plan
from benchmarks.scale_sizes import measure_idle, measure_sizes
from pipeline.queue import Inspector
from tests.support.clusters import client_of, started_cluster
from tests.support.own_servers import started_valkey
from tests.support.processes import wait_until


def run(plan: Plan, only: Sequence[str] = ()) -> Iterator[str]:
    """Measure everything, or some parts; give each piece of the report as soon as it is there."""
    with compact_server() as (_, client):
        yield machine(str(client.info("server").get("valkey_version", "unknown")))
    for name, measure in PARTS.items():
        if not only or name in only:
            yield from measure(plan)


def measure_drain(plan: Plan) -> Iterator[str]:
    """So many tasks in, and out again, until the books say that nothing is left."""
    devices = max(1, plan.drained // 10)
    with compact_server() as (url, client):
        place = Place(url, dedupe_ms=1_000)
        filling_s, filling = _timed(
            client, lambda: at_once(plan.fillers, put_in_line, place, plan.fillers, devices, 0, 10)
        )
        serving_s, serving = _timed(client, lambda: at_once(plan.drainers, serve, place, UNTIL_EMPTY_S))
        tasks = 10 * devices
        rows = [
            _phase(f"put in line, {plan.fillers} processes, pages of 500", filling_s, filling, tasks),
            _phase(f"claimed, started, completed, {plan.drainers} hosts", serving_s, serving, tasks),
        ]
        yield f"\n{tasks:,} tasks of {devices:,} devices\n\n" + table(_PHASES, rows)
        books = [books for books in Inspector(client, place.rules).audit() if books.lane == "text"]
        assert books[0].balances, books
        assert books[0].ended["done"] == books[0].accepted == tasks, books
        # A scan, since a server lets up to a tenth of what has run out lie until somebody comes by.
        wait_until(lambda: "task" not in _left(client, place), 60)
        yield f"books     balance: {tasks:,} accepted, {tasks:,} done; left: " + _listed(_left(client, place))


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
        idle = _standing_by(Place(server.url), client, max(plan.hosts), plan.seconds)
    rows = [[f"{hosts}", *map(spread, zip(*numbers, strict=True))] for hosts, numbers in turns.items()]
    yield "\nHosts on one server\n\n" + table(["hosts", *_NUMBERS], rows)
    yield idle


PARTS: dict[str, Callable[[Plan], Iterator[str]]] = {
    "sizes": measure_sizes,
    "idle": measure_idle,
    "drain": measure_drain,
    "cluster": measure_cluster,
    "hosts": measure_hosts,
}
_PHASES = ["what", "seconds", "tasks/s", "Redis core %", "core µs/task", "bytes in/task", "bytes out/task"]
_NUMBERS = ["tasks/s", "busiest core %", "cores µs/task", "claim p50 µs", "claim p99 µs", "bytes/task"]


def _standing_by(place: Place, client: redis.Redis, hosts: int, seconds: float) -> str:
    client.flushall()
    took_s, work = _timed(client, lambda: at_once(hosts, stand_by, place, seconds))
    return f"waiting   {hosts} hosts with nothing to do: {100 * work.cores_s[0] / took_s:.1f} % of the server's core"


def _served_turn(place: Place, servers: list[redis.Redis], hosts: int, plan: Plan) -> tuple[list[Served], Work]:
    """An emptied queue, a backlog, and hosts that serve it for so long."""
    for server in servers:
        server.flushall()
    devices = max(1, plan.backlog // 10)
    # So that the servers know the scripts.
    at_once(1, put_in_line, place, 1, 3 * plan.shards, 10, 11)
    at_once(1, serve, place, UNTIL_EMPTY_S)
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


def _left(client: redis.Redis, place: Place) -> Counter[str]:
    """How many keys there are of each kind."""
    return Counter(key.decode().removeprefix(place.prefix).split(":")[0] for key in client.scan_iter(count=10_000))


def _listed(left: Counter[str]) -> str:
    return ", ".join(f"{count:,} {kind}" for kind, count in sorted(left.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tiny", action="store_true", help="each thing once, in seconds: says that it works, not more")
    parser.add_argument("--only", choices=PARTS, nargs="+", default=(), help="these parts")
    arguments = parser.parse_args()
    for piece in run(TINY if arguments.tiny else Plan(), arguments.only):
        print(piece, flush=True)


if __name__ == "__main__":
    main()
