"""Counts of all processes: batched, added up, kept while the server is away, bounded."""

import subprocess
import sys
from pathlib import Path

import pytest
import redis

from pipeline import metrics
from pipeline.metrics import Metric
from pipeline.queue import Counters
from pipeline.queue.counters import REQUEST_BOUNDS_MS, labels_of
from pipeline.queue.keys import Keys
from tests.support.processes import wait_until

KEYS = Keys("sensitive:")

COUNTING = """
import os, signal, sys, redis
from pipeline import metrics
from pipeline.queue import Counters
from pipeline.queue.keys import Keys
client = redis.Redis.from_url(sys.argv[1])
counters = Counters(client, Keys("sensitive:"))
for _ in range(1000):
    counters.count(metrics.REFUSALS, "queue_full")
print("counted", flush=True)
signal.pause()
"""


@pytest.fixture
def counters(valkey: redis.Redis) -> Counters:
    return Counters(valkey, KEYS, is_timed=False)


def counted(counters: Counters, metric: Metric) -> dict[tuple[str, ...], int]:
    found = {labels_of(metric, field): count for field, count in counters.read().items()}
    return {labels: count for labels, count in found.items() if labels is not None}


@pytest.mark.feature("H5")
def test_counts_of_several_processes_add_up(valkey: redis.Redis, counters: Counters) -> None:
    other = Counters(valkey, KEYS, is_timed=False)
    for each in (counters, counters, other):
        each.count(metrics.REFUSALS, "queue_full")
    counters.count(metrics.RETRIES, "ocr", "engine_timeout", by=3)
    counters.flush()
    other.close()

    assert counted(counters, metrics.REFUSALS) == {("queue_full",): 3}
    assert counted(counters, metrics.RETRIES) == {("ocr", "engine_timeout"): 3}


def test_a_flood_costs_one_command_a_second(valkey: redis.Redis, counters: Counters) -> None:
    for _ in range(10_000):
        counters.count(metrics.REFUSALS, "queue_full")
    valkey.config_resetstat()
    counters.flush()

    assert valkey.info("commandstats")["cmdstat_hincrby"]["calls"] == 1


@pytest.mark.feature("H5")
def test_a_killed_process_loses_the_counts_of_its_last_second_only(
    valkey: redis.Redis, valkey_url: str, counters: Counters
) -> None:
    command = [sys.executable, "-c", COUNTING, valkey_url]
    root = Path(__file__).parents[3]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "counted\n"
        wait_until(lambda: counted(counters, metrics.REFUSALS) == {("queue_full",): 1000}, limit_s=5)
        process.kill()

    assert counted(counters, metrics.REFUSALS) == {("queue_full",): 1000}


def test_counts_wait_for_a_server_that_is_away(valkey: redis.Redis, caplog: pytest.LogCaptureFixture) -> None:
    nowhere = Counters(redis.Redis.from_url("redis://127.0.0.1:1"), KEYS, is_timed=False)
    nowhere.count(metrics.REFUSALS, "queue_unavailable")
    nowhere.flush()
    nowhere.count(metrics.REFUSALS, "queue_unavailable")
    nowhere.flush()
    assert [record.message for record in caplog.records] == ["counts are kept until the queue answers"]

    nowhere._client = valkey
    nowhere.flush()
    nowhere.flush()

    assert counted(nowhere, metrics.REFUSALS) == {("queue_unavailable",): 2}


def test_a_process_keeps_a_bounded_number_of_counts(counters: Counters) -> None:
    for number in range(5_000):
        counters.count(metrics.REFUSALS, f"reason{number}")
    counters.flush()

    assert len(counters.read()) == 2_000


def test_durations_fall_into_buckets_with_their_sum(counters: Counters) -> None:
    for took_ms in (5, 6, 99_000):
        counters.observe(metrics.HTTP_REQUEST, "GET", "/livez", took_ms=took_ms)
    counters.flush()

    start = (metrics.HTTP_REQUEST.name, "GET", "/livez")
    assert counters.read() == {(*start, "5"): 1, (*start, "10"): 1, (*start, "inf"): 1, (*start, "sum"): 99_011}
    assert sorted(REQUEST_BOUNDS_MS) == list(REQUEST_BOUNDS_MS)


def test_what_no_fairlane_wrote_is_passed_over(valkey: redis.Redis, counters: Counters) -> None:
    valkey.hset(KEYS.counters(), mapping={b"\xff|a|b": "x", metrics.REFUSALS.name: "3", "": "1"})

    assert counted(counters, metrics.REFUSALS) == {}
