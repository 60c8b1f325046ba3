"""A master watched by a real Sentinel: the queue follows when another server becomes the master."""

import tempfile
from pathlib import Path

import pytest

from pipeline.clock import SystemClock
from pipeline.errors import QueueUnavailable
from pipeline.queue import FairQueue, Task, open_consumer_queue, open_inspector, open_queue
from pipeline.settings import Settings
from tests.support.clusters import client_of, started_sentinel
from tests.support.processes import wait_until


@pytest.mark.feature("Q21")
def test_the_queue_follows_the_sentinels_to_the_new_master() -> None:
    with tempfile.TemporaryDirectory() as folder, started_sentinel(Path(folder)) as watched:
        settings = Settings(_env_file=None, redis_url=watched.url)
        queue, consumer, inspector = open_queue(settings), open_consumer_queue(settings), open_inspector(settings)
        queue.enqueue(Task("before", "text", "aa0000000001", 0))
        with client_of(watched.master) as client:
            assert client.wait(1, 5_000) == 1
        watched.master.stop()
        with pytest.raises(QueueUnavailable):
            queue.enqueue(Task("lost", "text", "aa0000000001", 0))

        wait_until(lambda: _is_enqueued(queue))

        assert [consumer.claim("text")[0].task_id for _ in range(2)] == ["before", "after"]
        assert all(books.balances for books in inspector.audit())
        with client_of(watched.replica) as client:
            assert client.role()[0] == b"master"


def test_sentinels_that_nobody_serves_are_unavailable_in_time() -> None:
    clock = SystemClock()
    queue = open_queue(Settings(_env_file=None, redis_url="redis+sentinel://127.0.0.1:1/line"))
    began_ms = clock.monotonic_ms()

    with pytest.raises(QueueUnavailable):
        queue.admit("aa0000000001", "text")

    assert clock.monotonic_ms() - began_ms < 2_000


def _is_enqueued(queue: FairQueue) -> bool:
    try:
        queue.enqueue(Task("after", "text", "aa0000000001", 0))
    except QueueUnavailable:
        return False
    return True
