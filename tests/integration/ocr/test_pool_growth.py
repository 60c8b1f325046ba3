"""The OCR pool: children that have grown, or read enough, are replaced; those that outgrow their limit are ended."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pipeline.errors import EngineCrashed, EngineMemory
from pipeline.ocr.pool import ChildLimits, OcrPool
from tests.integration.ocr.conftest import make_pool
from tests.support.ocr_readers import TELL, obedient
from tests.support.pictures import LIMITS


@pytest.mark.feature("O6")
def test_child_is_replaced_after_its_tasks() -> None:
    pool = make_pool(tasks_per_child=2)
    pids = [pool.read(b"image").model for _ in range(4)]
    pool.close()

    assert pids[0] == pids[1] != pids[2] == pids[3]


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
    assert pool.read(b"image").model != grown
    pool.close()


def test_idle_children_are_renewed_and_a_reading_one_is_left_alone(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    pool = make_pool(slots=2)
    before = pool.warm_up()
    with ThreadPoolExecutor(1) as threads:
        reading = threads.submit(pool.read, TELL + os.fsencode(pipe))
        assert pipe.read_bytes() == b"begun"

        assert pool.renew_idle() == 1

        renewed = int(pool.read(b"").model)
        assert renewed not in before
        assert not reading.done()
        pool.close()
        with pytest.raises(EngineCrashed):
            reading.result(30)
    assert pool.renew_idle() == 0


def test_pool_without_children_has_none_to_renew() -> None:
    pool = make_pool()
    assert pool.renew_idle() == 0
    pool.close()
