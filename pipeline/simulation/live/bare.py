"""What the scripts cost beside the bare commands that they carry out, on equal data, in turns.

The commands are recorded from the scripts themselves, with their arguments, and played again on the state that they
were recorded on: once by a script that has no logic, once as a transaction (MULTI, the commands, EXEC). Both are
atomic, as the operation has to be. The scripts are compared by the server's time in them, which leaves out the socket:
the one without logic is sent all its commands, ours a few words. With the transaction, whose every command is read and
answered apart, all of the core's time is compared.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha1
from itertools import chain
from typing import Literal

from pipeline.queue import Claim, Rules, Task
from pipeline.simulation.live.outcome import LiveBound, LiveOutcome
from pipeline.simulation.live.plan import Plan
from pipeline.simulation.live.statistics import Command, ServerStatistics
from pipeline.simulation.server import ScriptedQueue

#: Carries out the commands in its arguments, each behind its number of words.
_PLAYER = b"""
local at = 1
while at <= #ARGV do
  local words = tonumber(ARGV[at])
  redis.call(unpack(ARGV, at + 1, at + words))
  at = at + words + 1
end
return {'done'}
"""
_PLAYER_SHA = sha1(_PLAYER, usedforsecurity=False).hexdigest()

Form = Literal["ours", "script", "transaction"]
FORMS: tuple[Form, ...] = ("ours", "script", "transaction")
Verb = Literal["enqueue", "claim", "complete"]
VERBS: tuple[Verb, ...] = ("enqueue", "claim", "complete")


@dataclass(frozen=True, slots=True)
class Spent:
    """What one call took, microseconds: in scripts, and of the core in all."""

    script_us: float
    core_us: float


#: By form and verb: what a call took in each turn.
Costs = dict[Form, dict[Verb, list[Spent]]]


def measure_against_bare(url: str, rules: Rules, plan: Plan) -> LiveOutcome:
    """Return how many times the bare commands' cost an enqueue, and a claim with its completion, take."""
    bench = Bench(ScriptedQueue(url, rules, None), plan.calls)
    recorded = bench.record()
    spent: Costs = {form: {verb: [] for verb in VERBS} for form in FORMS}
    for turn in range(plan.rounds + 1):
        for form, verbs in spent.items():
            for verb, cost in bench.take_turn(form, recorded).items():
                if turn > 0:  # the first one warms up
                    verbs[verb].append(cost)
    bounds = (*_bounds(spent, ("enqueue",)), *_bounds(spent, ("claim", "complete")))
    return LiveOutcome(
        "live bare cost", "Scripts beside the bare commands they carry out", bounds, plan.rounds * plan.calls
    )


def _bounds(spent: Costs, verbs: Sequence[Verb]) -> tuple[LiveBound, ...]:
    def sums(form: Form, of: Callable[[Spent], float]) -> list[float]:
        return [sum(map(of, turn)) for turn in zip(*(spent[form][verb] for verb in verbs), strict=True)]

    def bound(form: Form, of: Callable[[Spent], float], measure: str, beside: str) -> LiveBound:
        # The least of the turns: what other processes take from the core only adds to it.
        ours, bare = min(sums("ours", of)), min(sums(form, of))
        note = f"{ours:.0f} / {bare:.0f} µs"
        return LiveBound(f"{'+'.join(verbs)}, one Redis core", measure, beside, 2.0, ours / bare, " x", note)

    return (
        bound("script", lambda cost: cost.script_us, "script_ratio", "the same commands in a script without logic"),
        bound("transaction", lambda cost: cost.core_us, "core_ratio", "the same commands as a transaction"),
    )


@dataclass
class Bench:
    """As many devices as calls, each with one task waiting; a turn enqueues, claims and completes one for each."""

    queue: ScriptedQueue
    calls: int
    _claims: list[Claim] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._client = self.queue.server
        self._statistics = ServerStatistics(self._client)
        self._now_ms = int(self._client.time()[0]) * 1000

    def record(self) -> dict[Verb, list[list[Command]]]:
        """Return the commands of every call of one turn."""
        ours = self._calls_of("ours", {})
        self._fill()
        recorded: dict[Verb, list[list[Command]]] = {}
        for verb in VERBS:
            with self._statistics.recording() as commands:
                for number in range(self.calls):
                    ours[verb](number)
            # A script that the server does not know yet is called twice, the first time in vain.
            recorded[verb] = [row for row in commands if row]
        return recorded

    def take_turn(self, form: Form, recorded: dict[Verb, list[list[Command]]]) -> dict[Verb, Spent]:
        """Fill the queue anew, then do every operation in one form."""
        self._fill()
        calls = self._calls_of(form, recorded)
        return {verb: self._spend(calls[verb]) for verb in VERBS}

    def _fill(self) -> None:
        self._client.flushdb()
        self._claims.clear()
        self.queue.fill([self._task("first", number) for number in range(self.calls)])

    def _spend(self, call: Callable[[int], object]) -> Spent:
        script_us, core_us = self._statistics.script_us(), self._statistics.core_us()
        for number in range(self.calls):
            call(number)
        return Spent(
            (self._statistics.script_us() - script_us) / self.calls,
            (self._statistics.core_us() - core_us) / self.calls,
        )

    def _calls_of(self, form: Form, recorded: dict[Verb, list[list[Command]]]) -> dict[Verb, Callable[[int], object]]:
        if form == "ours":
            return {"enqueue": self._enqueue, "claim": self._claim, "complete": self._complete}
        if form == "script":
            self._client.script_load(_PLAYER)
        play = self._play if form == "script" else self._transact
        return {verb: partial(_nth, play, rows) for verb, rows in recorded.items()}

    def _enqueue(self, number: int) -> None:
        self.queue.enqueue(self._task("second", number))

    def _claim(self, number: int) -> None:
        self._claims += self.queue.claim("text")

    def _complete(self, number: int) -> None:
        claim = self._claims[number]
        self.queue.complete(claim.task_id, claim.token, cost_ms=10)

    def _play(self, commands: list[Command]) -> None:
        words = chain.from_iterable((len(command), *command) for command in commands)
        self._client.execute_command("EVALSHA", _PLAYER_SHA, 0, *words)  # type: ignore[no-untyped-call]

    def _transact(self, commands: list[Command]) -> None:
        with self._client.pipeline(transaction=True) as pipe:
            for command in commands:
                pipe.execute_command(*command)  # type: ignore[no-untyped-call]
            pipe.execute()

    def _task(self, name: str, number: int) -> Task:
        # With a time of its own nothing in the names of what is stored depends on when the turn is.
        return Task(f"{name}{number}", "text", f"{number:012x}", self._now_ms)


def _nth(play: Callable[[list[Command]], None], rows: list[list[Command]], number: int) -> None:
    play(rows[number])
