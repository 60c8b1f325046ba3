"""Mutated images through a child of the pool: every one is read or refused with a reason, and the child stays."""

from collections.abc import Iterator

import psutil
import pytest

from pipeline.errors import BadImage
from pipeline.ocr.pool import OcrPool
from pipeline.ocr.slot import ChildLimits
from tests.support.mutations import mutated_images
from tests.support.ocr_readers import decoding
from tests.support.pictures import LIMITS
from tests.support.scale import is_long

#: 5,000 with TEST_LONG=1.
COUNT = 5_000 if is_long() else 400
#: Bytes by which a child may have grown at the end, beyond what the first tenth of the images left it with.
GROWTH_BYTES = 30_000_000


@pytest.fixture
def decoding_pool() -> Iterator[OcrPool]:
    pool = OcrPool(slots=1, threads=1, child_limits=ChildLimits(10, 100_000), limits=LIMITS, factory=decoding)
    yield pool
    pool.close()


@pytest.mark.feature("O7")
@pytest.mark.timeout(900)
def test_no_damage_ends_the_child_or_goes_unclassified(decoding_pool: OcrPool) -> None:
    (pid,) = decoding_pool.warm_up()
    child = psutil.Process(pid)
    read = refused = early_bytes = 0
    for number, data in enumerate(mutated_images(COUNT, seed=20261129)):
        try:
            decoding_pool.read(data)
            read += 1
        except BadImage:
            refused += 1
        if number == COUNT // 10:
            early_bytes = child.memory_info().rss

    assert read + refused == COUNT
    assert min(read, refused) > COUNT // 10
    assert decoding_pool.warm_up() == [pid]
    assert child.memory_info().rss - early_bytes < GROWTH_BYTES
