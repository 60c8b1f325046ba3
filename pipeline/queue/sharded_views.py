"""Looking at a fair queue in several shards as if it were one."""

from collections.abc import Callable, Sequence
from math import ceil
from typing import Any, TypeVar

import redis

from pipeline.clock import Clock
from pipeline.errors import QueueUnavailable
from pipeline.queue.connection import LateCluster, reaching
from pipeline.queue.device_states import DeviceState, Listed, Weighed
from pipeline.queue.explaining import Explanation
from pipeline.queue.inspect import Inspector
from pipeline.queue.keys import Keys
from pipeline.queue.pages import InFlight, Pages, in_flight_of, page_end
from pipeline.queue.rules import Rules
from pipeline.queue.shards import home_of, in_any, rules_of_shards
from pipeline.queue.types import LANES, Lane, LaneBooks, LaneStatus, LaneSurvey, Mark, OpenTask, QueuedTask, TaskState

_Part = TypeVar("_Part")


class ShardedInspector(Inspector):
    """`Inspector` over shards; what belongs to the whole (watermark, workers) lies in shard 0.

    Args:
        rules: with the prefix of the plain layout.
        count: number of shards.
    """

    def __init__(self, client: redis.Redis, rules: Rules, count: int, clock: Clock | None = None) -> None:
        shards = rules_of_shards(rules, count)
        super().__init__(client, shards[0], clock)
        self.shards = [Inspector(client, shard, clock) for shard in shards]

    def ping(self) -> None:
        """Return when every shard answers."""
        for shard in self.shards:
            self._ask("EXISTS", shard.keys.epoch())

    def find(self, task_id: str) -> QueuedTask | None:
        """Nothing in a task id names its shard, so they are asked one after the other."""
        return in_any(self.shards, lambda shard: shard.find(task_id))

    def explain(self, task_id: str, *, slots: dict[str, int]) -> Explanation | None:
        """Those ahead are counted in the task's own shard, which gets slots as it has of what waits."""
        for shard in self.shards:
            if task := shard.find(task_id):
                here = self._waiting(shard, task.lane)
                everywhere = sum(self._waiting(each, task.lane) for each in self.shards)
                part = ceil(slots.get(task.lane, 0) * max(1, here) / max(1, everywhere))
                return shard.explain(task_id, slots={**slots, task.lane: part})
        return None

    def endings(self, task_ids: Sequence[str], *, home: int | None = None) -> list[tuple[TaskState, str, int] | None]:
        """One round trip for each shard, which is asked for what those before it did not know.

        Raises: QueueUnavailable, when `home` does not answer; without one, when a shard does not that may know more.
        """
        found: dict[str, tuple[TaskState, str, int]] = {}
        failure = None
        for number in sorted(range(len(self.shards)), key=lambda number: number != home):
            unknown = [task_id for task_id in task_ids if task_id not in found]
            try:
                answers = zip(unknown, self.shards[number].endings(unknown), strict=True)
                found |= {task_id: answer for task_id, answer in answers if answer is not None}
            except QueueUnavailable as exc:
                if home in (None, number):
                    failure = exc
        if failure and (home is not None or len(found) < len(set(task_ids))):
            raise failure
        return [found.get(task_id) for task_id in task_ids]

    def open_tasks(self, mark: Mark, *, limit: int = 500) -> tuple[list[OpenTask], Mark | None]:
        """One shard after the other."""
        tasks, after = self.shards[mark.shard].open_tasks(mark, limit=limit)
        return tasks, self.past(mark) if after is None else after

    def past(self, mark: Mark) -> Mark | None:
        return Mark(mark.shard + 1) if mark.shard + 1 < len(self.shards) else None

    def next_due_ms(self) -> int | None:
        """A shard that does not answer is left out, so that the others are woken in time."""
        return min((due for shard in self.shards if (due := _next_due_of(shard)) is not None), default=None)

    def counts(self, *, is_partial: bool = False) -> dict[Lane, tuple[int, int]]:
        parts = self._of_each(Inspector.counts, is_partial)
        return {lane: (sum(part[lane][0] for part in parts), sum(part[lane][1] for part in parts)) for lane in LANES}

    def lanes(self, *, is_partial: bool = False) -> list[LaneStatus]:
        return [_one_status(parts) for parts in zip(*self._of_each(Inspector.lanes, is_partial), strict=True)]

    def survey(self, *, is_partial: bool = False) -> list[LaneSurvey]:
        return [_one_survey(parts) for parts in zip(*self._of_each(Inspector.survey, is_partial), strict=True)]

    def audit(self) -> list[LaneBooks]:
        """The books of all shards, added up; a fault names its shard."""
        return [_one_book(parts) for parts in zip(*(shard.audit() for shard in self.shards), strict=True)]

    def dead_letters(self, *, limit: int = 100) -> list[dict[str, Any]]:
        letters = [letter for shard in self.shards for letter in shard.dead_letters(limit=limit)]
        return sorted(letters, key=lambda letter: int(letter["dead_ms"]), reverse=True)[:limit]

    def server_facts(self, *, with_config: bool = False) -> dict[str, str]:
        """Of a Cluster the facts of all nodes: where they differ, each of the values."""
        if not isinstance(self._client, LateCluster):
            return super().server_facts(with_config=with_config)
        with reaching("INFO"):
            nodes = self._client.info(target_nodes="primaries").values()
        config = self._written_how() if with_config else {}
        return self._joined([self._facts_of({**info, **config}) for info in nodes])

    def _of_each(self, ask: Callable[[Inspector], _Part], is_partial: bool) -> list[_Part]:
        """The answers of all shards; of those that answer, if a part will do and there is one."""
        answers, failure = [], None
        for shard in self.shards:
            try:
                answers.append(ask(shard))
            except QueueUnavailable as exc:
                if not is_partial:
                    raise
                failure = exc
        if failure and not answers:
            raise failure
        return answers

    def _waiting(self, shard: Inspector, lane: Lane) -> int:
        return int(self._ask("HGET", shard.keys.lane(lane), "waiting") or 0)

    @staticmethod
    def _joined(facts: Sequence[dict[str, str]]) -> dict[str, str]:
        names = dict.fromkeys(name for node in facts for name in node)
        return {name: ", ".join(dict.fromkeys(node[name] for node in facts if name in node)) for name in names}


class ShardedPages(Pages):
    """`Pages` over shards.

    A page of the whole is put together from the first `offset + limit` rows of each shard, so far pages cost more.
    """

    def __init__(self, client: redis.Redis, rules: Rules, count: int, clock: Clock | None = None) -> None:
        shards = rules_of_shards(rules, count)
        super().__init__(client, shards[0], clock)
        self._pages = [Pages(client, shard, clock) for shard in shards]
        self._all_keys = [Keys(shard.prefix) for shard in shards]

    def listed(
        self, lanes: Sequence[Lane], *, site: str | None = None, after: Listed | None = None, limit: int = 100
    ) -> list[Listed]:
        rows = [row for pages in self._pages for row in pages.listed(lanes, site=site, after=after, limit=limit)]
        return sorted(rows)[:limit]

    def look(self, macs: Sequence[str]) -> list[DeviceState]:
        """A round trip or two for each shard that has some of them."""
        found: dict[str, DeviceState] = {}
        for pages in self._pages:
            found |= {device.mac: device for device in pages.look([mac for mac in macs if self._home(mac) is pages])}
        return [found[mac] for mac in macs]

    def weigh(self, site: str) -> tuple[Weighed, ...]:
        """A site has devices in every shard."""
        parts = [pages.weigh(site) for pages in self._pages]
        return tuple(sum(lane, Weighed()) for lane in zip(*parts, strict=True))

    def waiting(self, mac: str, lane: Lane, *, offset: int = 0, limit: int = 100) -> list[str]:
        return self._home(mac).waiting(mac, lane, offset=offset, limit=limit)

    def in_flight(self, lane: Lane, *, offset: int = 0, limit: int = 100) -> list[InFlight]:
        with reaching("in flight"):
            rows = self._merged([keys.leases(lane) for keys in self._all_keys], offset, limit)
        return [in_flight_of(address, ends_ms) for address, ends_ms in rows]

    def _merged(self, zsets: Sequence[str], offset: int, limit: int) -> list[tuple[str, float]]:
        last = page_end(offset, limit)
        with self._client.pipeline(transaction=False) as pipe:
            for zset in zsets:
                pipe.zrange(zset, 0, last, withscores=True)
            rows = [(member.decode(), score) for part in pipe.execute() for member, score in part]
        return sorted(rows, key=lambda row: row[1])[offset : last + 1]

    def _home(self, mac: str) -> Pages:
        return self._pages[home_of(mac, len(self._pages))]


def _next_due_of(shard: Inspector) -> int | None:
    try:
        return shard.next_due_ms()
    except QueueUnavailable:
        return None


def _one_status(parts: Sequence[LaneStatus]) -> LaneStatus:
    return LaneStatus(
        lane=parts[0].lane,
        waiting=sum(part.waiting for part in parts),
        delayed=sum(part.delayed for part in parts),
        leased=sum(part.leased for part in parts),
        busy_slots=sum(part.busy_slots for part in parts),
        devices=sum(part.devices for part in parts),
        oldest_wait_ms=max(part.oldest_wait_ms for part in parts),
    )


def _one_survey(parts: Sequence[LaneSurvey]) -> LaneSurvey:
    # A shard that has finished nothing knows no more of the cost than the first guess.
    informed = [part.cost_ms for part in parts if part.finished] or [parts[0].cost_ms]
    return LaneSurvey(
        lane=parts[0].lane,
        worked_ms=sum(part.worked_ms for part in parts),
        finished=sum(part.finished for part in parts),
        cost_ms=sum(informed) / len(informed),
        ends_per_s=sum(part.ends_per_s for part in parts),
        starved=sum(part.starved for part in parts),
    )


def _one_book(parts: Sequence[LaneBooks]) -> LaneBooks:
    return LaneBooks(
        lane=parts[0].lane,
        accepted=sum(part.accepted for part in parts),
        waiting=sum(part.waiting for part in parts),
        delayed=sum(part.delayed for part in parts),
        leased=sum(part.leased for part in parts),
        ended={state: sum(part.ended[state] for part in parts) for state in parts[0].ended},
        faults=tuple(f"shard {number}: {fault}" for number, part in enumerate(parts) for fault in part.faults),
    )
