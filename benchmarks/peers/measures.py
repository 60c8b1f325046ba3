"""What is measured of one system in one turn."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from time import perf_counter

from benchmarks.peers.running import Order, Place, Turn, turn
from benchmarks.peers.systems import Shape, System
from benchmarks.peers.work import FLOOD_WAIT_MS
from benchmarks.raw_clients import request_of, send_all
from benchmarks.web_servers import Served
from pipeline.samples import sample_texts

#: As many processes and threads as the text worker of the Procfile has.
SHAPE = Shape(processes=2, threads=4)
FLOOD_SHAPE = Shape(processes=1, threads=4, is_waiting=True)
#: Devices of all runs but those of the flood.
_DEVICES = 100
_FLOODER = "0f0000000000"
#: The share of a line that is worked off before the watch is started.
_WARM_UP = 0.1
#: Texts sent to a system before anything is measured of it.
_FIRST = 20
_TEXTS = sample_texts()


@dataclass(frozen=True, slots=True)
class Throughput:
    """What one turn showed; CPU in milliseconds for each task.

    Args:
        queue_rate: results a second of a line that was there before the workers.
        http_rate: the same from the first request to the last result.
        workers_ms, servers_ms: while the line was worked off; servers are Valkey and PostgreSQL.
        web_ms: while requests came in.
    """

    queue_rate: float
    http_rate: float
    workers_ms: float
    web_ms: float
    servers_ms: float


def throughput(system: System, place: Place, tasks: int, posts: int, clients: int, limit_s: float) -> Throughput:
    """Post texts, then let a line that was there before the workers be worked off; each until the limit at most."""
    with turn(system, place) as one:
        with one.workers(SHAPE), one.web() as web:
            http_rate, web_ms = _posted(one, web, posts, clients, limit_s)
        one.send(_orders(tasks))
        before = one.stored()
        with one.workers(SHAPE) as workers:
            one.must_come_to(before + max(1, int(tasks * _WARM_UP)))
            cpu_s, servers_s, began_s, done = workers.cpu_s(), place.cpu_s(), perf_counter(), one.stored()
            # What was posted and not done in time waits in the line, too.
            one.comes_to(_FIRST + posts + tasks, limit_s)
            ended_s, worked = perf_counter(), one.stored() - done
            cpu_s, servers_s = workers.cpu_s() - cpu_s, place.cpu_s() - servers_s
    to_ms = 1000 / worked
    return Throughput(worked / (ended_s - began_s), http_rate, cpu_s * to_ms, web_ms, servers_s * to_ms)


def _posted(one: Turn, web: Served, posts: int, clients: int, limit_s: float) -> tuple[float, float]:
    """Results a second from the first request on, and the CPU that web takes for each, milliseconds."""
    send_all(web.port, 1, map(_request, range(_FIRST)))
    one.must_come_to(_FIRST)
    cpu_s, began_s = web.cpu_s(), perf_counter()
    send_all(web.port, clients, map(_request, range(posts)))
    web_ms = (web.cpu_s() - cpu_s) / posts * 1000
    one.comes_to(_FIRST + posts, limit_s)
    return (one.stored() - _FIRST) / (perf_counter() - began_s), web_ms


def lonely_waits_ms(system: System, place: Place, tasks: int, period_s: float) -> list[int]:
    """From before each submit to the first line of its work, beside idle workers; one text each period."""
    with turn(system, place) as one, one.workers(SHAPE):
        one.send(_orders(_FIRST))
        one.must_come_to(_FIRST)
        # The first ones open the connections of the process that submits.
        first, rest = _orders(_FIRST), _orders(tasks, period_s, after_s=1)
        submitted = one.send([*first, *rest])
        one.must_come_to(2 * _FIRST + tasks)
        starts = one.starts()
    return _waits_ms(submitted, starts)


def flooded_waits_ms(system: System, place: Place, flood: int, light: int, devices: int, rate: float) -> list[int]:
    """The waits of light devices, from submit to start, while one device has a deep line; every task takes 50 ms.

    Args:
        light: tasks of all light devices together, which come at random moments, so many a second on average.
    """
    chance = Random(1)
    with turn(system, place) as one:
        one.send([(0, _FLOODER, _text(0), FLOOD_WAIT_MS)] * flood)
        # The first ones are the flooder's: they open the connections of the process that submits.
        orders, at_s = [(0.0, _FLOODER, _text(0), FLOOD_WAIT_MS)] * _FIRST, 0.5
        for number in range(light):
            at_s += chance.expovariate(rate)
            orders.append((at_s, f"01{number % devices:010x}", _text(number), FLOOD_WAIT_MS))
        with one.sender(orders) as go, one.workers(FLOOD_SHAPE):
            one.must_come_to(2 * FLOOD_SHAPE.slots)
            submitted = go()
            assert one.stored() < flood, f"{system.name}: the flood was over before the light devices were"
            one.must_come_to(flood + _FIRST + light, 60 + (flood + light) * FLOOD_WAIT_MS / 1000)
            starts = one.starts()
    return _waits_ms(submitted, starts)


def _waits_ms(submitted: Mapping[str, int], starts: Mapping[str, int]) -> list[int]:
    """The waits of all but the first ones, the shortest first."""
    measured = list(submitted.items())[_FIRST:]
    return sorted(starts[task_id] - submitted_ms for task_id, submitted_ms in measured)


def _orders(tasks: int, period_s: float = 0.0, after_s: float = 0.0) -> list[Order]:
    return [(after_s + number * period_s, _mac(number), _text(number), 0) for number in range(tasks)]


def _mac(number: int) -> str:
    return f"02{number % _DEVICES:010x}"


def _text(number: int) -> str:
    return _TEXTS[number % len(_TEXTS)]


def _request(number: int) -> bytes:
    body = json.dumps({"mac": _mac(number), "text": _text(number)}).encode()
    return request_of("/api/ocr/text", "application/json", body)
