"""The model in memory and the scripts on a server choose the same tasks in the same order, whatever happens."""

import random
from collections.abc import Iterator
from typing import Any

import pytest
import redis

from pipeline.queue import FairQueue, Rules, Task
from pipeline.queue.types import DeviceRules, Lane
from pipeline.simulation.model import ModelQueue
from tests.support.clock import FakeClock

DEVICES = [f"aa00000000{index:02d}" for index in range(9)]
SITES = ("north", "south", "east")
COST_MS = {4: (5, 20), 9: (200, 1500), 12: (800, 40_000)}
STEPS = 600


class Pair:
    """One random trace, played on both."""

    def __init__(self, client: redis.Redis, seed: int, policy: Any) -> None:
        rules = Rules(policy=policy, max_total=10**9, max_per_mac=10**9, ttl_ms=10**12, lease_ms=10**11)
        self.random = random.Random(seed)
        self.clock = FakeClock()
        self.both = (FairQueue(client, rules, self.clock), ModelQueue(rules, self.clock))
        self.held: dict[str, tuple[int, int, int]] = {}
        self.count = 0
        # Every other trace is sparse: lines run empty, sites come and go.
        self.enqueue_weight = 40 if seed % 2 else 22

    def call(self, verb: str, *args: Any, **kwargs: Any) -> Any:
        by_scripts, by_model = (getattr(queue, verb)(*args, **kwargs) for queue in self.both)
        assert by_scripts == by_model, f"{verb} {args} {kwargs} after {self.count} tasks"
        return by_scripts

    def step(self) -> None:
        self.clock.advance(self.random.choice((0, 0, 1, 7, 130, 900, 4000)))
        verbs = {
            self.enqueue: self.enqueue_weight,
            self.claim: 30,
            self.complete: 24,
            self.put_back: 5,
            self.renew: 3,
            self.rule: 4,
            self.keep_house: 6,
        }
        self.random.choices(list(verbs), list(verbs.values()))[0]()

    def enqueue(self) -> None:
        self.count += 1
        mac = self.random.choice(DEVICES)
        # Most devices stay with one site; the last three move when they have nothing pending.
        index = DEVICES.index(mac)
        site = SITES[index % 3] if index < 6 else self.random.choice(SITES)
        size_class, boost_ms = self.random.choice(list(COST_MS)), self.random.choice((0, 0, 0, 5000))
        task_id = f"t{self.count}"
        self.call("enqueue", Task(task_id, self.lane(), mac, self.clock.now_ms(), b"", site, size_class, boost_ms))

    def lane(self) -> Lane:
        return "ocr" if self.random.random() < 0.85 else "text"

    def claim(self) -> None:
        for claim in self.call("claim", self.lane(), limit=self.random.choice((1, 1, 1, 3, 20))):
            self.held[claim.task_id] = (claim.token, self.clock.now_ms(), self.random.choice(list(COST_MS)))

    def _any_held(self) -> Iterator[tuple[str, int, int]]:
        if self.held:
            task_id = self.random.choice(sorted(self.held))
            token, _, size_class = self.held[task_id]
            yield task_id, token, self.random.randint(*COST_MS[size_class])

    def complete(self) -> None:
        for task_id, token, cost_ms in self._any_held():
            self.call("complete", task_id, token, cost_ms=cost_ms)
            del self.held[task_id]

    def put_back(self) -> None:
        for task_id, token, cost_ms in self._any_held():
            del self.held[task_id]
            how = self.random.randrange(3)
            if how == 0:
                self.call("retry", task_id, token, cost_ms=cost_ms, delay_ms=self.random.randint(1, 20_000))
            elif how == 1:
                self.call("defer", task_id, token, code="host_overloaded")
            else:
                self.call("hand_back", task_id, token, cost_ms=cost_ms)

    def renew(self) -> None:
        for task_id, token, _ in self._any_held():
            self.clock.advance(3000)
            self.call("renew", task_id, token)

    def rule(self) -> None:
        if self.random.random() < 0.3:
            self.call("set_site", self.random.choice(SITES), weight=self.random.choice((0.5, 1.0, 3.0)))
            return
        self.call(
            "set_device",
            self.random.choice(DEVICES),
            DeviceRules(
                weight=self.random.choice((None, None, 0.3, 3.0)),
                max_inflight=self.random.choice((None, None, 1, 2)),
                rate_per_minute=self.random.choice((None, None, 20.0, 7.5)),
                is_paused=self.random.random() < 0.15,
            ),
        )

    def keep_house(self) -> None:
        self.call("promote")
        self.call("resume")

    def drain(self) -> None:
        """Let every gate open, and serve whatever is left."""
        for mac in DEVICES:
            self.call("set_device", mac, DeviceRules())
        idle_rounds = 0
        while idle_rounds < 3:
            served = self._serve("ocr") + self._serve("text")
            idle_rounds = 0 if served or self.held else idle_rounds + 1
            # Longer than any backoff.
            self.clock.advance(600_000)
            self.keep_house()

    def _serve(self, lane: Lane) -> int:
        for task_id in sorted(self.held):
            token, _, size_class = self.held.pop(task_id)
            self.call("complete", task_id, token, cost_ms=COST_MS[size_class][1])
        claims = self.call("claim", lane, limit=4)
        for claim in claims:
            self.held[claim.task_id] = (claim.token, 0, 9)
        return len(claims)


@pytest.mark.parametrize("policy", ["fair", "aging"])
@pytest.mark.parametrize("seed", range(8))
def test_model_and_scripts_choose_the_same_order(valkey: redis.Redis, policy: str, seed: int) -> None:
    pair = Pair(valkey, seed, policy)

    for _ in range(STEPS):
        pair.step()
    pair.drain()

    assert pair.count > STEPS / 6
