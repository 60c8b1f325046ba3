"""An entry of the worker registry as it is shown: numbers as numbers, and how long ago it was heard of."""

import math
from dataclasses import dataclass
from typing import Self

from pipeline.queue.reading import whole_or_none


@dataclass(frozen=True, slots=True)
class WorkerView:
    """One live worker process; None is what its entry does not say, or says in no way we know.

    Args:
        queues: its lanes, with commas between.
        state: working, or held: it claims nothing now, for the reasons in `holds`.
        heartbeat_age_ms: milliseconds since it was last heard of.
        declared_concurrency: threads.
        effective_concurrency: tasks that can really run at once.
        cpu_count: processors it may use; a quota makes it a fraction.
        cpu_percent: how busy they were in the last second.
        cpu_others_percent: the same without fairlane's own processes.
        gpu_util: percent.
        gpu_memory_util: percent.
        word_faults: lists of words that it cannot load, and why.
    """

    hostname: str
    pid: int | None
    queues: str
    state: str
    holds: list[str]
    last_heartbeat: int | None
    heartbeat_age_ms: int | None
    declared_concurrency: int | None
    effective_concurrency: int | None
    active_tasks: int | None
    idle_slots: int | None
    engine: str
    gpu_available: bool
    gpu_util: float | None
    gpu_memory_util: float | None
    cpu_count: float | None
    cpu_percent: float | None
    cpu_others_percent: float | None
    memory_total: int | None
    memory_available: int | None
    memory_percent: float | None
    version: str
    word_faults: list[str]

    @classmethod
    def of(cls, entry: dict[str, str], now_ms: int) -> Self:
        """Read an entry; nothing in it is believed to be there or to be well formed: any version may have written it.

        Args:
            now_ms: the caller's clock, epoch ms.
        """
        heard_ms = whole_or_none(entry.get("last_heartbeat"))
        return cls(
            hostname=entry.get("hostname", ""),
            pid=whole_or_none(entry.get("pid")),
            queues=entry.get("queues", ""),
            state=entry.get("state", "working"),
            holds=[reason.strip() for reason in entry.get("holds", "").split(";") if reason.strip()],
            last_heartbeat=heard_ms,
            heartbeat_age_ms=None if heard_ms is None else max(0, now_ms - heard_ms),
            declared_concurrency=whole_or_none(entry.get("declared_concurrency")),
            effective_concurrency=whole_or_none(entry.get("effective_concurrency")),
            active_tasks=whole_or_none(entry.get("active_tasks")),
            idle_slots=whole_or_none(entry.get("idle_slots")),
            engine=entry.get("engine", ""),
            gpu_available=entry.get("gpu_available") == "1",
            gpu_util=_decimal(entry, "gpu_util"),
            gpu_memory_util=_decimal(entry, "gpu_memory_util"),
            cpu_count=_decimal(entry, "cpu_count"),
            cpu_percent=_decimal(entry, "cpu_percent"),
            cpu_others_percent=_decimal(entry, "cpu_others_percent"),
            memory_total=whole_or_none(entry.get("memory_total")),
            memory_available=whole_or_none(entry.get("memory_available")),
            memory_percent=_decimal(entry, "memory_percent"),
            version=entry.get("version", ""),
            word_faults=entry.get("word_faults", "").splitlines(),
        )


def _decimal(entry: dict[str, str], name: str) -> float | None:
    try:
        value = float(entry.get(name, ""))
    except ValueError:
        return None
    return value if math.isfinite(value) else None
