"""Duty: publish a snapshot of the whole for dashboards and autoscalers."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.queue import Entry, Inspector, Lane, LaneStatus, LaneSurvey, Roster, has_slots_by_lane, slots_in
from pipeline.scheduler.scale import Load, Memory, ScaleRules, scale

#: A snapshot is believed for a third longer than the usual interval (the original's 20 s for 15 s).
_LIFE = 4 / 3


def publish_watermark(
    inspector: Inspector, roster: Roster, *, interval_ms: int, scaling: ScaleRules | None = None
) -> None:
    """Write one snapshot: what is pending, for how many devices, who works, and how many should.

    Of the shards that answer: one that does not keeps nobody from knowing of the others. What was measured before is
    read from the last snapshot, so several schedulers, or a new one, go on from there.
    """
    lanes, workers = inspector.lanes(is_partial=True), roster.workers()
    before: Mapping[str, Any] = inspector.watermark() or {}
    now_ms = inspector.now_ms()
    told = {
        status.lane: _told(status, survey, _Crew(roster, workers, status.lane), now_ms, before, scaling or ScaleRules())
        for status, survey in zip(lanes, inspector.survey(is_partial=True), strict=True)
    }
    snapshot = {
        "timestamp": now_ms,
        "total_pending": sum(lane.waiting + lane.delayed + lane.leased for lane in lanes),
        "mac_count": sum(lane.devices for lane in lanes),
        "active_workers": len(workers),
        "target_wait_ms": (scaling or ScaleRules()).target_wait_ms,
        "lanes": told,
    }
    roster.publish_watermark(snapshot, ttl_ms=int(interval_ms * _LIFE))


class _Crew:
    """Who works in one lane."""

    def __init__(self, roster: Roster, workers: Sequence[Entry], lane: Lane) -> None:
        self.capable = len(roster.needs.capable(workers, lane))
        self.is_downgraded = roster.is_downgraded(lane)
        self.able = roster.able(workers, lane)
        self.held = [worker for worker in self.able if worker.get("state") == "held"]
        self.slots = slots_in([worker for worker in self.able if worker not in self.held], lane)
        self.has_own_slots_only = all(has_slots_by_lane(worker) for worker in self.able)
        self.busy = sum(1 for worker in self.able if worker.get("active_tasks", "0") != "0")


def _told(
    status: LaneStatus,
    survey: LaneSurvey,
    crew: _Crew,
    now_ms: int,
    before: Mapping[str, Any],
    rules: ScaleRules,
) -> dict[str, Any]:
    last = before.get("lanes", {}).get(status.lane, {})
    idle = max(0, crew.slots - status.busy_slots)
    load = Load(
        now_ms=now_ms,
        waiting=status.waiting,
        delayed=status.delayed,
        leased=status.leased,
        busy_slots=status.busy_slots,
        worked_ms=survey.worked_ms,
        finished=survey.finished,
        guessed_cost_ms=survey.cost_ms,
        slots=crew.slots,
        workers=len(crew.able),
        busy_workers=crew.busy,
        is_slack=crew.has_own_slots_only and idle > 0 and last.get("slots", {}).get("idle", 0) > 0,
    )
    result = scale(load, _memory(last, before), rules)
    return {
        "waiting": status.waiting,
        "delayed": status.delayed,
        "leased": status.leased,
        "busy_slots": status.busy_slots,
        "devices": status.devices,
        "oldest_wait_ms": status.oldest_wait_ms,
        "starved_devices": survey.starved,
        "capable_workers": crew.capable,
        "workers": len(crew.able),
        "busy_workers": crew.busy,
        "held_hosts": sorted({worker.get("hostname", "") for worker in crew.held}),
        "is_downgraded": crew.is_downgraded,
        "slots": {"effective": crew.slots, "active": status.busy_slots, "idle": idle},
        "drain_per_s": survey.ends_per_s,
        "worked_ms": survey.worked_ms,
        "finished": survey.finished,
        **dataclasses.asdict(result),
    }


def _memory(last: Mapping[str, Any], before: Mapping[str, Any]) -> Memory | None:
    """What the last snapshot knew, None when there is none or another version wrote it."""
    names = [field.name for field in dataclasses.fields(Memory) if field.name != "timestamp"]
    if not all(name in last for name in names):
        return None
    return Memory(timestamp=before["timestamp"], **{name: last[name] for name in names})
