"""WorkerRegistry: what an entry says, and who is beside us."""

import os
import socket
from pathlib import Path
from typing import Any

import pytest

from pipeline.workers.cpu import CpuFigures
from pipeline.workers.gpu_probe import GpuFigures
from pipeline.workers.memory import MemoryFigures
from pipeline.workers.own import machine_name
from pipeline.workers.registry import Condition, Registration, WorkerRegistry, words_of
from pipeline.workers.sampler import HostFigures
from tests.support.clock import FakeClock

REGISTRATION = Registration(lanes=("ocr",), threads=4, slots={"ocr": 1})
FIGURES = HostFigures(CpuFigures(0.5, 90.0, 12.34), MemoryFigures(1000, 250), GpuFigures(3.0, None))


class Written:
    """Stands for the roster."""

    def __init__(self) -> None:
        self.entry: dict[str, str] = {}

    def enter(self, worker_id: str, entry: dict[str, str], *, ttl_ms: int) -> None:
        self.entry = entry


def entry_of(condition: Condition) -> dict[str, str]:
    roster: Any = Written()
    WorkerRegistry(roster, FakeClock(), ttl_ms=60_000).beat(REGISTRATION, condition)
    return roster.entry


@pytest.mark.feature("S2")
def test_an_entry_has_every_field_of_the_design() -> None:
    entry = entry_of(Condition(active_tasks=1, figures=FIGURES, engine="paddle", is_on_gpu=True))

    assert (entry.pop("hostname"), entry.pop("pid")) == (socket.gethostname(), str(os.getpid()))
    assert entry.pop("version")
    assert entry.pop("machine") == machine_name()
    assert entry == {
        "queues": "ocr",
        "state": "working",
        "holds": "",
        "declared_concurrency": "4",
        "effective_concurrency": "1",
        "lane_slots": "ocr=1",
        "active_tasks": "1",
        "idle_slots": "0",
        "engine": "paddle",
        "last_heartbeat": str(FakeClock().now_ms()),
        "cpu_count": "0.50",
        "cpu_percent": "90.0",
        "cpu_others_percent": "12.3",
        "memory_total": "1000",
        "memory_available": "250",
        "memory_percent": "75.0",
        "gpu_available": "1",
        "gpu_util": "3.0",
        "gpu_memory_util": "",
        "word_faults": "",
    }


@pytest.mark.feature("S3")
def test_idle_slots_are_never_negative() -> None:
    assert entry_of(Condition(active_tasks=3))["idle_slots"] == "0"
    assert entry_of(Condition(active_tasks=0))["idle_slots"] == "1"


def test_a_held_worker_says_why() -> None:
    entry = entry_of(Condition(0, ("CPU over its watermark", "needs a GPU"), is_held=True))

    assert (entry["state"], entry["holds"]) == ("held", "CPU over its watermark; needs a GPU")


def test_what_could_not_be_measured_is_empty() -> None:
    assert set(words_of(HostFigures()).values()) == {""}


def test_a_machine_is_named_by_its_boot_and_its_process_table(tmp_path: Path) -> None:
    assert machine_name(tmp_path) == ""
    (tmp_path / "proc/sys/kernel/random").mkdir(parents=True)
    (tmp_path / "proc/sys/kernel/random/boot_id").write_text("b\n")
    (tmp_path / "proc/self/ns").mkdir(parents=True)
    (tmp_path / "proc/self/ns/pid").write_text("")

    assert machine_name(tmp_path) == f"b:{(tmp_path / 'proc/self/ns/pid').stat().st_ino}"
