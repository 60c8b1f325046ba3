"""Sampler: one thread, probes that may fail, and who is told."""

import logging
import threading

import pytest

from pipeline.settings import Settings
from pipeline.workers.cpu import CpuFigures
from pipeline.workers.gpu_probe import GpuFigures
from pipeline.workers.host import _judged
from pipeline.workers.memory import MemoryFigures
from pipeline.workers.sampler import CPU_OVER, GPU_MEMORY_OVER, MEMORY_OVER, Probes, Sampler
from tests.support.processes import wait_until


class Readings:
    """What the probes say; a test changes it."""

    def __init__(self) -> None:
        self.cpu, self.memory, self.gpu = CpuFigures(2, 90, 10), MemoryFigures(100, 80), GpuFigures(5, 80)
        self.threads: set[str] = set()
        self.is_broken = False

    def read_cpu(self) -> CpuFigures:
        self.threads.add(threading.current_thread().name)
        if self.is_broken:
            raise OSError("no /proc")
        return self.cpu

    def sampler(self, *, uses_gpu: bool = False, **settings: object) -> Sampler:
        chosen = Settings(_env_file=None, **settings)
        probes = Probes(self.read_cpu, lambda: self.memory, lambda: self.gpu)
        return Sampler(probes, _judged(chosen, lambda: uses_gpu), period_s=0.01)


@pytest.fixture
def readings() -> Readings:
    return Readings()


@pytest.mark.feature("S4")
def test_our_own_load_holds_nothing_unless_all_load_counts(readings: Readings) -> None:
    assert readings.sampler().sample() == set()
    assert readings.sampler(worker_cpu_counts="all").sample() == {CPU_OVER}
    readings.cpu = CpuFigures(2, 90, 80)
    assert readings.sampler().sample() == {CPU_OVER}


@pytest.mark.feature("S4")
def test_memory_holds_on_its_own_marks(readings: Readings) -> None:
    readings.memory = MemoryFigures(100, 20)

    assert readings.sampler().sample() == {MEMORY_OVER}
    assert readings.sampler(worker_mem_high_watermark=85).sample() == set()


@pytest.mark.feature("S4")
def test_gpu_memory_holds_only_an_engine_that_computes_there(readings: Readings) -> None:
    assert readings.sampler(uses_gpu=True).sample() == {GPU_MEMORY_OVER}
    readings.gpu = GpuFigures(None, None)
    assert readings.sampler(uses_gpu=True).sample() == set()


def test_a_probe_that_fails_is_said_once_and_holds_nothing(
    readings: Readings, caplog: pytest.LogCaptureFixture
) -> None:
    readings.cpu = CpuFigures(2, 90, 90)
    sampler = readings.sampler()
    assert sampler.sample() == {CPU_OVER}

    readings.is_broken = True
    with caplog.at_level(logging.WARNING):
        assert [sampler.sample() for _ in range(3)] == [set()] * 3

    assert len(caplog.records) == 1
    assert "no /proc" in caplog.text
    assert sampler.figures.cpu is None
    assert sampler.figures.memory == readings.memory


def test_each_change_is_told_once_by_one_thread(readings: Readings) -> None:
    told: list[frozenset[str]] = []
    sampler = readings.sampler()
    sampler.start(told.append)
    readings.cpu = CpuFigures(2, 90, 90)
    wait_until(lambda: told == [{CPU_OVER}])
    readings.cpu = CpuFigures(2, 90, 10)
    wait_until(lambda: told == [{CPU_OVER}, frozenset()])
    sampler.stop()

    assert readings.threads == {threading.current_thread().name, "host-sampler"}
