"""Who works: the worker registry, and what else processes publish in Redis: who is missing, watermark, epoch."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import redis

from pipeline.clock import Clock
from pipeline.errors import QueueUnavailable
from pipeline.queue.capability import Entry, Needs, serving, slots_in
from pipeline.queue.connection import reaching
from pipeline.queue.keys import Keys
from pipeline.queue.reading import whole, words
from pipeline.queue.scripts import Scripts
from pipeline.queue.types import LANES, Lane


class Heartbeat(NamedTuple):
    """One live worker's clock.

    Args:
        age_ms: how long ago it was heard of.
        skew_ms: how far its clock is ahead of the server's.
    """

    worker_id: str
    age_ms: int
    skew_ms: int


class Roster:
    """The registry of live workers; an entry goes away by itself when it is not renewed.

    Args:
        keys: of the queue, of its shard 0 when it has shards.
        other_shards: keys of the others: each shard has an epoch of its own, so that the loss of one is noticed.
        needs: what the work of each lane needs, to tell which workers are capable.

    Every method raises `QueueUnavailable` when the server does not answer in time.
    """

    def __init__(
        self,
        client: redis.Redis,
        keys: Keys,
        clock: Clock,
        other_shards: Sequence[Keys] = (),
        needs: Needs | None = None,
    ) -> None:
        self._client = client
        self._scripts = Scripts(client)
        self._keys = keys
        self._shards = (keys, *other_shards)
        self._clock = clock
        self.needs = needs or Needs()

    def enter(self, worker_id: str, entry: dict[str, str], *, ttl_ms: int) -> None:
        """Write a worker's entry and keep it for `ttl_ms`.

        Args:
            worker_id: `<hostname>:<pid>`.
        """
        expires_ms = self._clock.now_ms() + ttl_ms
        self._scripts.call("enter", self._keys.epoch(), worker_id, json.dumps(entry), expires_ms, ttl_ms)

    def leave(self, worker_id: str) -> None:
        """Remove a worker's entry at once."""
        with reaching("leave"), self._client.pipeline(transaction=True) as pipe:
            pipe.delete(self._keys.worker(worker_id))
            pipe.zrem(self._keys.workers(), worker_id)
            pipe.execute()

    def workers(self) -> list[dict[str, str]]:
        """The entries of all live workers, in the order of their ids."""
        with reaching("workers"):
            # An id outlives its hash by a little; whoever looks sweeps what is long over.
            self._client.zremrangebyscore(self._keys.workers(), "-inf", self._clock.now_ms() - 60_000)
            members: Any = self._client.zrange(self._keys.workers(), 0, -1)
            ids = [words(member) for member in members]
            with self._client.pipeline(transaction=False) as pipe:
                for worker_id in ids:
                    pipe.hgetall(self._keys.worker(worker_id))
                found = pipe.execute()
        entries = [{words(key): words(value) for key, value in raw.items()} for raw in found if raw]
        return sorted(entries, key=lambda entry: (entry.get("hostname", ""), entry.get("pid", "")))

    def heartbeats(self, now_ms: int) -> list[Heartbeat]:
        """How long ago each live worker was heard of, and how its clock is set, by the server's clock.

        Args:
            now_ms: the server's time, epoch ms.
        """
        with reaching("heartbeats"):
            members: Any = self._client.zrange(self._keys.workers(), 0, -1, withscores=True)
            with self._client.pipeline(transaction=False) as pipe:
                for worker_id, _ in members:
                    pipe.hget(self._keys.worker(words(worker_id)), "last_heartbeat")
                    pipe.pttl(self._keys.worker(words(worker_id)))
                answers = pipe.execute()
        beats = zip(members, answers[::2], answers[1::2], strict=True)
        return [
            _heartbeat(words(worker_id), whole(words(heard)), int(ends_ms) - left_ms, now_ms)
            for (worker_id, ends_ms), heard, left_ms in beats
            if left_ms > 0 and whole(words(heard))
        ]

    def pids_beside(self, hostname: str, machine: str) -> list[int]:
        """The process ids of the live workers of one host that share a process table.

        Args:
            machine: as in their entries: `workers.own.machine_name`.
        """
        with reaching("siblings"):
            members: Any = self._client.zrange(self._keys.workers(), 0, -1)
            ids = [words(member) for member in members]
            here = [worker_id for worker_id in ids if worker_id.rpartition(":")[0] == hostname]
            with self._client.pipeline(transaction=False) as pipe:
                for worker_id in here:
                    pipe.hget(self._keys.worker(worker_id), "machine")
                machines = pipe.execute()
        beside = [worker_id for worker_id, found in zip(here, machines, strict=True) if found == machine.encode()]
        return [int(pid) for worker_id in beside if (pid := worker_id.rpartition(":")[2]).isdecimal()]

    def slots(self) -> dict[str, int]:
        """By lane, how many of its tasks the live workers can really run at once; one that serves several counts in
        each."""
        workers = self.workers()
        return {lane: slots_in(self.able(workers, lane), lane) for lane in LANES}

    def able(self, workers: Sequence[Entry], lane: Lane) -> list[Entry]:
        """Of these live workers, those that serve the lane now: the capable ones, all during a downgrade."""
        if lane in self.needs.gpu and self.is_downgraded(lane):
            return serving(workers, lane)
        return self.needs.capable(workers, lane)

    def note_missing(self, lane: Lane, now_ms: int, *, ttl_ms: int) -> int:
        """Note that nobody can serve the lane; return since when that has been noted, epoch ms.

        Args:
            ttl_ms: how long the note is believed without another; the same for all schedulers.
        """
        key = self._keys.no_worker(lane)
        with reaching("no worker"), self._client.pipeline(transaction=True) as pipe:
            pipe.set(key, now_ms, nx=True)
            pipe.pexpire(key, ttl_ms)
            pipe.get(key)
            return int(pipe.execute()[-1])

    def is_missing(self, lane: Lane) -> bool:
        """Say whether it has been noted that nobody can serve the lane."""
        with reaching("no worker"):
            return bool(self._client.exists(self._keys.no_worker(lane)))

    def end_missing(self, lane: Lane) -> bool:
        """Take the note back, and the downgrade with it; False when there was none."""
        with reaching("no worker"):
            return bool(self._client.delete(self._keys.no_worker(lane), self._keys.downgrade(lane)))

    def begin_downgrade(self, lane: Lane, *, ttl_ms: int) -> bool:
        """Let workers without a GPU serve the lane for `ttl_ms`, or that much longer; True when it begins now."""
        with reaching("downgrade"):
            return self._client.set(self._keys.downgrade(lane), 1, px=ttl_ms, get=True) is None

    def is_downgraded(self, lane: Lane) -> bool:
        """Say whether workers without a GPU serve the lane, though it needs one."""
        with reaching("downgrade"):
            return bool(self._client.exists(self._keys.downgrade(lane)))

    def publish_watermark(self, snapshot: dict[str, Any], *, ttl_ms: int) -> None:
        """Publish the snapshot that `Inspector.watermark` reads, for `ttl_ms`."""
        self._scripts.call("publish_watermark", self._keys.epoch(), json.dumps(snapshot), ttl_ms)

    def without_epoch(self) -> list[int]:
        """The shards whose data set has not been begun, as after an empty start or a FLUSHALL; of those that answer.

        Raises: QueueUnavailable, when none is found and one does not answer.
        """
        lost, failure = [], None
        for number, keys in enumerate(self._shards):
            try:
                with reaching("epoch"):
                    if not self._client.exists(keys.epoch()):
                        lost.append(number)
            except QueueUnavailable as exc:
                failure = exc
        if failure and not lost:
            raise failure
        return lost

    def begin_epoch(self, shards: Sequence[int] | None = None) -> None:
        """Mark the data sets of these shards, or of all, as complete: everything the ledger knows is in line."""
        with reaching("epoch"):
            for number in range(len(self._shards)) if shards is None else shards:
                self._client.set(self._shards[number].epoch(), self._clock.now_ms(), nx=True)


def _heartbeat(worker_id: str, heard_ms: int, its_now_ms: int, now_ms: int) -> Heartbeat:
    # Its own clock says when it wrote and when that runs out, the server how long that is from now: hence its time now.
    return Heartbeat(worker_id, max(0, its_now_ms - heard_ms), its_now_ms - now_ms)
