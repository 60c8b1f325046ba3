"""How much `bench_scale` measures."""

from collections.abc import Sequence
from dataclasses import dataclass


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
    backlog: int = 40_000
    seconds: float = 6
    hosts: Sequence[int] = (3, 10, 30)
    rounds: int = 2
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
