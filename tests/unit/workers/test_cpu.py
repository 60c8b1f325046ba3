"""CpuProbe: whose load it is."""

import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pipeline.workers.cgroup import CpuQuota
from pipeline.workers.cpu import CpuFigures, CpuProbe
from pipeline.workers.own import OwnProcesses
from tests.support.clock import FakeClock
from tests.support.fake_host import FakeHost


class Bench:
    """A probe on a fake host of two cores, read once a second."""

    def __init__(self, clock: FakeClock, supervisor_pid: int = 0, root: Path = Path("/nowhere")) -> None:
        self.clock = clock
        self.host = FakeHost()
        self.quotas: dict[Path, CpuQuota] = {}
        self.own = OwnProcesses(supervisor_pid, self.host, root)
        cgroup: Any = SimpleNamespace(cpu_quotas=lambda: self.quotas)
        self.probe = CpuProbe(cgroup, self.own, clock, doubt_percent=75, processes=self.host)

    def second(self, **burnt: float) -> CpuFigures:
        """Let a second pass in which these processes (by attribute of this bench) burn, then read."""
        for name, seconds in burnt.items():
            self.host.burn(None if name == "others" else getattr(self, name), seconds)
        self.host.elapsed_s += 1
        self.clock.advance(1_000)
        return self.probe.read()


@pytest.fixture
def bench(clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1})
    bench = Bench(clock)
    bench.me = bench.host.own
    bench.engine = bench.host.spawn(20, bench.me)
    bench.second()
    return bench


def shares(figures: CpuFigures) -> tuple[float, float]:
    return round(figures.percent, 6), round(figures.others_percent, 6)


@pytest.mark.feature("S4")
def test_the_load_of_our_own_engine_is_not_that_of_others(bench: Bench) -> None:
    assert shares(bench.second(me=0.1, engine=0.9)) == (50.0, 0.0)
    assert shares(bench.second(engine=1.0, others=1.0)) == (100.0, 50.0)
    assert shares(bench.second(others=1.6)) == (80.0, 80.0)


def test_the_first_reading_says_nothing(clock: FakeClock) -> None:
    bench = Bench(clock)
    bench.host.burn(None, 1.0)

    assert shares(bench.probe.read()) == (0.0, 0.0)


def test_an_engine_that_is_replaced_stays_ours(bench: Bench) -> None:
    bench.second(engine=1.0)
    bench.host.burn(bench.engine, 0.5)
    bench.host.end(bench.engine)
    bench.next_engine = bench.host.spawn(21, bench.me)

    assert shares(bench.second(next_engine=0.5, others=0.2)) == (60.0, 10.0)


def test_a_new_child_is_looked_for_before_a_high_figure_is_believed(bench: Bench) -> None:
    bench.second()
    looks = bench.host.looks
    bench.newborn = bench.host.spawn(22, bench.engine)

    assert shares(bench.second(newborn=1.8)) == (90.0, 0.0)
    assert bench.host.looks == looks + 1
    assert shares(bench.second(newborn=1.8)) == (90.0, 0.0)


def test_the_process_table_is_looked_at_now_and_then_only(bench: Bench) -> None:
    looks = bench.host.looks
    for _ in range(10):
        bench.second(engine=1.0)

    assert bench.host.looks - looks == 2


@pytest.mark.feature("S4")
def test_workers_beside_us_count_as_ours_once_they_are_known(bench: Bench) -> None:
    bench.sibling = bench.host.spawn(30)
    assert shares(bench.second(sibling=1.0)) == (50.0, 50.0)

    bench.own.count_siblings([bench.me.pid, 30])

    # What it burnt in the second in which it was met is not known: the figure before stays.
    assert shares(bench.second(sibling=1.0)) == (50.0, 50.0)
    assert shares(bench.second(sibling=1.0)) == (50.0, 0.0)


def test_a_worker_beside_us_that_ends_does_not_look_like_load_of_others(bench: Bench) -> None:
    bench.sibling = bench.host.spawn(30)
    bench.own.count_siblings([30])
    bench.second(sibling=1.0)
    bench.second(sibling=1.0)
    bench.host.burn(bench.sibling, 1.9)
    bench.host.end(bench.sibling)

    assert shares(bench.second()) == (95.0, 0.0)
    assert shares(bench.second(others=0.4)) == (20.0, 20.0)


def test_the_whole_tree_of_the_supervisor_is_ours(clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1})
    bench = Bench(clock, supervisor_pid=7)
    supervisor = bench.host.spawn(7)
    bench.host.own.parent = supervisor
    bench.web, bench.me = bench.host.spawn(8, supervisor), bench.host.own
    bench.second()

    assert shares(bench.second(web=0.8, me=0.2, others=0.4)) == (70.0, 20.0)


@pytest.mark.feature("S4")
@pytest.mark.parametrize(
    ("own_s", "waited_s", "others_s", "share"),
    [
        pytest.param(1.0, 1.0, 1.0, 100.0, id="two loops beside two of ours"),
        pytest.param(1.33, 0.67, 0.67, 50.4, id="one loop beside two of ours"),
        pytest.param(1.98, 2.0, 0.02, 2.0, id="four of ours alone"),
        pytest.param(1.9, 60.0, 0.1, 20.0, id="sixty of ours alone"),
        pytest.param(0.5, 5.0, 0.5, 25.0, id="the host is not full"),
    ],
)
def test_on_a_full_host_the_share_is_what_others_would_take_without_us(
    clock: FakeClock,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    own_s: float,
    waited_s: float,
    others_s: float,
    share: float,
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1})
    bench = Bench(clock, root=tmp_path)
    bench.me = bench.host.own
    schedstat = tmp_path / "proc" / str(bench.me.pid) / "task" / "1" / "schedstat"
    schedstat.parent.mkdir(parents=True)
    schedstat.write_text("0 7000000000 1\n")
    bench.second()
    schedstat.write_text(f"0 {7_000_000_000 + round(waited_s * 1e9)} 1\n")

    assert bench.second(me=own_s, others=others_s).others_percent == pytest.approx(share, abs=0.1)


def test_only_the_processors_we_may_use_count(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {1})
    bench.second()

    assert bench.second(others=1.0) == CpuFigures(1.0, 50.0, 50.0)


@pytest.mark.feature("S4")
def test_a_quota_is_the_measure_where_it_is_tighter(bench: Bench) -> None:
    def use(seconds: float) -> None:
        used_s = bench.quotas[Path("g")].used_s if bench.quotas else 0.0
        bench.quotas = {Path("g"): CpuQuota(0.5, used_s + seconds)}

    steps: list[Callable[[], CpuFigures]] = [
        lambda: (use(0), bench.second())[1],
        lambda: (use(0.5), bench.second(engine=0.5))[1],
        lambda: (use(0.5), bench.second(engine=0.1, others=0.4))[1],
        lambda: (use(0.9), bench.second(others=0.9))[1],
    ]
    figures = [step() for step in steps]

    # Half a core of two: 25 % of the host and all of the quota; a burst above it is 100 %.
    assert [shares(figure) for figure in figures] == [(0.0, 0.0), (100.0, 0.0), (100.0, 80.0), (100.0, 100.0)]
    assert figures[-1].count == 0.5
