"""Each benchmark runs, tiny, so that none rots; what it measures here means nothing."""

import json
from pathlib import Path

import pytest

from benchmarks import (
    bench_backpressure,
    bench_faults,
    bench_lists,
    bench_memory,
    bench_metrics,
    bench_ocr,
    bench_peers,
    bench_queue,
    bench_recover,
    bench_scale,
    bench_task_cost,
    bench_task_list,
    bench_web,
    bench_words,
    eval_ocr,
    scale_plan,
    web_servers,
)
from benchmarks.peers.systems import FAIRLANE, SYSTEMS
from pipeline.samples import sample_images

pytestmark = pytest.mark.bench


def test_the_queue_benchmark_prints_its_tables() -> None:
    report = "\n".join(bench_queue.run(bench_queue.TINY))

    assert "cores" in report
    for operation in ("enqueue", "claim", "complete"):
        assert report.count(f"| {operation.rjust(9)} |") == 2 * len(bench_queue.TINY.devices)
    assert "the device: what remains" in report


def test_the_recover_benchmark_prints_both_databases() -> None:
    report = "\n".join(bench_recover.run(20))

    assert "SQLite" in report
    assert "PostgreSQL" in report


def test_the_scale_benchmark_prints_every_part_and_finds_the_books_balanced() -> None:
    report = "\n".join(bench_scale.run(scale_plan.TINY))

    assert "books     balance: 60 accepted, 60 done; left: 1 global_pending, 1 lane, 6 mac" in report
    for row in ("p50, ratio", "nothing pending", "one server", "three nodes, 3 shards", "| hosts |", "nothing to do"):
        assert row in report


def test_the_metrics_benchmark_prints_both_databases() -> None:
    report = "\n".join(bench_metrics.run(bench_metrics.TINY))

    assert "SQLite" in report
    assert "PostgreSQL" in report
    assert "a counted request" in report


@pytest.mark.timeout(600)
def test_the_faults_benchmark_kills_everybody_and_finds_the_books_balanced() -> None:
    report = "\n".join(bench_faults.run(bench_faults.TINY))

    victims = [*bench_faults.VICTIMS, "ocr worker", "ocr master"]
    assert [name for name in victims if f"{name:14} 1 kills" not in report] == []
    assert "poison ended as worker_crash, engine_timeout, engine_memory" in report
    assert "the books balance" in report


def test_the_memory_benchmark_prints_each_process_and_finds_no_key_left_over() -> None:
    report = "\n".join(bench_memory.run(bench_memory.TINY))

    assert "180 done, 20 failed" in report
    for process in ("web", "scheduler", "text worker", "OCR worker", "engine child"):
        assert f"| {process.rjust(12)} |" in report
    assert "no key without owner" in report


def test_the_backpressure_benchmark_prints_the_ratio() -> None:
    report = "\n".join(bench_backpressure.run(bench_backpressure.TINY))

    assert "ratio on/off of 1 pairs" in report
    assert "seen held" in report


def test_the_ocr_benchmark_prints_the_ratio() -> None:
    report = "\n".join(bench_ocr.run(bench_ocr.TINY))

    assert "bare engine" in report
    assert "ratio system/bare of 1 pairs" in report


@pytest.mark.timeout(600)
def test_the_peers_benchmark_lets_every_system_store_what_it_was_sent() -> None:
    report = "\n".join(bench_peers.run(bench_peers.TINY, ["postgresql"]))

    for system in SYSTEMS:
        assert f"| {system.name.rjust(17)} |" in report
        assert system is FAIRLANE or f"fairlane / {system.name}: queue" in report


@pytest.mark.timeout(600)
def test_the_peers_benchmark_prints_waits_of_lonely_and_of_flooded_devices() -> None:
    report = "\n".join(bench_peers.run(bench_peers.TINY, ["sqlite", "latency", "flood"], [FAIRLANE]))

    assert "texts, SQLite" in report
    assert "submit to start beside idle workers" in report
    assert "3 light devices beside one with 200 tasks" in report
    assert report.count("fairlane |") == 3


def test_the_words_benchmark_prints_both_tables() -> None:
    report = "\n".join(bench_words.run(bench_words.TINY))

    assert "at best" in report
    assert "ocr, pinyin, split" in report
    assert "while mapping" in report


def test_the_lists_benchmark_prints_what_a_swap_costs() -> None:
    report = "\n".join(bench_lists.run(bench_lists.TINY))

    assert "s to publish" in report
    assert "without swaps" in report
    assert "s of a swap" in report


def test_the_web_benchmark_prints_each_server_on_each_database() -> None:
    report = "\n".join(bench_web.run(bench_web.TINY))

    for candidate in web_servers.candidates():
        assert report.count(candidate.name) == 5
    assert report.count("PostgreSQL") == 2 * len(web_servers.candidates())


def test_the_task_cost_benchmark_prints_each_phase_and_counts_what_the_servers_were_asked() -> None:
    report = "\n".join(bench_task_cost.run(bench_task_cost.TINY))

    for database in ("PostgreSQL", "SQLite"):
        for phase in ("submit", "work", "together"):
            assert f"| {database:>10} | {phase:>8} |" in report
    for count in ("round trips, queue", "statements", "commits"):
        assert report.count(f" {count} |") == 1


def test_the_task_list_benchmark_reads_every_page_off_an_index() -> None:
    report = "\n".join(bench_task_list.run(bench_task_list.TINY))

    rows = [line for line in report.splitlines() if "(" in line and line.startswith("|")]
    assert len(rows) >= 2 * len(bench_task_list.questions(bench_task_list.TINY))
    assert "none |" not in report


def test_the_evaluation_prints_each_picture_and_each_kind(tmp_path: Path) -> None:
    pictures = dict(sample_images())
    known = [
        {"file": "message_lottery.png", "kind": "phone", "lines": ["幸运星活动组"]},
        {"file": "receipt_coffee.png", "kind": "paper", "lines": ["108.50"]},
    ]
    (tmp_path / "groundtruth.json").write_text(json.dumps(known), "utf-8")
    for case in known:
        (tmp_path / str(case["file"])).write_bytes(pictures[str(case["file"])])

    report = "\n".join(eval_ocr.run(eval_ocr.cases_of(tmp_path), eval_ocr.shipped_reader()))

    assert "cores" in report
    assert report.count("receipt_coffee.png") == 1
    for kind in ("paper", "phone", "all"):
        assert f"| {kind:>5} |" in report
