"""What devices detected themselves and report; kept as they say."""

from collections.abc import Sequence
from dataclasses import dataclass

from peewee import BigIntegerField, CharField, CompositeKey, DoubleField, JSONField, TextField

from models.base import BaseModel, Database, write
from models.devices import note_device
from models.text import storable, storable_json
from pipeline.clock import Clock


class DetectorReport(BaseModel):
    """One report; a device that sends it again finds it here."""

    site = CharField(64)
    mac = CharField(12)
    detection_id = CharField(64)
    type = TextField(default="")
    label = TextField(default="")
    text = TextField(default="")
    score = DoubleField(null=True)
    words = JSONField()
    occurred_ms = BigIntegerField(null=True)
    created_ms = BigIntegerField(index=True)

    class Meta:
        primary_key = CompositeKey("site", "mac", "detection_id")


@dataclass(frozen=True, slots=True)
class NewReport:
    """What a device says it found.

    Args:
        detection_id: the device's own name for it, 1..64 characters; unique for the device.
        score: 0..1.
        occurred_ms: when, by the device's clock, epoch ms.
    """

    site: str
    mac: str
    detection_id: str
    type: str = ""
    label: str = ""
    text: str = ""
    score: float | None = None
    words: Sequence[str] = ()
    occurred_ms: int | None = None


class DetectorReports:
    """The reports of all devices."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def store(self, report: NewReport) -> bool:
        """Keep a report for good; False when this device's `detection_id` is known, and then nothing changes.

        Raises: DatabaseUnavailable.
        """
        now_ms = self._clock.now_ms()
        with write(self._database):
            note_device(report.site, report.mac, now_ms)
            inserted = (
                DetectorReport.insert(
                    site=report.site,
                    mac=report.mac,
                    detection_id=report.detection_id,
                    type=storable(report.type),
                    label=storable(report.label),
                    text=storable(report.text),
                    score=report.score,
                    words=storable_json(list(report.words)),
                    occurred_ms=report.occurred_ms,
                    created_ms=now_ms,
                )
                .on_conflict_ignore()
                .returning(DetectorReport.detection_id)
                .execute()
            )
            return bool(list(inserted))
