"""The numbers the queue works by, taken from the settings once."""

from dataclasses import dataclass
from typing import Literal, Self

from pipeline.settings import Settings

#: Share of the promise that a lease lasts; the rest is for one round of the scheduler, and for a slot to come free that
#: is busy with another task: with 28 s of 30, tasks of a killed worker ran again after up to 36.9 s where the only slot
#: was reading images on a busy machine.
_LEASE_SHARE = 0.8


@dataclass(frozen=True, slots=True)
class Rules:
    """Limits, times and the policy of one queue.

    Times in ms unless the name says otherwise; `late_ms` 0 accepts a task whatever its wait will be.
    """

    prefix: str = "sensitive:"
    policy: Literal["fair", "aging"] = "fair"
    max_total: int = 5_000
    max_per_mac: int = 200
    overload_scope: Literal["device", "all"] = "device"
    overload_policy: Literal["reject", "drop_oldest"] = "reject"
    retry_after_s: int = 30
    ttl_ms: int = 3_600_000
    late_ms: int = 0
    dedupe_ms: int = 3_600_000
    lease_ms: int = 30_000
    max_run_ms: int = 900_000
    defer_base_ms: int = 30_000
    defer_max_ms: int = 600_000
    max_defers: int = 5
    max_losses: int = 3
    batch_max: int = 10
    starved_ms: int = 30_000
    aging_max_s: int = 600
    aging_weight: float = 1.0
    dead_letter_max: int = 10_000

    @classmethod
    def of(cls, settings: Settings) -> Self:
        return cls(
            prefix=settings.key_prefix,
            policy=settings.schedule_policy,
            max_total=settings.max_total_pending,
            max_per_mac=settings.max_per_mac_pending,
            overload_scope=settings.overload_scope,
            overload_policy=settings.overload_policy,
            retry_after_s=settings.retry_after,
            ttl_ms=settings.mac_task_ttl_seconds * 1000,
            late_ms=settings.mac_task_ttl_seconds * 1000 if settings.refuse_beyond_ttl else 0,
            dedupe_ms=settings.dedupe_window_seconds * 1000,
            # The rest of the promise is for noticing the end, and for claiming the task.
            lease_ms=lease_ms_of(settings.lease_seconds),
            max_run_ms=settings.max_run_seconds * 1000,
            defer_base_ms=settings.mac_defer_backoff_base * 1000,
            defer_max_ms=settings.mac_defer_backoff_max * 1000,
            max_defers=settings.max_defer_count,
            max_losses=settings.max_deliveries,
            batch_max=settings.mac_scheduler_batch_size,
            starved_ms=settings.mac_starvation_hint_seconds * 1000,
            aging_max_s=settings.mac_aging_max_wait_seconds,
            aging_weight=settings.mac_aging_weight,
            dead_letter_max=settings.dead_letter_max,
        )


def lease_ms_of(promise_s: float) -> int:
    """How long a lease holds without renewal, that a killed worker's task runs again within `promise_s` seconds."""
    return int(promise_s * 1000 * _LEASE_SHARE)
