"""The OCR pool: children that crash, hang, wear out, and end with their parent."""

import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from pipeline.errors import (
    BadImage,
    ConfigurationError,
    EngineCrashed,
    EngineMemory,
    EngineTimeout,
    InvalidInput,
    QueueFull,
)
from pipeline.ocr.pool import OcrPool
from pipeline.ocr.slot import ChildLimits
from pipeline.samples import sample_images
from tests.integration.ocr.conftest import make_pool
from tests.support.ocr_readers import refusing
from tests.support.pictures import LIMITS, drawn, encoded

ROOT = Path(__file__).parents[3]

PARENT = """
import signal
from pipeline.ocr.pool import OcrPool
from pipeline.ocr.slot import ChildLimits
from tests.support.ocr_readers import obedient
from tests.support.pictures import LIMITS

if __name__ == "__main__":
    pool = OcrPool(slots=2, threads=1, child_limits=ChildLimits(60, 9), limits=LIMITS, factory=obedient)
    print(*pool.warm_up(), flush=True)
    signal.pause()
"""

#: A forked process runs none of what `atexit` holds, and that is what a worker of Dramatiq is.
FORGETFUL = """
import multiprocessing
import sys
from pipeline.ocr.pool import OcrPool
from pipeline.ocr.slot import ChildLimits
from tests.support.ocr_readers import obedient
from tests.support.pictures import LIMITS

def work():
    OcrPool(slots=1, threads=1, child_limits=ChildLimits(60, 9), limits=LIMITS, factory=obedient).warm_up()

if __name__ == "__main__":
    worker = multiprocessing.get_context("fork").Process(target=work)
    worker.start()
    worker.join()
    sys.exit(worker.exitcode)
"""


@pytest.mark.feature("O1")
def test_engine_reads_a_drawn_line(engine_pool: OcrPool) -> None:
    result = engine_pool.read(encoded(drawn("Invoice 2026")))

    assert result.text == "Invoice 2026"
    assert result.mean_confidence > 0.9
    assert (result.engine, result.model) == ("rapidocr", "PP-OCRv6-small")


def test_engine_reads_the_same_line_upside_down(engine_pool: OcrPool) -> None:
    assert engine_pool.read(encoded(drawn("Invoice 2026").rotate(180))).text == "Invoice 2026"


@pytest.mark.feature("O4")
def test_boxes_are_in_pixels_of_the_original(engine_pool: OcrPool) -> None:
    picture = drawn("Invoice 2026").resize((4800, 1200))

    (line,) = engine_pool.read(encoded(picture)).lines

    (left, top), _, (right, bottom), _ = line.box
    assert 100 < left < 400
    assert right > 2000
    assert 200 < top < bottom < 1000


def test_engine_reads_chinese_and_finds_the_words_of_the_sample_chat(engine_pool: OcrPool) -> None:
    text = engine_pool.read(dict(sample_images())["chat_part_time_job.png"]).text

    assert "刷单返利" in text
    assert "加微信" in text


def test_bad_image_arrives_as_bad_image_from_the_child(engine_pool: OcrPool) -> None:
    with pytest.raises(BadImage, match="0 bytes"):
        engine_pool.read(b"")


@pytest.mark.parametrize(
    ("order", "error"),
    [
        (b"bad image", BadImage),
        (b"invalid input", InvalidInput),
        (b"overload", QueueFull),
        (b"foreign", EngineCrashed),
        (b"no memory", EngineMemory),
    ],
)
def test_errors_in_the_child_arrive_as_our_own(pool: OcrPool, order: bytes, error: type[Exception]) -> None:
    with pytest.raises(error) as caught:
        pool.read(order)

    assert caught.type is error


@pytest.mark.feature("O6")
def test_crash_ends_one_read_and_the_next_one_works(pool: OcrPool) -> None:
    with pytest.raises(EngineCrashed, match="exit code -9"):
        pool.read(b"crash")

    assert pool.read(b"image").engine == "obedient"


@pytest.mark.feature("O6")
def test_child_killed_by_others_while_it_reads_ends_that_read_only(tmp_path: Path) -> None:
    pool = make_pool()
    (pid,) = pool.warm_up()
    fifo = tmp_path / "begun"
    os.mkfifo(fifo)
    with ThreadPoolExecutor(1) as thread:
        reading = thread.submit(pool.read, b"tell and hang " + bytes(fifo))
        fifo.read_bytes()  # returns once the child has begun
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(EngineCrashed):
            reading.result(timeout=20)

    assert pool.read(b"image").engine == "obedient"
    pool.close()


@pytest.mark.feature("O6")
def test_hang_is_ended_at_the_hard_limit_and_the_next_read_works(pool: OcrPool) -> None:
    with pytest.raises(EngineTimeout, match=r"0\.5 s"):
        pool.read(b"hang")

    assert pool.read(b"image").engine == "obedient"


def test_child_that_died_idle_costs_no_read(pool: OcrPool) -> None:
    pid = int(pool.read(b"image").model)
    os.kill(pid, signal.SIGKILL)

    assert pool.read(b"image").model != str(pid)


def test_slots_read_at_the_same_time_in_children_of_their_own() -> None:
    pool = make_pool(slots=2)
    pids = pool.warm_up()
    pool.close()

    assert len(set(pids)) == 2


def test_pool_started_by_a_thread_that_ended_goes_on() -> None:
    pools: list[OcrPool] = []
    thread = threading.Thread(target=lambda: pools.append(make_pool()))
    thread.start()
    thread.join()
    (pid,) = pools[0].warm_up()

    assert pools[0].read(b"image").model == str(pid)
    pools[0].close()


def test_warm_up_says_why_there_is_no_engine() -> None:
    pool = OcrPool(slots=1, threads=1, child_limits=ChildLimits(5, 9), limits=LIMITS, factory=refusing)

    with pytest.raises(ConfigurationError, match="no model"):
        pool.warm_up()
    pool.close()


def test_closed_pool_refuses_and_leaves_no_child() -> None:
    pool = make_pool()
    (pid,) = pool.warm_up()
    pool.close()

    with pytest.raises(EngineCrashed, match="closed"):
        pool.read(b"image")
    assert not psutil.pid_exists(pid)


def test_closing_ends_the_read_that_is_under_way(tmp_path: Path) -> None:
    pool = make_pool()
    fifo = tmp_path / "begun"
    os.mkfifo(fifo)
    with ThreadPoolExecutor(1) as thread:
        reading = thread.submit(pool.read, b"tell and hang " + bytes(fifo))
        fifo.read_bytes()
        pool.close()
        with pytest.raises(EngineCrashed):
            reading.result(timeout=20)


def test_process_that_forgets_to_close_its_pool_ends_all_the_same(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(FORGETFUL)
    done = subprocess.run([sys.executable, str(script)], timeout=60, env={"PYTHONPATH": str(ROOT)}, check=False)

    assert done.returncode == 0


def test_child_ignores_signals_to_the_group_of_its_parent() -> None:
    pool = make_pool()
    (pid,) = pool.warm_up()

    assert os.getpgid(pid) != os.getpgrp()
    os.kill(pid, signal.SIGINT)
    assert pool.read(b"image").model == str(pid)
    pool.close()


def test_children_end_with_a_parent_that_was_killed(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    command = [sys.executable, str(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={"PYTHONPATH": str(ROOT)}) as parent:
        assert parent.stdout is not None
        children = [psutil.Process(int(pid)) for pid in parent.stdout.readline().split()]
        parent.kill()

    assert len(children) == 2
    _, alive = psutil.wait_procs(children, timeout=10)
    assert not alive
