"""Whose turn it is among the shards: one more level of fair queueing above sites and devices, kept by each consumer.

A consumer keeps a virtual time for every shard of a lane. What it claims advances the shard's time by the worker-ms
charged over the shard's weight, and it asks the shard with the least time first. So consumers need not talk to each
other: when each of them divides what it claims rightly, the sum is divided rightly.

The clocks V that the shards keep themselves are not compared. V advances per *active site*, so equal V would give every
shard the same share; with one site a shard of ten devices would get what a shard of thirty gets. Therefore the weight
of a shard is what it holds of each site: the sum over its sites of `w_site × (device weights here / in all shards)`.
With one site, shares are those of a queue without shards. With several they are close: inside a shard, sites still
share by their whole weight, so a site that lives in one shard only is served less than it is due when the others fill
all shards (docs/why/queue-cost.md).

A shard that was empty is asked first, unless it is ahead: it costs a question and keeps a newcomer's wait as short as
in a queue without shards. It comes back at the time of the others, without credit for having been away.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pipeline.queue.limits import WEIGHT_MIN
from pipeline.queue.types import Claim

#: How long a shard that did not answer is not asked, ms, at least and at most; in between ten times as long as it made
#: the caller wait, so that a server that hangs costs the other shards a tenth of the time.
REST_MIN_MS, REST_MAX_MS = 2_000, 30_000


@dataclass(frozen=True, slots=True)
class Turn:
    """What one shard gave, and what it weighs.

    Args:
        charge_ms: worker-ms that the claims are estimated to cost.
        weighed: of each site that was served: its weight, and the sum of the weights of its devices that have work in
            this shard.
        sites: how many sites have work in this shard.
    """

    claims: list[Claim]
    charge_ms: float
    weighed: Mapping[str, tuple[float, float]]
    sites: int


@dataclass(slots=True)
class _Shard:
    """What a consumer knows of one lane of a shard."""

    time: float = 0.0
    is_idle: bool = True
    silent_until_ms: int = 0
    #: Per site: its weight and the weights of its devices here; the site heard of last is last.
    sites: dict[str, tuple[float, float]] = field(default_factory=dict)


class ShardTurns:
    """The order in which one consumer asks the shards of one lane; to be used by one thread at a time."""

    def __init__(self, count: int) -> None:
        self._shards = [_Shard() for _ in range(count)]

    def order(self, now_ms: int) -> list[int]:
        """The shards to ask, first to last; those that were silent a moment ago are left out unless all were."""
        floor = self._floor()
        answering = [n for n, shard in enumerate(self._shards) if shard.silent_until_ms <= now_ms]
        return sorted(
            answering or range(len(self._shards)),
            key=lambda n: (max(self._shards[n].time, floor), not self._shards[n].is_idle),
        )

    def served(self, number: int, turn: Turn) -> None:
        """Charge a shard for what it gave."""
        shard = self._shards[number]
        if shard.is_idle:
            shard.time = max(shard.time, self._floor())
            shard.is_idle = False
        _learn(shard, turn)
        shard.time += turn.charge_ms / self._weight(shard)

    def found_empty(self, number: int) -> None:
        self._shards[number].is_idle = True
        self._shards[number].sites.clear()

    def was_silent(self, number: int, *, asked_ms: int, now_ms: int) -> None:
        """Leave a shard alone for a while that was asked at `asked_ms` and did not answer."""
        self._shards[number].silent_until_ms = rested_ms(asked_ms, now_ms)
        self.found_empty(number)

    def _floor(self) -> float:
        busy = [shard.time for shard in self._shards if not shard.is_idle]
        return min(busy) if busy else max(shard.time for shard in self._shards)

    def _weight(self, shard: _Shard) -> float:
        return sum(weight * here / self._everywhere(site) for site, (weight, here) in shard.sites.items())

    def _everywhere(self, site: str) -> float:
        return sum(shard.sites[site][1] for shard in self._shards if site in shard.sites)


def rested_ms(asked_ms: int, now_ms: int) -> int:
    """When to ask again, on the same clock, whoever was asked at `asked_ms` and has not answered by `now_ms`."""
    return now_ms + min(REST_MAX_MS, max(REST_MIN_MS, 10 * (now_ms - asked_ms)))


def _learn(shard: _Shard, turn: Turn) -> None:
    for site, (weight, device_weights) in turn.weighed.items():
        shard.sites.pop(site, None)
        shard.sites[site] = (weight, max(device_weights, WEIGHT_MIN))
    # A site whose work in this shard has ended is not served any more, so its entry gets old: the shard says how many
    # there are.
    while len(shard.sites) > max(turn.sites, 1):
        shard.sites.pop(next(iter(shard.sites)))
