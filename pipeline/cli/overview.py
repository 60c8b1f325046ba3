"""What `fairlane status` and `fairlane watch` show: lanes, workers, and the devices that wait longest."""

import dataclasses
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from pipeline.cli.terminal import seconds, table_of
from pipeline.cli.wiring import inspector_of, pages_of, roster_of
from pipeline.queue import LANES, DeviceState, Inspector, Lane
from pipeline.settings import Settings

#: What the last watermark adds to a lane.
_TOLD = (
    "starved_devices",
    "expected_wait_ms",
    "workers",
    "desired_workers",
    "is_downgraded",
    "held_hosts",
)
_LANE = ("lane", "waiting", "delayed", "leased", "devices")
_WORKER = ("hostname", "pid", "queues", "state", "active_tasks", "effective_concurrency", "engine")
_SHARES = ("cpu_percent", "memory_percent")


class Sight:
    """Looks at the whole, again and again over the same connections.

    Every method raises `QueueUnavailable` when the server does not answer in time.
    """

    def __init__(self, settings: Settings) -> None:
        self._inspector: Inspector = inspector_of(settings)
        self._roster = roster_of(settings)
        self._pages = pages_of(settings)

    def now_ms(self) -> int:
        """The time by which the queue works, epoch ms."""
        return self._inspector.now_ms()

    def lanes(self) -> list[dict[str, Any]]:
        """Each lane as it is now, and what the scheduler said of it last; None where no scheduler has, of late."""
        told = (self._inspector.watermark() or {}).get("lanes", {})
        return [_joined(dataclasses.asdict(lane), told) for lane in self._inspector.lanes()]

    def workers(self) -> list[dict[str, Any]]:
        """The entries of all live workers."""
        return list(self._roster.workers())

    def devices(self, limit: int) -> list[dict[str, Any]]:
        """The lines that have waited longest, the longest first; a device has one in each lane."""
        places = self._pages.listed(LANES, limit=limit)
        states = {state.mac: state for state in self._pages.look(list(dict.fromkeys(place.mac for place in places)))}
        lines = [_line_of(states[place.mac], place.lane) for place in places]
        # An index may name an older time than the line's head has.
        waiting = [line for line in lines if line["oldest_wait_ms"] is not None]
        return sorted(waiting, key=lambda line: line["oldest_wait_ms"], reverse=True)


def _line_of(state: DeviceState, lane: Lane) -> dict[str, Any]:
    line = state.line(lane)
    return {
        "mac": state.mac,
        "site": state.site,
        "lane": lane,
        "waiting": line.waiting,
        "in_flight": line.in_flight,
        "oldest_wait_ms": line.wait_ms,
        "is_paused": line.gate == "paused",
    }


def lanes_table(lanes: list[dict[str, Any]]) -> RenderableType:
    rows = [[*(lane[name] for name in _LANE), seconds(lane["oldest_wait_ms"]), *_outlook(lane)] for lane in lanes]
    return table_of([*_LANE, "oldest wait", "starved", "drains in", "workers", "wanted", "note"], rows)


def workers_table(workers: list[dict[str, Any]], now_ms: int) -> RenderableType:
    """Args:
    now_ms: the caller's clock, epoch ms.
    """
    if not workers:
        return Text("no worker is alive; `fairlane up` starts them")
    return table_of(
        ["host", "process", "lanes", "state", "running", "can run", "engine", "CPU %", "memory %", "last heard"],
        [_worker_row(worker, now_ms) for worker in workers],
    )


def devices_table(devices: list[dict[str, Any]]) -> RenderableType:
    if not devices:
        return Text("no device waits")
    rows = [
        [
            *(line[name] for name in ("mac", "site", "lane", "waiting", "in_flight")),
            seconds(line["oldest_wait_ms"]),
            "paused" if line["is_paused"] else "",
        ]
        for line in devices
    ]
    return table_of(["device", "site", "lane", "waiting", "running", "has waited", ""], rows)


def is_silent(lanes: list[dict[str, Any]]) -> bool:
    """Say whether no scheduler has published a watermark of late."""
    return all(lane["desired_workers"] is None for lane in lanes)


def _joined(lane: dict[str, Any], told: dict[str, Any]) -> dict[str, Any]:
    last = told.get(lane["lane"], {})
    return {**lane, **{name: last.get(name) for name in _TOLD}}


def _outlook(lane: dict[str, Any]) -> list[object]:
    counts = [lane[name] for name in ("starved_devices", "workers", "desired_workers")]
    starved, workers, wanted = ["" if count is None else count for count in counts]
    notes = ["served without a GPU"] if lane["is_downgraded"] else []
    if lane["held_hosts"]:
        notes.append("over a watermark: " + ", ".join(lane["held_hosts"]))
    return [starved, seconds(lane["expected_wait_ms"]), workers, wanted, "; ".join(notes)]


def _worker_row(worker: dict[str, Any], now_ms: int) -> list[object]:
    heard_ms = str(worker.get("last_heartbeat", ""))
    ago = seconds(max(0, now_ms - int(heard_ms))) + " ago" if heard_ms.isdecimal() else ""
    return [*(worker.get(name, "") for name in (*_WORKER, *_SHARES)), ago]
