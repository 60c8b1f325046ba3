"""How many Redis commands each operation takes, whatever the number of devices: counted by the server itself."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from threading import Event

from pipeline.queue import Claim, FairQueue, Inspector, Rules, Task, TaskState
from pipeline.queue.types import LANES, DeviceRules, Standing
from pipeline.simulation.live.outcome import LiveBound, LiveOutcome
from pipeline.simulation.live.plan import Plan
from pipeline.simulation.live.statistics import ServerStatistics
from pipeline.simulation.server import ScriptedQueue

#: Every delay and backoff of the counted operations, and a moment after which it is over.
_SOON_MS, _SOON_S = 1, 0.01
#: What a task is said to cost: a lease that is renewed when its task has run for longer than that charges it anew.
_COST_MS = 100
#: Tasks of the devices that are served first, so that none of their lines runs empty.
_DEEP = 30
_PAGE = 1_000


def measure_commands(url: str, rules: Rules, plan: Plan) -> LiveOutcome:
    """Count the commands of single claims, and hold all operations on few devices against those on many."""
    alone, several = (max(_claim_commands(url, rules, plan.claims, sites)) for sites in (1, 3))
    few, many = (OperationCost(url, rules, devices).count() for devices in plan.devices)
    growth = {name: many[name].total() - few[name].total() for name in few}
    worst = max(growth, key=lambda name: growth[name])
    sizes = f"{plan.devices[0]:,} -> {plan.devices[1]:,} devices, 90 % paused"
    bounds = (
        LiveBound("commands per claim", "commands", "one site active", 12, alone),
        LiveBound("commands per claim, several sites", "commands", "3 sites active", 14, several),
        LiveBound("growth with devices", "commands_grown", f"{len(few)} operations, {sizes}", 0, growth[worst]),
    )
    return LiveOutcome("live commands", "Commands, by the server's own statistics", bounds, 2 * plan.claims + len(few))


def _claim_commands(url: str, rules: Rules, claims: int, sites: int) -> list[int]:
    queue = ScriptedQueue(url, rules, None)
    tasks = [
        Task(f"t{number}", "text", _mac(number % 50), 0, site=f"site{number % 50 % sites}")
        for number in range(claims + 100)
    ]
    queue.fill(tasks)
    queue.claim("text")  # so that the server knows the script
    statistics = ServerStatistics(queue.server)
    return [statistics.commands_of(lambda: queue.claim("text")).total() for _ in range(claims)]


@dataclass
class OperationCost:
    """A queue of `devices` devices with work, 90 % of them paused, on which each operation is counted once."""

    url: str
    rules: Rules
    devices: int
    counted: dict[str, Counter[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        rules = replace(self.rules, defer_base_ms=_SOON_MS)
        self.queue = _FilledQueue(self.url, rules, None)
        self.hasty = FairQueue(self.queue.server, replace(rules, lease_ms=_SOON_MS))
        self.inspector = Inspector(self.queue.server, rules)
        self.statistics = ServerStatistics(self.queue.server)

    def count(self) -> dict[str, Counter[str]]:
        """Return the commands of each operation."""
        self.queue.fill_devices(self.devices)
        for is_counted in (False, True):  # the first time the server gets to know the scripts
            self._submit(f"new{is_counted}")
            self._serve()
            self._put_back()
            self._end_badly(f"old{is_counted}")
            self._look(f"new{is_counted}")
        return self.counted

    def _submit(self, task_id: str) -> None:
        free, paused = _mac(self.devices - 1), _mac(0)
        self._count("admit", lambda: self.queue.admit(free, "text"))
        self._count("enqueue", lambda: self.queue.enqueue(Task(task_id, "text", free, 0)))
        self._count("enqueue, paused", lambda: self.queue.enqueue(Task(f"{task_id}-paused", "text", paused, 0)))
        back = Standing(Task(f"{task_id}-restored", "text", free, 0))
        self._count("restore", lambda: self.queue.restore([back]), 1)
        self._count("set_device", lambda: self.queue.set_device(paused, DeviceRules(is_paused=True)))

    def _serve(self) -> None:
        claim = self._claim("claim")
        self._count("start", lambda: self.queue.start(claim.task_id, claim.token))
        self._count("renew", lambda: self.queue.renew(claim.task_id, claim.token))
        self._count("complete", lambda: self.queue.complete(claim.task_id, claim.token, cost_ms=_COST_MS))

    def _put_back(self) -> None:
        failed = self._claim()
        self.queue.start(failed.task_id, failed.token)
        self._count(
            "retry",
            lambda: self.queue.retry(failed.task_id, failed.token, cost_ms=_COST_MS, delay_ms=_SOON_MS),
        )
        Event().wait(_SOON_S)
        self._count("promote", self.queue.promote, 1)
        deferred = self._claim()
        self._count("defer", lambda: self.queue.defer(deferred.task_id, deferred.token, code="no_capable_worker"))
        Event().wait(_SOON_S)
        self._count("resume", self.queue.resume, 1)
        self.queue.promote()
        returned = self._claim()
        self._count("hand_back", lambda: self.queue.hand_back(returned.task_id, returned.token))
        self.hasty.claim("text")
        Event().wait(_SOON_S)
        self._count("reap", lambda: self.queue.reap("text"), 1)

    def _end_badly(self, task_id: str) -> None:
        claim, free = self._claim(), _mac(self.devices - 1)
        ending = {"ending": TaskState.FAILED, "code": "bad_image", "message": "cut short"}
        self._count("bury", lambda: self.queue.bury(claim.task_id, claim.token, cost_ms=_COST_MS, **ending))  # type: ignore[arg-type]
        created_ms = self.inspector.now_ms() - self.rules.ttl_ms
        self.queue.enqueue(Task(task_id, "text", free, created_ms))
        self._count("expire", self.queue.expire, 1)
        self.queue.enqueue(Task(f"{task_id}-cancelled", "text", free, 0))
        self._count("cancel", lambda: self.queue.cancel(f"{task_id}-cancelled"))
        self.queue.enqueue(Task(f"{task_id}-withdrawn", "text", free, 0))
        self._count("forget", lambda: self.queue.forget(f"{task_id}-withdrawn", 0))

    def _look(self, task_id: str) -> None:
        self._count("find", lambda: self.inspector.find(task_id))
        self._count("explain", lambda: self.inspector.explain(task_id, slots=dict.fromkeys(LANES, 1)))
        self._count("nothing due", lambda: (self.queue.promote(), self.queue.resume(), self.queue.expire()))

    def _claim(self, name: str = "claim again") -> Claim:
        claims: list[Claim] = []
        self._count(name, lambda: claims.extend(self.queue.claim("text")))
        (claim,) = claims
        return claim

    def _count(self, name: str, call: Callable[[], object], rows: int | None = None) -> None:
        """Count one call; `rows` is how much it must have found to do, else its count would mean nothing."""
        answers: list[object] = []
        self.counted[name] = self.statistics.commands_of(lambda: answers.append(call()))
        (answer,) = answers
        if rows is not None and (not isinstance(answer, Sequence) or len(answer) != rows):
            raise AssertionError(f"{name} did {answer!r}, not {rows}")


class _FilledQueue(ScriptedQueue):
    """A queue whose devices have work; all but the last tenth are paused, and of few all but two: a device that is
    deferred must not be the last that can be served, which would spare the command that scores its site anew.
    """

    def fill_devices(self, devices: int) -> None:
        paused = min(devices * 9 // 10, devices - 2)
        tasks = [Task(f"t{number}", "text", _mac(number), 0) for number in range(devices)]
        last = range(paused, devices)[: max(1, _DEEP // 10)]
        tasks += [Task(f"more{number}", "text", _mac(last[number % len(last)]), 0) for number in range(_DEEP)]
        # A second task each: whose line is empty is not put into backoff, so there would be nothing to resume.
        tasks += [Task(f"next{number}", "text", _mac(number), 0) for number in range(paused, devices)]
        for start in range(0, paused, _PAGE):
            macs = [_mac(number) for number in range(start, min(start + _PAGE, paused))]
            rows = [(mac, self.rules.policy, " ".join(LANES), "", "", "", "1", "") for mac in macs]
            self._call_many("set_device", rows)
        for start in range(0, len(tasks), _PAGE):
            self.fill(tasks[start : start + _PAGE])


def _mac(device: int) -> str:
    return f"{device:012x}"
