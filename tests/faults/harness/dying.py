"""`python -m tests.faults.harness.dying POINT [ID MAC]`: a process of fairlane that ends itself right after a step.

It says so in its exit code, which is that of a SIGKILL, and in no other way: nothing is closed, nothing is handed back.
"""

import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import dramatiq

from models.delivery_line import DeliveryLine
from models.ledger import Ledger
from models.replays import Replays
from pipeline.middleware.lease import LeaseRenewal
from pipeline.ocr.types import OcrResult
from pipeline.queue import FairQueue
from pipeline.settings import load_settings_or_exit
from pipeline.storage import ObjectStore
from pipeline.submission import ImageSubmission
from pipeline.webhooks.sending import Sender
from tests.faults.harness.light_reader import HIT, by_rote
from tests.support.crashers import Quick
from tests.support.ocr_readers import MARKER
from tests.support.pictures import LIMITS, corner_marked, encoded

Role = Literal["intake", "ocr", "notify", "text", "scheduler"]


class Rote(Quick):
    """Engines that need no child, and read as the light worker's children do."""

    def __init__(self) -> None:
        self._read = by_rote(1, LIMITS)

    def read(self, data: bytes) -> OcrResult:
        return self._read(data)


@dataclass(frozen=True, slots=True)
class Point:
    """A step, after which the process dies.

    Args:
        role: what process it is.
        owner, method: the step; one that found nothing to do is none.
    """

    role: Role
    owner: type
    method: str


POINTS = {
    "object stored": Point("intake", ObjectStore, "put"),
    "row committed": Point("intake", Ledger, "accept"),
    "queued": Point("intake", FairQueue, "enqueue"),
    "oldest evicted": Point("intake", FairQueue, "enqueue"),
    "claimed": Point("ocr", FairQueue, "claim"),
    "started": Point("ocr", Ledger, "start"),
    "read": Point("ocr", Rote, "read"),
    "image kept": Point("ocr", ObjectStore, "copy"),
    "result written, not acked": Point("ocr", Ledger, "finish"),
    "acked": Point("ocr", FairQueue, "complete_each"),
    "texts written, not acked": Point("text", Ledger, "finish_each"),
    "lease renewed": Point("text", LeaseRenewal, "before_process_message"),
    "end written, not buried": Point("ocr", Ledger, "end"),
    "buried": Point("ocr", FairQueue, "bury"),
    "announcement begun": Point("notify", DeliveryLine, "begin"),
    "announcement heard": Point("notify", Sender, "post"),
    "announcement noted": Point("notify", DeliveryLine, "note_taken"),
    "announcement to be lined": Point("scheduler", DeliveryLine, "note_lined"),
    "promoted": Point("scheduler", FairQueue, "promote"),
    "reaped": Point("scheduler", FairQueue, "reap"),
    "replay reopened": Point("scheduler", Replays, "reopen"),
    "replayed": Point("scheduler", FairQueue, "replay"),
}


def die_after(owner: type, method: str) -> None:
    """Let this process end by SIGKILL once that method has done something."""
    original = getattr(owner, method)

    def act(self: Any, *args: Any, **kwargs: Any) -> Any:
        done = original(self, *args, **kwargs)
        if done or method not in ("claim", "promote", "reap", "begin", "note_lined", "reopen"):
            os.kill(os.getpid(), signal.SIGKILL)
        return done

    setattr(owner, method, act)


def _accept(task_id: str, mac: str) -> None:
    from tests.support.parts import Parts

    image = encoded(corner_marked()) + MARKER + HIT
    Parts(load_settings_or_exit()).intake.submit_image(ImageSubmission(mac, image, task_id=task_id))


def _work(lane: str) -> None:
    from pipeline.actors import build_broker

    broker = build_broker(load_settings_or_exit(), Rote())  # type: ignore[arg-type]
    dramatiq.Worker(broker, queues={lane}, worker_threads=1, worker_timeout=50).start()
    signal.pause()


def _keep_house() -> None:
    from pipeline.scheduler.__main__ import main

    main()


def main() -> None:
    point = POINTS[sys.argv[1]]
    roles: dict[str, Callable[[], None]] = {
        "intake": lambda: _accept(*sys.argv[2:4]),
        "scheduler": _keep_house,
    }
    act = roles.get(point.role, lambda: _work(point.role))
    # What is loaded before the patch is what the patch is for.
    die_after(point.owner, point.method)
    act()


if __name__ == "__main__":
    main()
