"""A Cluster of three real nodes: the queue works on it, and a lost node costs what lay on it, for a moment, no more."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from models.base import Database
from models.devices import Devices
from models.ledger import Ledger, NewTask
from pipeline.clock import SystemClock
from pipeline.errors import QueueUnavailable
from pipeline.queue import (
    Bucket,
    Standing,
    Task,
    TaskState,
    open_consumer_queue,
    open_inspector,
    open_pages,
    open_queue,
    open_request_limits,
    open_roster,
)
from pipeline.queue.sharded_queue import ShardedQueue
from pipeline.queue.shards import home_of
from pipeline.scheduler.reconcile import rebuild_after_loss
from pipeline.settings import Settings
from tests.support.clusters import Cluster, client_of, started_cluster
from tests.support.processes import wait_until

SHARDS = 6


@pytest.fixture(scope="module")
def running_cluster() -> Iterator[Cluster]:
    with tempfile.TemporaryDirectory() as folder, started_cluster(Path(folder)) as cluster:
        yield cluster


@pytest.fixture
def cluster(running_cluster: Cluster) -> Cluster:
    running_cluster.flush()
    return running_cluster


def settings_of(url: str, **others: Any) -> Settings:
    return Settings(_env_file=None, redis_url=url, **{"queue_shards": SHARDS, **others})


def mac_in(shard: int, count: int = SHARDS) -> str:
    return next(mac for mac in (f"{n:012x}" for n in range(1_000)) if home_of(mac, count) == shard)


def task_in(shard: int, task_id: str) -> Task:
    return Task(task_id, "text", mac_in(shard), 0)


@pytest.mark.feature("H3")
def test_requests_are_counted_and_nonces_kept_on_one_node(cluster: Cluster) -> None:
    limits = open_request_limits(settings_of(cluster.url))
    slow = Bucket("device", "aabbccddeeff@north", 1)
    assert limits.take(slow).retry_after_ms == 0
    assert limits.take(slow).retry_after_ms > 50_000
    assert [limits.note_nonce("k", "n", ttl_ms=60_000) for _ in range(2)] == [True, False]


@pytest.mark.feature("Q21")
def test_tasks_go_their_way_on_all_nodes(cluster: Cluster) -> None:
    settings = settings_of(cluster.url)
    queue, consumer, inspector = open_queue(settings), open_consumer_queue(settings), open_inspector(settings)
    for shard in range(SHARDS):
        queue.admit(mac_in(shard), "text")
        queue.enqueue(task_in(shard, f"t{shard}"))
    for _ in range(SHARDS):
        (claim,) = consumer.claim("text")
        assert consumer.start(claim.task_id, claim.token).attempt == 1
        queue.renew(claim.task_id, claim.token)
        consumer.complete(claim.task_id, claim.token, cost_ms=3)

    assert consumer.claim("text") == []
    assert inspector.audit()[1].ended[TaskState.DONE] == SHARDS
    assert all(books.balances for books in inspector.audit())
    assert len({cluster.node_of(f"{{sensitive:{shard}}}:").url for shard in range(SHARDS)}) == 3


def test_no_call_asks_a_node_first_where_its_key_stands(cluster: Cluster) -> None:
    queue = open_queue(settings_of(cluster.url))
    for node in cluster.nodes:
        with client_of(node) as client:
            client.config_resetstat()

    queue.enqueue(task_in(0, "alone"))
    queue.restore([Standing(task_in(shard, f"t{shard}{n}")) for shard in range(SHARDS) for n in range(3)])

    for node in cluster.nodes:
        with client_of(node) as client:
            stats = client.info("commandstats")
        assert "cmdstat_fcall" in stats
        assert "cmdstat_command|getkeys" not in stats


def test_a_single_shard_works_on_a_cluster_too(cluster: Cluster) -> None:
    queue = open_queue(settings_of(cluster.url, queue_shards=1))
    queue.enqueue(Task("t", "text", mac_in(0), 0))

    assert [claim.task_id for claim in queue.claim("text")] == ["t"]


def test_views_registry_and_housekeeping_work_on_a_cluster(cluster: Cluster) -> None:
    settings = settings_of(cluster.url)
    queue, inspector, roster = open_queue(settings), open_inspector(settings), open_roster(settings)
    roster.enter("host:1", {"hostname": "host", "pid": "1"}, ttl_ms=60_000)
    roster.publish_watermark({"total_pending": 0}, ttl_ms=10_000)
    queue.restore([Standing(task_in(shard, f"t{shard}")) for shard in range(SHARDS)])
    (claim,) = queue.claim("text")
    queue.bury(claim.task_id, claim.token, ending=TaskState.DEAD, code="x", message="", cost_ms=1)
    queue.cancel("t5" if claim.task_id != "t5" else "t4")

    assert [worker["pid"] for worker in roster.workers()] == ["1"]
    assert inspector.watermark() == {"total_pending": 0}
    assert [letter["task_id"] for letter in inspector.dead_letters()] == [claim.task_id]
    assert inspector.lanes()[1].waiting == SHARDS - 2
    assert len(open_pages(settings).listed(["text"])) == SHARDS - 2
    assert inspector.server_facts()["maxmemory_policy"] == "noeviction"
    assert [queue.reap("text"), queue.expire(), queue.promote(), queue.resume()] == [[], [], [], []]


@pytest.mark.parametrize("shard", [0, SHARDS - 1])
def test_a_consumer_notices_work_in_any_shard_within_the_poll_interval(cluster: Cluster, shard: int) -> None:
    queue, clock = open_consumer_queue(settings_of(cluster.url)), SystemClock()
    queue.claim("text")
    queue.enqueue(task_in(shard, "t"))
    began_ms = clock.monotonic_ms()

    queue.wait_for_work("text", timeout_s=0.5)

    # A blocked server looks at its clock every 100 ms.
    assert clock.monotonic_ms() - began_ms < 700
    assert queue.claim("text")


@pytest.mark.feature("Q21")
def test_a_lost_node_costs_its_shards_only_and_they_are_rebuilt_alone(cluster: Cluster, database: Database) -> None:
    settings = settings_of(cluster.url)
    queue, consumer, inspector = open_queue(settings), open_consumer_queue(settings), open_inspector(settings)
    roster, ledger = open_roster(settings), Ledger(database, SystemClock())
    assert isinstance(queue, ShardedQueue)
    roster.begin_epoch()
    for shard in range(SHARDS):
        task = task_in(shard, f"t{shard}")
        ledger.accept(NewTask(task.task_id, "text", task.mac, "local", "0" * 64, {}, 1, None, 1))
        queue.enqueue(task)
    lost = cluster.node_of(queue.shards[1].keys.epoch())
    gone = {n for n in range(SHARDS) if cluster.node_of(queue.shards[n].keys.epoch()) is lost}
    lost.stop()

    served = {claim.task_id for _ in range(SHARDS - len(gone)) for claim in consumer.claim("text")}
    assert served == {f"t{shard}" for shard in range(SHARDS) if shard not in gone}
    with pytest.raises(QueueUnavailable):
        queue.admit(mac_in(1), "text")
    queue.admit(mac_in(next(shard for shard in range(SHARDS) if shard not in gone)), "text")

    lost.start()
    wait_until(lambda: _is_back(inspector))
    assert set(roster.without_epoch()) == gone
    rebuild_after_loss(queue, inspector, roster, ledger, Devices(database))

    assert roster.without_epoch() == []
    assert inspector.lanes()[1].waiting == len(gone)
    assert inspector.lanes()[1].leased == SHARDS - len(gone)


def test_a_cluster_that_nobody_serves_is_unavailable_in_time() -> None:
    clock = SystemClock()
    queue, began_ms = open_queue(settings_of("redis+cluster://127.0.0.1:1")), clock.monotonic_ms()

    with pytest.raises(QueueUnavailable):
        queue.admit(mac_in(0), "text")

    assert clock.monotonic_ms() - began_ms < 2_000


def _is_back(inspector: Any) -> bool:
    try:
        inspector.ping()
    except QueueUnavailable:
        return False
    return True
