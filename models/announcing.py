"""What an end of a task announces, and to whom: rows written in the transaction that ends it, so once and surely."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Self

from models.effects import put_steps
from models.rows import DetectionRecord, Finished, StepRecord, TaskRow
from models.text import storable_json
from models.webhook_delivery import WebhookDelivery
from pipeline import __version__, tracing
from pipeline.settings import Settings

#: Hits told in one announcement; whoever wants more asks for the task.
HITS_MAX = 100
#: Of each hit: what was found and where in the text. Boxes are for those who look at the image.
_HIT_FIELDS = ("word", "list", "surface", "kind", "category", "level", "action")
_SPAN_FIELDS = ("start", "end", "start_utf16", "end_utf16")


@dataclass(frozen=True, slots=True)
class Announcing:
    """Which ends are announced.

    Args:
        url: of the receiver that hears of every task; empty: only those that requests name.
        is_every_end: announce ends without hits, too, good or bad.
        ttl_ms: how long an announcement is worth making.
    """

    url: str = ""
    is_every_end: bool = False
    ttl_ms: int = 172_800_000

    @classmethod
    def of(cls, settings: Settings) -> Self:
        return cls(settings.webhook_url, settings.webhook_events == "ends", settings.webhook_ttl_seconds * 1000)

    def finished(self, row: TaskRow, outcome: Finished) -> StepRecord:
        """Write what a good end announces; return the task's step, which is to be written with the others."""
        targets, is_hit, now_ms = self._targets(row), bool(outcome.detection.hits), row.ended_ms
        if targets and (is_hit or self.is_every_end):
            data = {**_data_of(row), **_found(outcome.detection), "versions": _versions(outcome)}
            return self._put(row, targets, "task.hit" if is_hit else "task.done", data)
        reason = "nothing was found" if targets else "no announcement was asked for"
        return StepRecord("notify", "skipped", now_ms, now_ms, reason)

    def ended(self, rows: Sequence[TaskRow]) -> None:
        """Write what other ends announce, and the tasks' steps where there is something."""
        for row in rows if self.is_every_end else ():
            if targets := self._targets(row):
                step = self._put(row, targets, f"task.{row.state}", {**_data_of(row), "versions": _versions(None)})
                put_steps(row.task_id, [step])

    def _targets(self, row: TaskRow) -> dict[str, str]:
        found = {"webhook": self.url, "callback": row.callback_url or ""}
        return {effect: url for effect, url in found.items() if url}

    def _put(self, row: TaskRow, targets: Mapping[str, str], kind: str, data: dict[str, Any]) -> StepRecord:
        now_ms = row.ended_ms or 0
        timestamp = datetime.fromtimestamp(now_ms / 1000, UTC).isoformat(timespec="milliseconds")
        announcement = {"type": kind, "timestamp": timestamp.replace("+00:00", "Z"), "data": data}
        body = json.dumps(storable_json(announcement), ensure_ascii=False, separators=(",", ":"))
        for effect, url in targets.items():
            WebhookDelivery.insert(
                task_id=row.task_id,
                effect=effect,
                end_token=row.token,
                type=kind,
                site=row.site,
                mac=row.mac,
                lane=row.lane,
                url=url,
                body=body,
                state="pending",
                created_ms=now_ms,
                # At once: a worker's clock may be ahead, that of the acceptance is the queue's.
                due_ms=min(now_ms, row.created_ms),
                expires_ms=now_ms + self.ttl_ms,
                traceparent=tracing.continued(row.traceparent),
            ).on_conflict_ignore().returning(WebhookDelivery.id).execute()
        return StepRecord("notify", "pending", now_ms, None)


def _data_of(row: TaskRow) -> dict[str, Any]:
    names = ("task_id", "mac", "site", "lane", "state", "detection_id", "created_ms", "ended_ms")
    return {**{name: getattr(row, name) for name in names}, "code": row.code or None}


def _found(detection: DetectionRecord) -> dict[str, Any]:
    hits = [
        {name: hit[name] for name in (*_HIT_FIELDS, *_SPAN_FIELDS) if name in hit} for hit in detection.hits[:HITS_MAX]
    ]
    whole = asdict(detection)
    return {
        "verdict": {name: whole[name] for name in ("suggestion", "label", "level", "score")},
        "hit_count": len(detection.hits),
        "hits": hits,
    }


def _versions(outcome: Finished | None) -> dict[str, Any]:
    read = {"engine": outcome.ocr.engine, "model": outcome.ocr.model} if outcome and outcome.ocr else {}
    screened = {"lists": outcome.detection.versions} if outcome else {}
    return {"fairlane": __version__, **read, **screened}
