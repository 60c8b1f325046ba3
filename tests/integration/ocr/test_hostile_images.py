"""Files that hurt a careless reader: each answered soon, in little memory, and the child goes on."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet

import psutil
import pytest

from pipeline.errors import BadImage
from pipeline.ocr.pool import OcrPool
from pipeline.ocr.types import OcrResult
from tests.support.hostile import empty, readable, refused

#: Seconds and bytes above idle that one file may cost: what the issue asks for; 0.2 s and 60 MB were measured.
CPU_LIMIT_S = 2.0
LIMIT_BYTES = 200_000_000


@pytest.fixture(scope="module")
def idle_bytes(engine_pool: OcrPool) -> Iterator[int]:
    """What the child holds once it is warm; it is the same child at the end."""
    (pid,) = engine_pool.warm_up()
    yield psutil.Process(pid).memory_info().rss
    assert engine_pool.warm_up() == [pid]


def read(pool: OcrPool, data: bytes, idle_bytes: int) -> OcrResult:
    """Read within the limits; the size of the child is looked at all the while."""
    (pid,) = pool.warm_up()
    child = psutil.Process(pid)
    began_s = _cpu_s(child)
    largest_bytes = 0
    with ThreadPoolExecutor(1) as thread:
        reading = thread.submit(pool.read, data)
        while not reading.done():
            largest_bytes = max(largest_bytes, child.memory_info().rss)
            try:
                reading.exception(timeout=0.005)
            except NotYet:
                continue
    assert _cpu_s(child) - began_s < CPU_LIMIT_S
    assert largest_bytes - idle_bytes < LIMIT_BYTES
    return reading.result()


def _cpu_s(process: psutil.Process) -> float:
    # Not the time of the clock: the machine has other work.
    times = process.cpu_times()
    return times.user + times.system


@pytest.mark.feature("O7")
@pytest.mark.parametrize(("data", "code"), [pytest.param(data, code, id=name) for name, data, code in refused()])
def test_what_can_t_be_read_is_refused_with_its_code(
    engine_pool: OcrPool, idle_bytes: int, data: bytes, code: str
) -> None:
    with pytest.raises(BadImage) as caught:
        read(engine_pool, data, idle_bytes)

    assert caught.value.code == code
    assert str(caught.value)


@pytest.mark.feature("O7")
@pytest.mark.parametrize("data", [pytest.param(data, id=name) for name, data in empty()])
def test_what_says_nothing_is_an_empty_result(engine_pool: OcrPool, idle_bytes: int, data: bytes) -> None:
    assert read(engine_pool, data, idle_bytes).text == ""


@pytest.mark.feature("O7")
@pytest.mark.parametrize("data", [pytest.param(data, id=name) for name, data in readable()])
def test_what_is_odd_is_read_all_the_same(engine_pool: OcrPool, idle_bytes: int, data: bytes) -> None:
    assert read(engine_pool, data, idle_bytes).text == "fairlane 2026"
