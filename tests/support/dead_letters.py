"""A queue and a ledger in which tasks die, and a scheduler that replays them."""

import redis

from models.base import Database
from models.dead_letters import Chosen, DeadLetterRow, DeadLetters
from models.ledger import Ledger, NewTask, TaskRow
from models.replays import AskedReplay, Replays
from models.statistics import Statistics
from pipeline.queue import Counters, Rules, Task, TaskState
from pipeline.queue.keys import Keys
from pipeline.scheduler.reconcile import reconcile
from pipeline.scheduler.replay import Pace, Replayer
from tests.support.clock import FakeClock
from tests.support.line import RED, Line, ShardedLine

#: Between two rounds of the scheduler.
TICK_MS = 500


class House:
    """A queue, plain or in shards, a ledger, their dead letters and a scheduler that replays them."""

    def __init__(
        self, client: redis.Redis, database: Database, clock: FakeClock, *, shards: int = 0, **rules: int | str
    ) -> None:
        wanted = Rules(**rules)  # type: ignore[arg-type]
        self.line = ShardedLine(client, clock, shards, wanted) if shards else Line(client, clock, wanted)
        self.queue, self.inspector, self.clock = self.line.queue, self.line.inspector, clock
        self.counters = Counters(client, Keys(wanted.prefix), is_timed=False)
        self.ledger, self.letters = Ledger(database, clock), DeadLetters(database, clock)
        self.replays = Replays(database, clock, Statistics(database, 0))
        self.replayer = self.scheduler(1000)

    def scheduler(self, per_second: int) -> Replayer:
        pace = Pace(per_second, TICK_MS / 1000)
        return Replayer(self.queue, self.inspector, self.ledger, self.replays, self.clock, pace)

    def submit(self, task_id: str, mac: str = RED) -> None:
        now_ms = self.clock.now_ms()
        self.ledger.accept(NewTask(task_id, "ocr", mac, "local", "0" * 64, {}, 1, None, now_ms))
        self.queue.enqueue(Task(task_id, "ocr", mac, now_ms))

    def die(self, task_id: str, mac: str = RED) -> int:
        """Submit a task that dies, in both books; return its token."""
        self.submit(task_id, mac)
        return self.fail()

    def fail(self) -> int:
        claim = self.line.claim()
        started = self.queue.start(claim.task_id, claim.token)
        self.ledger.start(claim.task_id, claim.token, started.attempt)
        self.ledger.end(claim.task_id, claim.token, "dead", "engine_timeout", "")
        self.queue.bury(claim.task_id, claim.token, ending=TaskState.DEAD, code="engine_timeout", message="", cost_ms=5)
        self.clock.advance(10)
        return claim.token

    def ask(self, chosen: Chosen | None = None) -> int:
        return self.letters.ask_replay(chosen or Chosen())

    def reopen(self, asked: AskedReplay) -> TaskRow | None:
        """What a scheduler does that dies before it puts the task in line."""
        return self.replays.reopen(asked, above_token=0, begun_ms=self.clock.now_ms())

    def letter(self, task_id: str) -> DeadLetterRow:
        return self.letters.page(Chosen(task_id=task_id), before=None, limit=1)[0]

    def states(self, task_id: str) -> tuple[str, str]:
        queued, row = self.inspector.find(task_id), self.ledger.get(task_id)
        return queued.state.value if queued else "unknown", row.state if row else "unknown"

    def replayed(self) -> int:
        return self.replays.count_replayed(within_ms=10**12)

    def reconcile(self) -> None:
        reconcile(self.queue, self.inspector, self.ledger, self.counters)
