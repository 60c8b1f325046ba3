"""GpuProbe: NVML, GPUtil, neither; and drivers that fail or hang."""

import logging
import threading
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from pipeline.workers.gpu_probe import GpuFigures, GpuProbe
from tests.support.processes import wait_until


class FakeNvml(ModuleType):
    """The functions and errors of pynvml 13 that are used, on a host of `count` devices."""

    class NVMLError(Exception):
        pass

    class NVMLError_LibraryNotFound(NVMLError):  # noqa: N801 (pynvml's names)
        pass

    class NVMLError_NotSupported(NVMLError):  # noqa: N801
        pass

    class NVMLError_GpuIsLost(NVMLError):  # noqa: N801
        pass

    class NVMLError_Uninitialized(NVMLError):  # noqa: N801
        pass

    def __init__(self, count: int = 1) -> None:
        super().__init__("pynvml")
        self.count, self.begun = count, 0
        self.util: Callable[[], Any] = lambda: SimpleNamespace(gpu=40, memory=10)
        self.memory: Callable[[], Any] = lambda: SimpleNamespace(total=1000, used=250, free=750)
        self.has_driver = True

    def nvmlInit(self) -> None:  # noqa: N802
        if not self.has_driver:
            raise self.NVMLError_LibraryNotFound("NVML Shared Library Not Found")
        self.begun += 1

    def nvmlShutdown(self) -> None:  # noqa: N802
        self.begun -= 1

    def nvmlDeviceGetCount(self) -> int:  # noqa: N802
        if not self.begun:
            raise self.NVMLError_Uninitialized
        return self.count

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:  # noqa: N802
        assert 0 <= index < self.count
        return index

    def nvmlDeviceGetMemoryInfo(self, handle: int) -> Any:  # noqa: N802
        return self.memory()

    def nvmlDeviceGetUtilizationRates(self, handle: int) -> Any:  # noqa: N802
        return self.util()


def raising(error: type[Exception]) -> Callable[[], Any]:
    def fail() -> Any:
        raise error("said the driver")

    return fail


def gputil(*gpus: Any) -> ModuleType:
    module = ModuleType("GPUtil")
    module.getGPUs = lambda: list(gpus)  # type: ignore[attr-defined]
    return module


def probe_of(index: int = 0, limit_s: float = 30, **modules: ModuleType) -> GpuProbe:
    def load(name: str) -> ModuleType:
        if name not in modules:
            raise ModuleNotFoundError(f"No module named {name!r}")
        return modules[name]

    return GpuProbe(index, load=load, limit_s=limit_s)


@pytest.mark.feature("S4")
def test_nvml_gives_utilisation_and_memory() -> None:
    nvml = FakeNvml(count=2)
    probe = probe_of(1, pynvml=nvml)

    assert [probe.read(), probe.read()] == [GpuFigures(40.0, 25.0)] * 2
    assert nvml.begun == 1


def test_what_a_device_does_not_say_is_not_known() -> None:
    nvml = FakeNvml()
    nvml.util = raising(nvml.NVMLError_NotSupported)

    assert probe_of(pynvml=nvml).read() == GpuFigures(None, 25.0)


@pytest.mark.parametrize("modules", [{}, {"pynvml": FakeNvml(count=0)}, {"GPUtil": gputil()}], ids=str)
def test_without_library_or_device_there_is_no_gpu(modules: dict[str, ModuleType]) -> None:
    assert probe_of(**modules).read() is None


def test_without_a_library_no_thread_is_begun() -> None:
    before = threading.active_count()
    probe_of().read()

    assert threading.active_count() == before


@pytest.mark.feature("S4")
def test_gputil_answers_where_nvml_cannot() -> None:
    nvml = FakeNvml()
    nvml.has_driver = False
    gpu = SimpleNamespace(id=0, load=float("nan"), memoryUtil=0.5)

    assert probe_of(GPUtil=gputil(gpu)).read() == GpuFigures(None, 50.0)
    assert probe_of(pynvml=nvml, GPUtil=gputil(gpu)).read() == GpuFigures(None, 50.0)


def test_a_gpu_that_is_lost_is_said_once_and_asked_for_again_later(caplog: pytest.LogCaptureFixture) -> None:
    nvml = FakeNvml()
    probe = probe_of(pynvml=nvml)
    nvml.memory = raising(nvml.NVMLError_GpuIsLost)
    with caplog.at_level(logging.WARNING):
        lost = [probe.read() for _ in range(130)]
    nvml.memory = lambda: SimpleNamespace(total=4, used=1, free=3)
    back = [probe.read() for _ in range(61)]

    assert lost == [None] * 130
    assert [record.message for record in caplog.records] == ["no GPU by Nvml: NVMLError_GpuIsLost: said the driver"]
    assert back[-1] == GpuFigures(40.0, 25.0)


def test_a_driver_that_hangs_costs_one_thread_and_no_more(caplog: pytest.LogCaptureFixture) -> None:
    go_on, nvml = threading.Event(), FakeNvml()
    nvml.util = lambda: go_on.wait(60) and SimpleNamespace(gpu=1, memory=1)
    probe = probe_of(limit_s=0.01, pynvml=nvml)
    threads = threading.active_count()
    with caplog.at_level(logging.WARNING):
        assert [probe.read() for _ in range(5)] == [None] * 5
    assert threading.active_count() == threads + 1
    assert [record.message for record in caplog.records] == ["the GPU does not answer within 0.01 s"]

    go_on.set()

    wait_until(lambda: probe.read() == GpuFigures(1.0, 25.0))
