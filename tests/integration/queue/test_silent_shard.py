"""One shard of several does not answer: whatever looks after the others goes on."""

import pytest
import redis

from models.base import Database
from models.ledger import Ledger, NewTask
from models.sites import line_of
from pipeline.errors import QueueUnavailable, TaskNotFound
from pipeline.queue import Inspector, Mark, Roster, Task, TaskState
from pipeline.queue.keys import Keys
from pipeline.queue.shard_limits import SharedLimit
from pipeline.queue.sharded_queue import Shard
from pipeline.queue.shards import rules_of_shards
from pipeline.recovery import recover
from pipeline.scheduler.sweep import Sweep
from tests.support.clock import FakeClock
from tests.support.line import ShardedLine
from tests.support.servers import free_port

SHARDS, SILENT = 4, 1


@pytest.fixture
def line(valkey: redis.Redis, clock: FakeClock) -> ShardedLine:
    return ShardedLine(valkey, clock, SHARDS)


def silence(line: ShardedLine) -> None:
    """Let nobody answer where the shard was."""
    nowhere = redis.Redis(port=free_port())
    rules = rules_of_shards(line.rules, SHARDS)[SILENT]
    line.queue.shards[SILENT] = Shard(nowhere, rules, SILENT, SharedLimit(nowhere, [rules]), line.clock)
    line.inspector.shards[SILENT] = Inspector(nowhere, rules, line.clock)


def accepted(ledger: Ledger, line: ShardedLine, shard: int) -> str:
    """A task of a device of that shard that did not get into its line."""
    mac, task_id = line.mac_in(shard), f"lost{shard}"
    ledger.accept(NewTask(task_id, "text", mac, "local", "0" * 64, {}, 1, None, line.clock.now_ms()))
    assert line.queue.home_number(line_of("local", mac)) == shard
    return task_id


@pytest.mark.feature("Q21")
def test_whoever_follows_the_ledger_hears_of_the_shard_that_knows_the_task(line: ShardedLine) -> None:
    (task_id,) = line.submit(line.mac_in(SILENT + 1))
    claim = line.claim()
    line.queue.cancel(task_id)
    silence(line)

    assert line.queue.amend(task_id, claim.token, ending=TaskState.CANCELLED, code="cancelled") is False
    assert line.queue.forget(task_id, claim.token) is False
    with pytest.raises(QueueUnavailable):
        line.queue.amend("unknown", claim.token, ending=TaskState.CANCELLED, code="cancelled")


@pytest.mark.feature("Q21")
def test_tasks_of_the_other_shards_are_recovered(line: ShardedLine, database: Database, clock: FakeClock) -> None:
    ledger = Ledger(database, clock)
    for shard in range(SHARDS):
        accepted(ledger, line, shard)
    silence(line)

    with pytest.raises(QueueUnavailable):
        recover(line.queue, line.inspector, ledger)

    for shard in set(range(SHARDS)) - {SILENT}:
        found = line.inspector.find(f"lost{shard}")
        assert found is not None
        assert found.state is TaskState.QUEUED


@pytest.mark.feature("Q21")
def test_a_shard_that_lost_its_data_is_known_while_another_is_silent(line: ShardedLine, clock: FakeClock) -> None:
    first, *others = [Keys(rules.prefix) for rules in rules_of_shards(line.rules, SHARDS)]
    roster = Roster(line.client, first, clock, others)
    roster.begin_epoch([0, 1, 3])

    assert roster.without_epoch() == [2]
    roster.begin_epoch([2])
    assert roster.without_epoch() == []


def test_what_waits_is_counted_without_it_where_a_part_will_do(line: ShardedLine) -> None:
    for shard in range(SHARDS):
        line.submit(line.mac_in(shard), lane="text")
    silence(line)

    assert line.inspector.counts(is_partial=True)["text"] == (SHARDS - 1, 0)
    assert [status.waiting for status in line.inspector.lanes(is_partial=True)] == [0, SHARDS - 1, 0]
    assert len(line.inspector.survey(is_partial=True)) == 3
    for whole in (line.inspector.counts, line.inspector.lanes, line.inspector.survey):
        with pytest.raises(QueueUnavailable):
            whole()


def test_a_walk_goes_on_behind_it(line: ShardedLine, database: Database) -> None:
    """The rounds of the sweep: the first ends at the silent shard, the second begins behind it."""
    ended = [task_id for shard in range(SHARDS) for task_id in line.submit(line.mac_in(shard))]
    silence(line)
    sweep = Sweep(line.queue, line.inspector, lambda names: dict.fromkeys(names, ("cancelled", "cancelled")))

    with pytest.raises(QueueUnavailable):
        sweep.run()
    sweep.run()

    states = [
        line.inspector.endings([task_id], home=shard)[0] for shard, task_id in enumerate(ended) if shard != SILENT
    ]
    assert [state and state[0] for state in states] == [TaskState.CANCELLED] * (SHARDS - 1)
    assert line.inspector.past(Mark(SILENT)) == Mark(SILENT + 1)


def test_a_task_of_another_shard_is_found_and_cancelled(line: ShardedLine) -> None:
    (task_id,) = line.submit(line.mac_in(SHARDS - 1))
    silence(line)

    assert line.inspector.find(task_id) is not None
    line.queue.cancel(task_id)
    with pytest.raises(QueueUnavailable):
        line.inspector.find("it may be there")
    with pytest.raises(QueueUnavailable):
        line.queue.cancel("it may be there")


def test_a_task_that_no_shard_has_is_not_found(line: ShardedLine) -> None:
    assert line.inspector.find("nobody") is None
    with pytest.raises(TaskNotFound):
        line.queue.cancel("nobody")
    assert not line.queue.forget("nobody", 0)


def test_a_new_task_of_another_shard_comes_in(line: ShardedLine) -> None:
    silence(line)

    line.queue.enqueue(Task("t", "text", line.mac_in(0), 0))

    assert [claim.task_id for claim in line.queue.claim("text")] == ["t"]
