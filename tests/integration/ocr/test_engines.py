"""OcrEngines: the GPU's children and the CPU's, with a GPU that is pretended and comes and goes."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.clock import SystemClock
from pipeline.errors import BadImage, ConfigurationError, EngineCrashed
from pipeline.ocr.child import ReaderFactory
from pipeline.ocr.engines import NamedPool, OcrEngines
from tests.integration.ocr.conftest import make_pool
from tests.support.ocr_readers import PretendedGpu, refusing
from tests.support.processes import engine_children, is_alive, wait_until


@pytest.fixture
def device(tmp_path: Path) -> Path:
    """A file that stands for the GPU."""
    (tmp_path / "gpu").touch()
    return tmp_path / "gpu"


def engines_with(gpu: ReaderFactory, first_retry_ms: int = 60_000) -> OcrEngines:
    """Engines of one slot each; the CPU's obeys."""
    cpu, on_gpu = NamedPool("rapid", make_pool(), "of rapid"), NamedPool("paddle", make_pool(factory=gpu), "of paddle")
    return OcrEngines(cpu, on_gpu, SystemClock(), first_retry_ms=first_retry_ms)


@pytest.fixture
def engines(device: Path) -> Iterator[OcrEngines]:
    engines = engines_with(PretendedGpu(device), first_retry_ms=200)
    yield engines
    engines.close()


@pytest.mark.feature("O1")
def test_images_are_read_on_the_gpu_while_it_works_and_the_cpu_has_no_child(engines: OcrEngines) -> None:
    before = len(engine_children())
    engines.warm_up()

    assert (engines.read(b"image").engine, engines.name, engines.is_on_gpu) == ("gpu", "paddle", True)
    assert len(engine_children()) == before + 1


@pytest.mark.feature("O5")
@pytest.mark.feature("M2")
def test_a_failing_gpu_costs_no_call_and_is_won_back(engines: OcrEngines, device: Path) -> None:
    told: list[tuple[str, bool]] = []
    engines.watch(lambda: told.append((engines.name, engines.is_on_gpu)))
    engines.warm_up()
    gpu_child = int(engines.read(b"image").model)

    device.unlink()
    on_cpu = engines.read(b"image")

    assert (on_cpu.engine, engines.name, engines.recipe) == ("obedient", "rapid", "of rapid")
    assert not is_alive(gpu_child)
    device.touch()
    wait_until(lambda: told == [("rapid", False), ("paddle", True)])
    assert engines.read(b"image").engine == "gpu"
    # The CPU's child has gone, and the GPU's is a new one.
    wait_until(lambda: not is_alive(int(on_cpu.model)))
    assert int(engines.read(b"image").model) != gpu_child


@pytest.mark.feature("O5")
def test_memory_that_ran_out_on_the_gpu_for_one_image_is_no_error_of_it(device: Path) -> None:
    engines = engines_with(PretendedGpu(device))
    engines.warm_up()

    with pytest.raises(BadImage):
        engines.read(b"bad image")
    assert engines.is_on_gpu
    with pytest.raises(EngineCrashed):
        engines.read(b"crash")
    assert engines.is_on_gpu  # a crash is counted as the image's, and the next child tells whether the GPU works
    device.unlink()
    assert [engines.read(b"image").engine for _ in range(3)] == ["obedient"] * 3
    engines.close()


@pytest.mark.feature("O5")
def test_a_gpu_that_is_gone_at_the_start_leaves_a_worker_that_reads_on_the_cpu(
    engines: OcrEngines, device: Path
) -> None:
    device.unlink()

    engines.warm_up()

    assert (engines.read(b"image").engine, engines.is_on_gpu) == ("obedient", False)
    device.touch()
    wait_until(lambda: engines.is_on_gpu)


def test_a_gpu_that_went_together_with_its_child_is_lost_in_the_same_call(engines: OcrEngines, device: Path) -> None:
    engines.warm_up()
    child = int(engines.read(b"image").model)
    device.unlink()
    os.kill(child, signal.SIGKILL)

    assert engines.read(b"image").engine == "obedient"


def test_a_worker_that_may_not_use_the_gpu_never_touches_it(engines: OcrEngines) -> None:
    before = len(engine_children())
    engines.warm_up(may_use_gpu=False)

    assert (engines.read(b"image").engine, engines.name) == ("obedient", "rapid")
    assert len(engine_children()) == before + 1


def test_idle_children_are_renewed_of_the_engine_that_reads(engines: OcrEngines) -> None:
    engines.warm_up()
    before = engines.read(b"image").model

    assert engines.renew_idle() == 1

    after = engines.read(b"image")
    assert (after.engine, after.model != before) == ("gpu", True)


def test_an_engine_that_cannot_be_built_is_not_taken_for_a_lost_gpu() -> None:
    engines = engines_with(refusing)

    with pytest.raises(ConfigurationError, match="no model"):
        engines.warm_up()
    engines.close()
