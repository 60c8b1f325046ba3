"""Processes that put tasks in line and serve them as many hosts would: through the real queue, without any work."""

import multiprocessing
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, TypeVar

import redis

from pipeline.queue import FairQueue, Rules, Standing, Task
from pipeline.queue.connection import connect
from pipeline.queue.sharded_queue import ShardedQueue

_Answer = TypeVar("_Answer")

#: Seconds that a server which shares its core with everybody else may take for one reply.
_PATIENCE_S = 30
#: As the broker: longest wait for a wake-up, seconds.
_POLL_S = 0.5
#: Tasks sent in one go.
_PAGE = 500
_DAY_MS = 86_400_000
#: Longer than any turn.
UNTIL_EMPTY_S = 86_400.0
#: Worker-ms that each task is said to have cost.
_COST_MS = 10


@dataclass(frozen=True, slots=True)
class Place:
    """Where a queue lies, such that another process can open it.

    Args:
        shards: 0 for the layout without.
        dedupe_ms: how long ended tasks are remembered.
    """

    url: str
    shards: int = 0
    prefix: str = "sensitive:"
    dedupe_ms: int = _DAY_MS

    @property
    def rules(self) -> Rules:
        unlimited = 10**9
        return Rules(
            prefix=self.prefix, max_total=unlimited, max_per_mac=unlimited, ttl_ms=_DAY_MS, dedupe_ms=self.dedupe_ms
        )

    def client(self) -> redis.Redis:
        return connect(self.url, patience_s=_PATIENCE_S, retries=0)

    def queue(self) -> FairQueue:
        if self.shards:
            return ShardedQueue(self.client(), self.rules, self.shards)
        return FairQueue(self.client(), self.rules)


@dataclass(slots=True)
class Served:
    """What one host did; times in seconds on the clock that all processes of a machine share."""

    began_s: float = 0.0
    ended_s: float = 0.0
    tasks: int = 0
    #: What each claim made it wait, µs.
    claim_us: list[float] = field(default_factory=list)


def mac_of(device: int) -> str:
    return f"{device:012x}"


def task_of(device: int, number: int) -> Task:
    """The task of a device with this number; its id is as long as those that fairlane makes, 36 characters."""
    return Task(f"{device:016x}-{number:019d}", "text", mac_of(device), 0)


def put_in_line(number: int, place: Place, hosts: int, devices: int, first: int, end: int) -> None:
    """Put the tasks `first` to `end - 1` of every device in line that falls to this host, in pages."""
    queue, page = place.queue(), list[Standing]()
    for of_device in range(first, end):
        for device in range(number, devices, hosts):
            page.append(Standing(task_of(device, of_device)))
            if len(page) == _PAGE:
                queue.restore(page)
                page.clear()
    queue.restore(page)


def serve(_number: int, place: Place, seconds: float) -> Served:
    """Claim, start and complete one task after the other, for so long or until none has come for a while.

    As the broker does it: who finds nothing waits for a wake-up.
    """
    queue, served = place.queue(), Served(began_s=perf_counter())
    served.ended_s = served.began_s
    while served.ended_s - served.began_s < seconds:
        began = perf_counter()
        claims = queue.claim("text")
        served.claim_us.append((perf_counter() - began) * 1e6)
        if not claims:
            queue.wait_for_work("text", timeout_s=_POLL_S)
            claims = queue.claim("text")
        if not claims:
            break
        for claim in claims:
            queue.start(claim.task_id, claim.token)
            queue.complete(claim.task_id, claim.token, cost_ms=_COST_MS)
        served.tasks += len(claims)
        served.ended_s = perf_counter()
    return served


def stand_by(_number: int, place: Place, seconds: float) -> None:
    """Ask for work that there is none of, for so long, as the broker does."""
    queue, began = place.queue(), perf_counter()
    while perf_counter() - began < seconds:
        for _ in range(2):
            queue.claim("text")
        queue.wait_for_work("text", timeout_s=_POLL_S)


def at_once(count: int, work: Callable[..., _Answer], *args: Any) -> list[_Answer]:
    """Run `work(number, *args)` in `count` processes that begin together; return what they gave.

    Raises: EOFError, when one of them failed; it has told why.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    begin, answers = context.Barrier(count), []
    for number in range(count):
        answer, end = context.Pipe(duplex=False)
        context.Process(target=_answer, args=(end, begin, work, number, *args), daemon=True).start()
        end.close()
        answers.append(answer)
    return [answer.recv() for answer in answers]


def _answer(end: Any, begin: Any, work: Callable[..., _Answer], *args: Any) -> None:
    begin.wait()
    end.send(work(*args))


@dataclass(frozen=True, slots=True)
class Work:
    """What servers have done so far, or between two moments.

    Args:
        cores_s: processor seconds of the core that carries out commands, of each server.
    """

    cores_s: tuple[float, ...]
    in_bytes: int
    out_bytes: int

    def since(self, before: "Work") -> "Work":
        cores_s = tuple(now - then for now, then in zip(self.cores_s, before.cores_s, strict=True))
        return Work(cores_s, self.in_bytes - before.in_bytes, self.out_bytes - before.out_bytes)


def work_of(servers: Sequence[redis.Redis]) -> Work:
    about = [server.info() for server in servers]
    return Work(
        tuple(float(one["used_cpu_user_main_thread"]) + float(one["used_cpu_sys_main_thread"]) for one in about),
        sum(int(one["total_net_input_bytes"]) for one in about),
        sum(int(one["total_net_output_bytes"]) for one in about),
    )
