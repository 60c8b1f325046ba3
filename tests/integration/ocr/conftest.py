"""One pool with the real engine, and one that obeys, for all tests of this folder."""

from collections.abc import Iterator

import pytest

from pipeline.ocr.child import ReaderFactory
from pipeline.ocr.pool import OcrPool
from pipeline.ocr.slot import ChildLimits
from tests.support.ocr_readers import obedient
from tests.support.pictures import LIMITS


@pytest.fixture(scope="session")
def engine_pool() -> Iterator[OcrPool]:
    pool = OcrPool(slots=1, threads=1, child_limits=ChildLimits(60, 1000), limits=LIMITS)
    pool.warm_up()
    yield pool
    pool.close()


@pytest.fixture(scope="session")
def pool() -> Iterator[OcrPool]:
    pool = OcrPool(slots=1, threads=1, child_limits=ChildLimits(0.5, 1000), limits=LIMITS, factory=obedient)
    pool.warm_up()
    yield pool
    pool.close()


def make_pool(slots: int = 1, tasks_per_child: int = 1000, factory: ReaderFactory = obedient) -> OcrPool:
    """A pool whose children do what the image says."""
    return OcrPool(
        slots=slots,
        threads=1,
        child_limits=ChildLimits(30, tasks_per_child),
        limits=LIMITS,
        factory=factory,
    )
