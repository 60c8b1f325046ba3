"""execute_ocr: read an image, screen what it says, store both."""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import dramatiq

from models.ledger import Finished, Ledger, OcrRecord, TaskRow
from models.readings import Readings
from pipeline import tracing
from pipeline.actors.screening import log_hits, screened
from pipeline.actors.steps import StepLog
from pipeline.attempts import Attempt
from pipeline.clock import Clock
from pipeline.detector.lines import Line
from pipeline.errors import FairlaneError
from pipeline.lists.following import FollowedLists
from pipeline.ocr.engines import OcrEngines
from pipeline.ocr.types import OcrResult
from pipeline.storage import ObjectStore, audit_key


@dataclass(frozen=True, slots=True)
class OcrWork:
    """The work of one image task, from its claim to its stored result.

    Args:
        is_image_deleted: delete the stored image once its task has ended.
        readings: where the same image's earlier reading is found; None: each image is read.
    """

    ledger: Ledger
    store: ObjectStore
    engines: OcrEngines
    lists: FollowedLists
    clock: Clock
    is_image_deleted: bool
    readings: Readings | None

    def run(self, task_id: str, token: int, attempt: int) -> None:
        """Do it; nothing is stored unless the lease still holds at the end, and then everything at once.

        Raises: whatever `middleware/outcome.py` decides about.
        """
        task = self.ledger.start(task_id, token, attempt)
        began_ms = self.clock.monotonic_ms()
        steps = StepLog(self.ledger, self.clock, task_id, token)
        key = str(task.payload["object"])

        with steps.step("fetch"):
            image = self.store.get(key)
        record, reuse_key = self._read(task, image, steps)
        with steps.step("screen"):
            lines = [Line(line["text"], line["box"]) for line in record.lines]
            words = tuple(task.payload.get("words", ()))
            screening, detection = screened(
                self.clock, record.text, lambda: self.lists.detector(task.site, task.mac).screen_lines(lines, words)
            )
        self._archive(task, key, steps, is_hit=bool(screening.hits))
        steps.mark("cleanup", *(("pending",) if self.is_image_deleted else ("skipped", "images are kept")))
        steps.mark("store", "done")
        with tracing.step("store"):
            self.ledger.finish(
                task_id,
                token,
                Finished(
                    ocr=record,
                    detection=detection,
                    steps=steps.records,
                    run_ms=self.clock.monotonic_ms() - began_ms,
                    reuse_key=reuse_key,
                ),
            )
        log_hits(screening)
        if self.is_image_deleted:
            self._clean_up(task, key, steps)

    def _read(self, task: TaskRow, image: bytes, steps: StepLog) -> tuple[OcrRecord, str | None]:
        """Return what the image says, and under which key that can be found again; an earlier reading has none."""
        reuse_key = None
        if self.readings is not None:
            # Of its site alone: whether another has sent this image is nobody's business.
            reuse_key = reuse_key_of(task.site, self.engines.recipe, image)
            if earlier := self.readings.earlier(reuse_key):
                steps.mark("ocr", "skipped", f"the same image was read for task {earlier.reused_from}")
                return earlier, None
        with steps.step("ocr", is_long=True):
            return record_of(self.engines.read(image)), reuse_key

    def _archive(self, task: TaskRow, key: str, steps: StepLog, *, is_hit: bool) -> None:
        if not is_hit:
            steps.mark("archive", "skipped", "nothing was found")
            return
        with steps.step("archive"):
            self.store.copy(key, audit_key(task.task_id, task.created_ms))

    def _clean_up(self, task: TaskRow, key: str, steps: StepLog) -> None:
        # The task has ended: a failure here is on its step, and must not run the task again.
        try:
            with steps.step("cleanup"):
                self.store.delete(key)
            self.ledger.note_steps(task.task_id, task.token, steps.records)
        except FairlaneError:
            return


def record_of(result: OcrResult) -> OcrRecord:
    """What the ledger keeps of a reading."""
    return OcrRecord(
        text=result.text,
        lines=[asdict(line) for line in result.lines],
        line_count=result.line_count,
        mean_confidence=result.mean_confidence,
        width_px=result.width_px,
        height_px=result.height_px,
        engine=result.engine,
        model=result.model,
        duration_ms=dict(result.duration_ms),
        scale=result.scale,
        tiles=result.tiles,
        direction=result.direction,
    )


def reuse_key_of(site: str, recipe: str, image: bytes) -> str:
    """Stands for all that a reading depends on, and for who may have it: 64 hexadecimal digits."""
    digest = hashlib.sha256(image).hexdigest()
    return hashlib.sha256(f"{site}\n{recipe}\n{digest}".encode()).hexdigest()


def declare_execute_ocr(broker: dramatiq.Broker, work: OcrWork) -> None:
    """Make the lane `ocr` known to the broker."""

    @dramatiq.actor(broker=broker, queue_name="ocr")
    def execute_ocr(attempts: Sequence[Attempt]) -> None:
        for attempt in attempts:
            attempt.do(work.run, attempt.claim.task_id, attempt.claim.token, attempt.number)
