"""Lists are swapped in four worker processes at work: no text is screened by half a list, and none is lost."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

import models.base
from models.rows import DetectionRecord
from models.word_lists import EVERYBODY
from pipeline.clock import SystemClock
from pipeline.lists.reading import ListFile, list_of
from pipeline.settings import Settings, child_environment
from pipeline.submission import TextSubmission
from tests.acceptance.conftest import settings_for
from tests.support.databases import close_all
from tests.support.parts import ROOT, Parts
from tests.support.processes import wait_until
from tests.support.word_lists import Lists

WORKERS = (*(sys.executable, "-m", "dramatiq", "pipeline.actors", "--queues", "text"), *("--processes", "4"))
VERSIONS = 3


@contextmanager
def working(settings: Settings) -> Iterator[None]:
    """Four worker processes."""
    environment = {**child_environment(settings, ()), "PYTHONPATH": str(ROOT)}
    with (settings.data_dir / "worker.log").open("wb") as log:
        process = subprocess.Popen(WORKERS, env=environment, stdout=log, stderr=log)
    try:
        yield
    finally:
        process.terminate()
        process.wait(30)


def version_of(number: int) -> ListFile:
    """A list whose every word says of which version it is."""
    words = [f"填充词{number}号{index}" for index in range(500)]
    rated = [{"word": word, "category": f"v{number}"} for word in ("网上赌场", *words, "代开发票")]
    return list_of({"deny": rated})


class Load:
    """Texts that are submitted without end, and what was found in them."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self.open: list[str] = []
        self.done: list[DetectionRecord] = []

    def go_on(self) -> None:
        """Submit some texts; take what has ended."""
        for index in range(20 - len(self.open)):
            text = TextSubmission(f"0000000000{index:02d}", f"网上赌场 {len(self.done)} 代开发票")
            self.open.append(self._parts.intake.submit_text(text).task_id)
        for task_id in list(self.open):
            view = self._parts.ledger.view(task_id)
            if view and view.detection:
                self.open.remove(task_id)
                self.done.append(view.detection)

    def has_seen(self, version: int) -> bool:
        self.go_on()
        return any(version in versions_used(detection) for detection in self.done)


@pytest.mark.feature("D6")
def test_no_text_is_screened_by_half_a_list(
    empty_database_url: str, valkey: object, valkey_url: str, tmp_path: Path
) -> None:
    settings = settings_for(
        tmp_path, redis_url=valkey_url, database_url=empty_database_url, words_file=None, words_refresh_seconds=0.1
    )
    parts = Parts(settings)
    lists = Lists(models.base.bound(), parts.store, settings.data_dir / "words", SystemClock())
    load = Load(parts)

    with working(settings):
        for number in range(1, VERSIONS + 1):
            version = lists.library.bring(EVERYBODY, "house", version_of(number), "test")
            lists.library.publish(version.list_id, version.version)
            wait_until(partial(load.has_seen, number), limit_s=60)
        wait_until(lambda: len(parts.roster.workers()) == 4)

    assert {used for detection in load.done for used in versions_used(detection)} == set(range(1, VERSIONS + 1))
    for detection in load.done:
        # The workers were there before the first version was.
        expected = [f"v{used}" for used in versions_used(detection) for _ in range(2)]
        assert [hit["category"] for hit in detection.hits] == expected
    close_all(models.base.bound())


def versions_used(detection: DetectionRecord) -> list[int]:
    return [version["version"] for version in detection.versions]
