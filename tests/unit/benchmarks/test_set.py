"""`make bench` says what it runs, within its half hour, and fails when one of its benchmarks does."""

import subprocess
import sys

import pytest

from benchmarks import __main__ as bench


def test_the_set_takes_half_an_hour() -> None:
    assert sum(entry.minutes for entry in bench.SET) <= 30


def test_the_list_names_each_benchmark_and_runs_none() -> None:
    shown = subprocess.run([sys.executable, "-m", "benchmarks", "--list"], check=True, capture_output=True, text=True)

    for entry in bench.SET:
        assert f"  {entry.name:10} {entry.minutes:3} min" in shown.stdout


def test_one_that_fails_does_not_stop_the_others(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    bad = bench.Entry("bad", "no such option", ("-m", "benchmarks", "--nonsense"), 1)
    good = bench.Entry("good", "a list", ("-m", "benchmarks", "--list"), 1)
    monkeypatch.setattr(bench, "SET", (bad, good))
    monkeypatch.setattr(sys, "argv", ["bench"])

    assert bench.main() == 1

    shown = capfd.readouterr().out
    assert "bad: failed (2)" in shown
    assert "good: done" in shown
