"""A small reference model of the fair queue: what must be true whatever the order of service."""

from dataclasses import dataclass, field


@dataclass
class Known:
    """A task as the model knows it; `place` orders it within its device's line."""

    task_id: str
    mac: str
    place: tuple[int, int]
    state: str = "queued"
    token: int = 0
    expires_ms: int = 0


@dataclass
class Gates:
    """What keeps a device out."""

    cap: int | None = None
    is_paused: bool = False
    backoff_until_ms: int = 0


@dataclass
class Reference:
    """Tasks and devices of one lane."""

    tasks: dict[str, Known] = field(default_factory=dict)
    gates: dict[str, Gates] = field(default_factory=dict)
    tokens: list[int] = field(default_factory=list)

    def of(self, mac: str, *states: str) -> list[Known]:
        """A device's tasks in any of the states, in the order of its line."""
        found = [task for task in self.tasks.values() if task.mac == mac and task.state in states]
        return sorted(found, key=lambda task: task.place)

    def open_tasks(self) -> list[Known]:
        return [task for task in self.tasks.values() if task.state in ("queued", "delayed", "leased", "running")]

    def held(self) -> list[Known]:
        return [task for task in self.tasks.values() if task.state in ("leased", "running")]

    def gate(self, mac: str) -> Gates:
        return self.gates.setdefault(mac, Gates())

    def is_open(self, mac: str, now_ms: int) -> bool:
        """No gate of the device is shut."""
        gate = self.gate(mac)
        in_flight = len(self.of(mac, "leased", "running"))
        return not gate.is_paused and (gate.cap is None or in_flight < gate.cap) and gate.backoff_until_ms <= now_ms

    def servable(self, now_ms: int) -> set[str]:
        """The devices that have something in line and no shut gate."""
        waiting = {task.mac for task in self.tasks.values() if task.state == "queued" and task.expires_ms > now_ms}
        return {mac for mac in waiting if self.is_open(mac, now_ms)}
