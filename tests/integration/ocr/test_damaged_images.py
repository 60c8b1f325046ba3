"""Mutated images through a child of the pool: every one is read or refused with a reason, and the child stays."""

from typing import NamedTuple

import psutil
import pytest

from pipeline.errors import BadImage
from pipeline.ocr.child import ReaderFactory, build_rapid_reader
from pipeline.ocr.pool import OcrPool
from pipeline.ocr.slot import ChildLimits
from tests.support.mutations import mutated_images
from tests.support.ocr_readers import decoding
from tests.support.pictures import LIMITS
from tests.support.scale import is_long


class Course(NamedTuple):
    """Which engine, how many images, and how much larger the child may be at the end than after the first tenth.

    The real engine keeps what its largest picture so far took.
    """

    factory: ReaderFactory
    count: int
    growth_bytes: int


COURSES = [
    pytest.param(Course(decoding, 5_000 if is_long() else 400, 30_000_000), id="decoding"),
    pytest.param(Course(build_rapid_reader, 5_000 if is_long() else 60, 250_000_000), id="reading"),
]


@pytest.mark.feature("O7")
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("course", COURSES)
def test_no_damage_ends_the_child_or_goes_unclassified(course: Course) -> None:
    limits = ChildLimits(30, 100_000)
    pool = OcrPool(slots=1, threads=1, child_limits=limits, limits=LIMITS, factory=course.factory)
    (pid,) = pool.warm_up()
    child = psutil.Process(pid)
    read = refused = early_bytes = 0
    for number, data in enumerate(mutated_images(course.count, seed=20261129)):
        try:
            pool.read(data)
            read += 1
        except BadImage:
            refused += 1
        if number == course.count // 10:
            early_bytes = child.memory_info().rss

    assert read + refused == course.count
    assert min(read, refused) > course.count // 10
    assert pool.warm_up() == [pid]
    assert child.memory_info().rss - early_bytes < course.growth_bytes
    pool.close()
