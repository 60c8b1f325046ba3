"""Processes that end themselves with SIGKILL right after a chosen step of intake, or of a worker's way with a task."""

import os
import signal
from collections.abc import Callable
from typing import Any

import dramatiq

from models.ledger import Ledger
from pipeline.ocr.types import OcrLine, OcrResult
from pipeline.queue import FairQueue
from pipeline.settings import Settings
from pipeline.storage import ObjectStore
from pipeline.submission import ImageSubmission
from tests.support.parts import Parts
from tests.support.pictures import corner_marked, encoded

#: The steps of accepting an image, in their order: the object, the row, the line.
INTAKE_POINTS: dict[str, tuple[type, str]] = {
    "object stored": (ObjectStore, "put"),
    "row committed": (Ledger, "accept"),
    "in line": (FairQueue, "enqueue"),
}
#: The steps of a worker, in their order; `ObjectStore.copy` keeps the image of a hit.
WORKER_POINTS: dict[str, tuple[type, str]] = {
    "claimed": (FairQueue, "claim"),
    "started": (Ledger, "start"),
    "image kept": (ObjectStore, "copy"),
    "result written": (Ledger, "finish"),
    "completed": (FairQueue, "complete_each"),
}


def accept(settings: Settings, point: str, task_id: str, mac: str) -> None:
    """Accept an image, and die after that step."""
    _die_after(*INTAKE_POINTS[point])
    image = encoded(corner_marked())
    Parts(settings).intake.submit_image(ImageSubmission(mac, image, task_id=task_id))


def work(settings: Settings, point: str | None) -> None:
    """Be a worker of lane `ocr` that dies after that step of its first task; without one it works on."""
    from pipeline.actors import build_broker

    broker = build_broker(settings, Quick())  # type: ignore[arg-type]
    if point is not None:
        _die_after(*WORKER_POINTS[point])
    worker = dramatiq.Worker(broker, queues={"ocr"}, worker_threads=1, worker_timeout=50)
    worker.start()
    signal.pause()


class Quick:
    """Engines that need no child, and find in every image what the words of the samples forbid."""

    name, recipe, is_on_gpu = "rapid", "quick", False

    def warm_up(self, *, may_use_gpu: bool) -> None:
        """Nothing is to be built."""

    def watch(self, tell: Callable[[], None]) -> None:
        """Nothing changes."""

    def renew_idle(self) -> int:
        return 0

    def close(self) -> None:
        """Nothing is held."""

    def read(self, data: bytes) -> OcrResult:
        line = OcrLine("刷单返利", 0.9, ((0, 0), (40, 0), (40, 9), (0, 9)))
        return OcrResult((line,), 60, 40, 1.0, "quick", "none")


def _die_after(owner: type, method: str) -> None:
    original = getattr(owner, method)

    def act(self: Any, *args: Any, **kwargs: Any) -> Any:
        done = original(self, *args, **kwargs)
        if method != "claim" or done:  # a claim that found nothing is no step
            os.kill(os.getpid(), signal.SIGKILL)
        return done

    setattr(owner, method, act)
