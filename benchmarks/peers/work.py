"""The work of every peer: screen a text as fairlane does, and store in one row what fairlane stores of it in three."""

import threading
from dataclasses import asdict, dataclass

from peewee import BigIntegerField, CharField, DoubleField, IntegerField, JSONField, TextField

import models.base
from models.rows import DetectionRecord
from pipeline.clock import SystemClock
from pipeline.detector.detector import Detector
from pipeline.lists.following import source_of_file
from pipeline.settings import Settings

#: How long each task of a flood takes, milliseconds.
FLOOD_WAIT_MS = 50


class PeerResult(models.base.BaseModel):
    """A text that was screened: what `detection` holds of it, and of `task` whose it was and when it ran."""

    task_id = CharField(64, primary_key=True)
    mac = CharField(12)
    state = CharField(16)
    started_ms = BigIntegerField()
    ended_ms = BigIntegerField()
    run_ms = BigIntegerField()
    text = TextField()
    suggestion = CharField(16)
    hit_count = IntegerField()
    hits = JSONField()
    contacts = JSONField(null=True)
    label = CharField(64)
    level = IntegerField()
    score = DoubleField()
    masked = TextField(null=True)
    elapsed_ms = BigIntegerField()
    versions = JSONField(null=True)


@dataclass(frozen=True, slots=True)
class Work:
    """What a worker process of a peer does; safe to share between threads, and it may be made before a fork."""

    detector: Detector

    @classmethod
    def of(cls, settings: Settings) -> "Work":
        """Bind the database to this process; connect to it at the first task."""
        models.base.bind(models.base.connect(settings.effective_database_url))
        return cls(Detector(*source_of_file(settings.words_file)))

    def do(self, task_id: str, mac: str, text: str, wait_ms: int) -> None:
        """Screen and store, then wait; a task that comes twice is stored once.

        Args:
            wait_ms: how long it keeps its worker besides, in place of work whose length is known.
        """
        clock = SystemClock()
        started_ms = clock.now_ms()
        found = screened(self.detector, text)
        ended_ms = clock.now_ms()
        row = {
            **asdict(found),
            "contacts": found.contacts or None,
            "versions": found.versions or None,
            "hit_count": len(found.hits),
            "task_id": task_id,
            "mac": mac,
            "state": "done",
            "started_ms": started_ms,
            "ended_ms": ended_ms,
            "run_ms": ended_ms - started_ms,
        }
        with models.base.write():
            PeerResult.insert(row).on_conflict_ignore().execute()
        wait(wait_ms)


def screened(detector: Detector, text: str) -> DetectionRecord:
    """Screen, and return what is to be stored of it.

    It is what `pipeline.actors.screening` does, which cannot be imported without fairlane's own broker.
    """
    clock = SystemClock()
    began_ms = clock.monotonic_ms()
    screening = detector.screen(text)
    return DetectionRecord(
        text=text,
        suggestion=screening.suggestion,
        hits=[asdict(hit) for hit in screening.hits],
        contacts=[asdict(contact) for contact in screening.contacts],
        label=screening.label,
        level=screening.level,
        score=screening.score,
        masked=screening.masked,
        elapsed_ms=clock.monotonic_ms() - began_ms,
        versions=[asdict(version) for version in screening.versions],
    )


def wait(wait_ms: int) -> None:
    """Let so much time pass at no cost."""
    if wait_ms:
        threading.Event().wait(wait_ms / 1000)
