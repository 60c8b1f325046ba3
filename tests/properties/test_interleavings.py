"""Every interleaving of every operation keeps the queue's promises; hypothesis looks for one that does not."""

from contextlib import suppress

import pytest
import redis
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from pipeline.errors import DeviceBacklogFull, LeaseLost, QueueFull, TaskConflict, TaskEnded, TaskNotFound
from pipeline.queue import Rules, Standing, Task, TaskState
from pipeline.queue.types import DeviceRules
from tests.properties.reference import Known, Reference
from tests.support.clock import FakeClock
from tests.support.line import Line

MACS = ["aa0000000001", "bb0000000002", "cc0000000003"]
SITE_OF = {MACS[0]: "one", MACS[1]: "one", MACS[2]: "two"}
RULES = Rules(max_total=12, max_per_mac=6, ttl_ms=400_000, lease_ms=30_000, max_losses=3, max_defers=2)

macs = st.sampled_from(MACS)


class Life(RuleBasedStateMachine):
    """Clients of all kinds, one step at a time, on a real server and a clock that also jumps back."""

    client: redis.Redis

    def __init__(self) -> None:
        super().__init__()
        self.client.flushall()
        self.clock = FakeClock()
        self.line = Line(self.client, self.clock, RULES)
        self.queue = self.line.queue
        self.model = Reference()
        self.count = 0

    # Submitting.

    @rule(mac=macs, boost_s=st.sampled_from([0, 0, 0, 20]))
    def enqueue(self, mac: str, boost_s: int) -> None:
        self.count += 1
        task_id, now_ms = f"t{self.count}", self.clock.now_ms()
        room = len(self.model.open_tasks()) < RULES.max_total
        own_room = len(self.model.of(mac, "queued", "delayed", "leased", "running")) < RULES.max_per_mac
        task = Task(task_id, "ocr", mac, now_ms, site=SITE_OF[mac], boost_ms=boost_s * 1_000)
        try:
            self.queue.enqueue(task)
        except QueueFull:
            assert not room
        except DeviceBacklogFull:
            assert not own_room
        else:
            assert room
            assert own_room
            self._know(task)

    @precondition(lambda self: self.model.tasks)
    @rule(data=st.data())
    def enqueue_again(self, data: st.DataObject) -> None:
        known = data.draw(st.sampled_from(list(self.model.tasks.values())))
        before = self.line.snapshot()

        answer = self.queue.enqueue(Task(known.task_id, "ocr", known.mac, self.clock.now_ms()))

        assert (answer.is_duplicate, answer.state.value) == (True, known.state)
        assert self.line.snapshot() == before

    @precondition(lambda self: self.model.tasks)
    @rule(data=st.data())
    def replay(self, data: st.DataObject) -> None:
        known = data.draw(st.sampled_from(list(self.model.tasks.values())))
        task = Task(known.task_id, "ocr", known.mac, self.clock.now_ms(), site=SITE_OF[known.mac])
        try:
            self.queue.replay(task)
        except TaskConflict:
            assert known.state not in ("failed", "dead")
        except (QueueFull, DeviceBacklogFull):
            assert known.state in ("failed", "dead")
        else:
            assert known.state in ("failed", "dead")
            self.count += 1
            self._know(task)

    # Working.

    @rule(limit=st.integers(1, 4), slot_ms=st.sampled_from([0, 1, 150, 100_000]))
    def claim(self, limit: int, slot_ms: int) -> None:
        now_ms = self.clock.now_ms()
        servable = self.model.servable(now_ms)
        in_flight = {mac: len(self.model.of(mac, "leased", "running")) for mac in MACS}
        claims = self.queue.claim("ocr", limit=limit, slot_ms=slot_ms)
        self._expire_heads()
        # A device whose backoff has just ended is let in by `resume`, so less may be offered, never more.
        assert {claim.mac for claim in claims} <= servable
        assert claims or not servable - self._awaiting_resume()
        for claim in claims:
            expected = self.model.of(claim.mac, "queued")[0]
            assert claim.task_id == expected.task_id, "not the head of its line"
            assert claim.token > max([0, *self.model.tokens]), "a token that does not grow"
            self.model.tokens.append(claim.token)
            expected.state, expected.token = "running" if claim.started else "leased", claim.token
            in_flight[claim.mac] += 1
            cap = self.model.gate(claim.mac).cap
            assert cap is None or in_flight[claim.mac] <= cap

    @precondition(lambda self: self.model.held())
    @rule(data=st.data(), move=st.sampled_from(["start", "renew", "complete", "retry", "defer", "hand_back", "bury"]))
    def hold(self, data: st.DataObject, move: str) -> None:
        known = data.draw(st.sampled_from(self.model.held()))
        task_id, token = known.task_id, known.token
        if move == "start":
            self.queue.start(task_id, token)
            known.state = "running"
        elif move == "renew":
            self._renew(known)
        elif move == "complete":
            self.queue.complete(task_id, token, cost_ms=500)
            known.state = "done"
        elif move == "retry":
            self.queue.retry(task_id, token, cost_ms=500, delay_ms=5_000)
            known.state = "delayed"
        elif move == "defer":
            self._defer(known)
        elif move == "hand_back":
            self.queue.hand_back(task_id, token)
            known.state = "queued"
        else:
            self.queue.bury(task_id, token, ending=TaskState.FAILED, code="bad_image", message="", cost_ms=5)
            known.state = "failed"

    @precondition(lambda self: self.model.tasks)
    @rule(data=st.data())
    def use_a_stale_token(self, data: st.DataObject) -> None:
        known = data.draw(st.sampled_from(list(self.model.tasks.values())))
        stale = data.draw(st.sampled_from([0, known.token - 1, known.token + 1]))
        before = self.line.snapshot()
        for move in (
            lambda: self.queue.start(known.task_id, stale),
            lambda: self.queue.renew(known.task_id, stale),
            lambda: self.queue.complete(known.task_id, stale, cost_ms=1),
            lambda: self.queue.hand_back(known.task_id, stale),
            lambda: self.queue.defer(known.task_id, stale, code="x"),
        ):
            with pytest.raises(LeaseLost):
                move()
        assert self.line.snapshot() == before

    @precondition(lambda self: self.model.tasks)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        known = data.draw(st.sampled_from(list(self.model.tasks.values())))
        try:
            self.queue.cancel(known.task_id)
        except (TaskEnded, TaskNotFound):
            assert known not in self.model.open_tasks()
        else:
            known.state = "cancelled"

    @precondition(lambda self: self.model.open_tasks())
    @rule(data=st.data(), ending=st.sampled_from([TaskState.DONE, TaskState.DEAD, TaskState.CANCELLED]))
    def follow_the_ledger(self, data: st.DataObject, ending: TaskState) -> None:
        known = data.draw(st.sampled_from(list(self.model.tasks.values())))
        found = self.line.inspector.find(known.task_id)
        if found is None:
            return
        assert self.queue.amend(known.task_id, found.token, ending=ending, code="x") == (known.state != ending.value)
        known.state = ending.value

    @precondition(lambda self: self.model.open_tasks())
    @rule(data=st.data())
    def lose_and_restore(self, data: st.DataObject) -> None:
        known = data.draw(st.sampled_from(self.model.open_tasks()))
        found = self.line.inspector.find(known.task_id)
        assert found is not None
        assert self.queue.forget(known.task_id, found.token)
        del self.model.tasks[known.task_id]
        self.count += 1
        task = Task(known.task_id, "ocr", known.mac, found.enqueued_ms, site=SITE_OF[known.mac])
        self.queue.restore([Standing(task, due_ms=found.due_ms, attempts=found.attempts, last_token=found.token)])
        self._know(task)
        now = self.model.tasks[task.task_id]
        now.state = "delayed" if found.due_ms > self.clock.now_ms() else "queued"
        now.expires_ms = max(now.expires_ms, found.due_ms)

    # Keeping house, and ruling.

    @rule()
    def keep_house(self) -> None:
        for ended in self.queue.reap("ocr"):
            self.model.tasks[ended.task_id].state = ended.state.value
        for task_id in self.queue.promote():
            self.model.tasks[task_id].state = "queued"
        for ended in self.queue.expire():
            self.model.tasks[ended.task_id].state = "expired"
        self.queue.resume()

    @rule(
        mac=macs, cap=st.sampled_from([None, 1, 2]), weight=st.sampled_from([None, 0.5, 3.0]), is_paused=st.booleans()
    )
    def rule_device(self, mac: str, cap: int | None, weight: float | None, is_paused: bool) -> None:
        self.queue.set_device(mac, DeviceRules(weight=weight, max_inflight=cap, is_paused=is_paused))
        self.model.gate(mac).cap, self.model.gate(mac).is_paused = cap, is_paused

    @rule(site=st.sampled_from(["one", "two"]), weight=st.sampled_from([0.1, 1.0, 10.0]))
    def rule_site(self, site: str, weight: float) -> None:
        self.queue.set_site(site, weight=weight)

    @rule(step_ms=st.sampled_from([0, 1, 1_000, 31_000, 61_000, 500_000, -10_000]))
    def let_time_pass(self, step_ms: int) -> None:
        self.clock.advance(step_ms)

    # What always holds.

    @invariant()
    def the_books_balance(self) -> None:
        self.line.assert_books_balance()

    @invariant()
    def every_count_is_exact(self) -> None:
        pending = int(self.client.get(self.queue.keys.global_pending()) or 0)
        assert pending == len(self.model.open_tasks())
        for mac in MACS:
            own = int(self.client.hget(self.queue.keys.meta(mac), "pending_count") or 0)
            assert own == len(self.model.of(mac, "queued", "delayed", "leased", "running"))

    @invariant()
    def every_task_is_where_the_model_says(self) -> None:
        for known in self.model.open_tasks():
            found = self.line.inspector.find(known.task_id)
            assert found is not None
            assert found.state.value == known.state

    def _know(self, task: Task) -> None:
        place = (task.created_ms - task.boost_ms, self.count)
        expires_ms = task.created_ms + RULES.ttl_ms
        self.model.tasks[task.task_id] = Known(task.task_id, task.mac, place, expires_ms=expires_ms)

    def _renew(self, known: Known) -> None:
        # A task held for longer than a run may last is not renewed, though its lease is still there.
        with suppress(LeaseLost):
            self.queue.renew(known.task_id, known.token)

    def _defer(self, known: Known) -> None:
        ended = self.queue.defer(known.task_id, known.token, code="no_capable_worker")
        known.state = ended.state.value
        if ended.state is TaskState.DELAYED:
            found = self.line.inspector.find(known.task_id)
            assert found is not None
            gate = self.model.gate(known.mac)
            gate.backoff_until_ms = max(gate.backoff_until_ms, found.due_ms)

    def _expire_heads(self) -> None:
        """A claim ends the overdue heads that it meets; the model learns which."""
        for known in self.model.open_tasks():
            found = self.line.inspector.find(known.task_id)
            if found and found.state is TaskState.EXPIRED:
                assert known.expires_ms <= self.clock.now_ms()
                known.state = "expired"

    def _awaiting_resume(self) -> set[str]:
        waiting = self.client.zrange(self.queue.keys.backoff(), 0, -1)
        return {member.decode().partition(":")[0] for member in waiting}


@pytest.mark.feature("Q2")
@pytest.mark.feature("Q7")
@pytest.mark.timeout(300)
def test_no_interleaving_breaks_a_promise(valkey: redis.Redis) -> None:
    class LifeHere(Life):
        client = valkey

    profile = settings(
        max_examples=120,
        stateful_step_count=40,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(LifeHere, settings=profile)
