"""The OCR pool: children that have grown, or read enough, are replaced; those that outgrow their limit are ended."""

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pipeline.errors import EngineCrashed, EngineMemory
from pipeline.ocr.pool import OcrPool
from pipeline.ocr.slot import ChildLimits
from tests.integration.ocr.conftest import make_pool
from tests.support.ocr_readers import TELL, OnceBuilt, obedient
from tests.support.pictures import LIMITS
from tests.support.processes import engine_children, is_alive, wait_until


@pytest.fixture(autouse=True)
def nobody_left_behind() -> Iterator[None]:
    """Children that are still ending would be counted by the next test."""
    before = engine_children()
    yield
    wait_until(lambda: all(child in before for child in engine_children()))


@pytest.mark.feature("O6")
def test_child_that_has_read_enough_reads_on_until_its_successor_is_warm() -> None:
    before = engine_children()
    pool = make_pool(tasks_per_child=2)
    (first,) = pool.warm_up()
    pids = [pool.read(b"image").model for _ in range(3)]

    wait_until(lambda: pool.read(b"image").model != str(first))
    second = pool.read(b"image").model

    assert pids == [str(first)] * 3
    wait_until(lambda: not is_alive(first))
    assert is_alive(int(second))
    pool.close()
    wait_until(lambda: engine_children() == before)


@pytest.mark.feature("O6")
def test_successor_takes_over_from_an_idle_child_at_once() -> None:
    pool = make_pool(tasks_per_child=1)
    (first,) = pool.warm_up()
    pool.read(b"image")

    wait_until(lambda: not is_alive(first))

    assert pool.read(b"image").engine == "obedient"
    pool.close()


@pytest.mark.feature("O6")
def test_child_that_crashes_while_its_successor_is_warm_costs_no_start(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    pool = make_pool(tasks_per_child=1)
    (first,) = pool.warm_up()
    before = len(engine_children())
    pool.read(b"image")
    with ThreadPoolExecutor(1) as threads:
        reading = threads.submit(pool.read, TELL + os.fsencode(pipe))
        assert pipe.read_bytes() == b"begun"
        wait_until(lambda: len(engine_children()) == before + 1)  # the successor of the one that reads
        os.kill(first, signal.SIGKILL)
        with pytest.raises(EngineCrashed):
            reading.result(30)

    assert pool.read(b"image").engine == "obedient"
    pool.close()


def test_successor_that_cannot_be_built_leaves_the_old_child_reading(tmp_path: Path) -> None:
    device = tmp_path / "gpu"
    device.touch()
    pool = make_pool(tasks_per_child=1, factory=OnceBuilt(device))
    (first,) = pool.warm_up()
    before = len(engine_children())

    pids = {pool.read(b"image").model for _ in range(4)}
    wait_until(lambda: len(engine_children()) == before)

    assert pids == {str(first)}
    pool.close()


@pytest.mark.feature("O6")
def test_child_that_takes_too_much_memory_is_ended_and_the_next_read_works() -> None:
    pool = OcrPool(
        slots=1, threads=1, child_limits=ChildLimits(60, 9, memory_bytes=400_000_000), limits=LIMITS, factory=obedient
    )

    with pytest.raises(EngineMemory):
        pool.read(b"eat memory")

    assert pool.read(b"image").engine == "obedient"
    pool.close()


@pytest.mark.feature("O6")
def test_child_that_has_grown_is_replaced_between_two_reads() -> None:
    pool = OcrPool(
        slots=1, threads=1, child_limits=ChildLimits(60, 9, recycle_bytes=200_000_000), limits=LIMITS, factory=obedient
    )
    before = [pool.read(b"image").model for _ in range(2)]
    grown = pool.read(b"grow").model

    assert before == [grown] * 2
    wait_until(lambda: pool.read(b"image").model != grown)
    pool.close()


def test_idle_children_are_renewed_and_a_reading_one_is_left_alone(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    pool = make_pool(slots=2)
    before = pool.warm_up()
    with ThreadPoolExecutor(1) as threads:
        reading = threads.submit(pool.read, TELL + os.fsencode(pipe))
        assert pipe.read_bytes() == b"begun"

        assert pool.end_idle(are_replaced=True) == 1

        renewed = int(pool.read(b"").model)
        assert renewed not in before
        assert not reading.done()
        pool.close()
        with pytest.raises(EngineCrashed):
            reading.result(30)
    assert pool.end_idle(are_replaced=True) == 0


def test_pool_without_children_has_none_to_renew() -> None:
    pool = make_pool()
    assert pool.end_idle(are_replaced=True) == 0
    pool.close()
