"""MemoryProbe: what runs out first."""

from types import SimpleNamespace
from typing import Any

import pytest

from pipeline.workers.cgroup import MemoryLimit
from pipeline.workers.memory import MemoryProbe

HOST: Any = SimpleNamespace(virtual_memory=lambda: SimpleNamespace(total=1000, available=400))


def probe_with(*limits: MemoryLimit) -> MemoryProbe:
    cgroup: Any = SimpleNamespace(memory_limits=lambda: list(limits))
    return MemoryProbe(cgroup, HOST)


@pytest.mark.feature("S4")
@pytest.mark.parametrize(
    ("limits", "total", "available", "percent"),
    [
        ([], 1000, 400, 60.0),
        ([MemoryLimit(200, 150)], 200, 50, 75.0),
        ([MemoryLimit(900, 100)], 1000, 400, 60.0),
        ([MemoryLimit(200, 150), MemoryLimit(500, 490)], 500, 10, 98.0),
        ([MemoryLimit(200, 230)], 200, 0, 100.0),
    ],
    ids=["host alone", "limit is tighter", "host is tighter", "the group above is tighter", "over its limit"],
)
def test_memory_is_that_of_whatever_has_the_least_left(
    limits: list[MemoryLimit], total: int, available: int, percent: float
) -> None:
    figures = probe_with(*limits).read()

    assert (figures.total_bytes, figures.available_bytes) == (total, available)
    assert figures.percent == pytest.approx(percent)
