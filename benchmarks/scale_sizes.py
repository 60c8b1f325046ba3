"""A few devices and very many side by side on one server: what they take, and whether calls cost more with many."""

from collections.abc import Iterator
from time import perf_counter

import redis

from benchmarks import bench_queue
from benchmarks.bench_queue import Size, measure_costs
from benchmarks.compact_server import compact_server
from benchmarks.printing import table
from benchmarks.scale_fill import deepen, enqueue_all
from benchmarks.scale_hosts import UNTIL_EMPTY_S, Place, at_once, put_in_line, serve
from benchmarks.scale_plan import Plan
from tests.support.processes import wait_until

_GROWTH = ["tasks waiting", "bytes for each more", "GB used", "GB resident", "seconds"]


def measure_sizes(plan: Plan) -> Iterator[str]:
    """Sizes side by side on one server: what they take, how long they take to fill, what calls cost."""
    with compact_server() as (url, client):
        sizes = []
        for devices in plan.devices:
            sizes.append(Size(client, devices))
            place = Place(url, prefix=sizes[-1].queue.rules.prefix)
            yield f"\n{devices:,} devices\n\n" + table(_GROWTH, list(_filled(client, place, devices, plan)))
        costs = bench_queue.Plan(devices=plan.devices, rounds=plan.turns, calls=plan.calls)
        yield f"\nCalls, {plan.turns} turns of {plan.calls:,} a size\n\n" + measure_costs(sizes, costs, gated=0)


def _filled(client: redis.Redis, place: Place, devices: int, plan: Plan) -> Iterator[list[str]]:
    """Give every device its first task by the queue's own script, then the others; a row of the table for each."""
    for number in range(plan.tasks_each):
        before, began = _used_bytes(client), perf_counter()
        if number == 0:
            enqueue_all(client, place, devices)
        else:
            deepen(client, place, devices, number, number)
        seconds, used = perf_counter() - began, _used_bytes(client)
        yield [
            f"{devices * (number + 1):,}",
            f"{(used - before) / devices:,.0f}",
            f"{used / 1e9:.2f}",
            f"{int(client.info('memory')['used_memory_rss']) / 1e9:.2f}",
            f"{seconds:.1f}",
        ]


def measure_idle(plan: Plan) -> Iterator[str]:
    """What a device takes that has had a task and has nothing pending now."""
    with compact_server() as (url, client):
        place = Place(url, dedupe_ms=1)
        at_once(1, put_in_line, place, 1, 1, 0, 1)
        at_once(1, serve, place, UNTIL_EMPTY_S)
        before = _used_bytes(client)
        at_once(1, put_in_line, place, 1, plan.idle, 1, 2)
        at_once(1, serve, place, UNTIL_EMPTY_S)
        wait_until(lambda: client.info("keyspace")["db0"]["expires"] <= plan.idle, 60)
        each = (_used_bytes(client) - before) / plan.idle
    yield f"\nidle      {each:,.0f} bytes: a device with nothing pending, until it is forgotten a day later"


def _used_bytes(client: redis.Redis) -> int:
    return int(client.info("memory")["used_memory"])
