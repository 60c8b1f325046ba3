"""A set-up in which nothing is wrong, on real servers, to be broken in one way at a time."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import redis

from pipeline import __version__
from pipeline.cli import run
from pipeline.clock import SystemClock
from pipeline.queue import open_inspector, open_roster
from pipeline.scheduler.watermark import publish_watermark
from pipeline.settings import Settings, load_settings

#: What a worker's entry says when all is well.
WELL = {"hostname": "h", "pid": "7", "queues": "ocr,text,notify", "engine": "rapid", "version": __version__}


@dataclass
class Sound:
    """The set-up, and what `fairlane doctor` finds in it.

    Args:
        client: of its Valkey.
    """

    client: redis.Redis
    folder: Path
    database_url: str
    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]
    report: dict[str, Any] = field(default_factory=dict)

    @property
    def settings(self) -> Settings:
        return load_settings()

    def set(self, **values: object) -> None:
        """Set settings, by their names in small letters, in the environment."""
        for name, value in values.items():
            self.monkeypatch.setenv(f"FAIRLANE_{name.upper()}", str(value))

    def register(self, **changes: str) -> None:
        """Register a worker that was heard of just now."""
        entry = {**WELL, "last_heartbeat": str(SystemClock().now_ms()), **changes}
        open_roster(self.settings).enter(f"{entry['hostname']}:{entry['pid']}", entry, ttl_ms=60_000)

    def publish(self) -> None:
        """Say what a scheduler says."""
        publish_watermark(open_inspector(self.settings), open_roster(self.settings), interval_ms=60_000)

    def examine(self) -> int:
        """Run the doctor; return its exit code."""
        self.capsys.readouterr()
        code = run(["doctor", "-o", "json"])
        self.report = json.loads(self.capsys.readouterr().out)
        return code

    def faults(self) -> dict[str, tuple[str, str]]:
        """What the doctor found wrong, and the cure, by the name of the check; it must say so by its exit code too."""
        code = self.examine()
        found = {one["name"]: (one["found"], one["cure"]) for one in self.report["checks"] if not one["is_fine"]}
        assert code == (1 if found else 0)
        return found


def only(found: dict[str, tuple[str, str]], name: str) -> tuple[str, str]:
    """What was found, and the cure, when nothing else is wrong."""
    assert set(found) == {name}
    return found[name]
