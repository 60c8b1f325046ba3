"""The service whose dashboard a browser looks at: web and scheduler as the Procfile starts them."""

import itertools
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from models.base import bind, bound, connection
from models.ledger import DetectionRecord, Finished
from models.webhook_delivery import WebhookDelivery
from models.word_lists import EVERYBODY, ListRow, Owner
from models.word_shelf import WordShelf
from pipeline.clock import SystemClock
from pipeline.lists.compiled import open_compiled
from pipeline.lists.library import Library
from pipeline.lists.reading import read_list
from pipeline.settings import Settings, child_environment
from pipeline.submission import TextSubmission
from tests.support.parts import SCHEDULER, Parts
from tests.support.processes import wait_until
from tests.support.records import finished, new_task, step
from tests.support.servers import free_port
from tests.support.web_process import WebProcess

#: s; the machine of the tests may be busy with others.
_PATIENCE_S = 90
_CALLBACK = "https://receiver.example/hook"
_HIT: dict[str, Any] = {"word": "刷单", "list": "global", "surface": "刷单", "start": 0, "end": 2}
_WORKER = {
    "queues": "ocr",
    "state": "working",
    "declared_concurrency": "4",
    "effective_concurrency": "2",
    "active_tasks": "1",
    "idle_slots": "1",
    "engine": "rapid",
    "gpu_available": "0",
    "cpu_count": "8",
    "cpu_percent": "41.5",
    "cpu_others_percent": "12",
    "memory_total": "34359738368",
    "memory_available": "17179869184",
    "memory_percent": "50",
    "version": "0.1.0",
}


class Dashboard(Parts):
    """It, with the parts by which a test puts something there to be seen.

    Args:
        folder: of its data and logs.
        settings: others than those by default.
    """

    def __init__(self, folder: Path, redis_url: str, **settings: Any) -> None:
        own: dict[str, Any] = {
            "data_dir": folder,
            "redis_url": redis_url,
            "key_prefix": f"{folder.name}:",
            "web_bind": f"127.0.0.1:{free_port()}",
            "web_threads": 4,
            "watermark_publish_interval": 5,
            "words_poll_seconds": 1,
        }
        super().__init__(Settings(_env_file=None, **{**own, **settings}))
        self._database = bound()
        self._numbers = itertools.count(1)
        self.folder = folder
        self.base_url = f"http://{self.settings.web_bind}"
        with (folder / "scheduler.log").open("wb") as log:
            environment = child_environment(self.settings, ())
            self._scheduler = subprocess.Popen(SCHEDULER, env=environment, cwd=folder, stdout=log, stderr=log)
        try:
            self.start_web()
            wait_until(lambda: self.inspector.watermark(), _PATIENCE_S)
        except BaseException:
            self.stop()
            raise

    def start_web(self) -> None:
        """Start the web process; return once it answers."""
        self.web = WebProcess(self.folder, self.settings)
        wait_until(self._answers, _PATIENCE_S)

    def submit_text(self, mac: str, text: str = "有事请说") -> str:
        """Submit a text, which waits, as no worker is there; return the id of its task."""
        return self.intake.submit_text(TextSubmission(mac, text)).task_id

    def wait_for_snapshot(self) -> None:
        """Return once the scheduler has looked at the queue anew."""
        before = self.inspector.watermark()
        wait_until(lambda: self.inspector.watermark() != before, _PATIENCE_S)

    def enter_worker(self, hostname: str, pid: int, **entry: str) -> str:
        """Enter a live worker into the registry; return its id there."""
        now_ms = SystemClock().now_ms()
        own = {**_WORKER, "hostname": hostname, "pid": str(pid), "last_heartbeat": str(now_ms), **entry}
        self.roster.enter(f"{hostname}:{pid}", own, ttl_ms=600_000)
        return f"{hostname}:{pid}"

    def make_list(self, name: str, words: str = "", owner: Owner = EVERYBODY) -> int:
        """Make a list, with a draft of these words if there are any; return its id."""
        with self._at_home():
            shelf = WordShelf(self._database, SystemClock())
            made = shelf.create(owner, name)
            if words:
                library = Library(shelf, open_compiled(shelf, self.store, self.settings))
                library.add(made.id, read_list(words.encode(), "txt", "utf-8"), f"{name}.txt")
            return made.id

    def list_named(self, owner: Owner, name: str) -> ListRow:
        with self._at_home():
            return WordShelf(self._database, SystemClock()).find(owner, name)

    def finish_picture(self, task_id: str, mac: str, text: str) -> None:
        """Let a picture be read that says this, in which this is a hit."""
        span = {"start": 0, "end": len(text), "start_utf16": 0, "end_utf16": len(text)}
        hit = {**_HIT, **span, "word": text, "surface": text, "category": text, "list_name": text}
        found = DetectionRecord(text, "block", [hit], label=text, level=4, score=1.0, masked=text)
        steps = [step("fetch"), step("ocr", reason=text), step("screen"), step("store")]
        with self._at_home():
            self.ledger.accept(new_task(task_id, mac=mac, created_ms=SystemClock().now_ms()))
            self.ledger.start(task_id, 1, 1)
            self.ledger.finish(task_id, 1, finished(text, detection=found, steps=steps))

    def bury(self, task_id: str, mac: str, reason: str) -> None:
        """Let a task die, for this reason."""
        with self._at_home():
            self.ledger.accept(new_task(task_id, mac=mac, lane="text", created_ms=SystemClock().now_ms()))
            self.ledger.close(task_id, "dead", "engine_failed", reason)

    def failed_deliveries(self, mac: str, count: int, error: str = "its reply was 500") -> list[int]:
        """Let tasks end with a hit whose announcement failed; return the ids of the deliveries, oldest first."""
        with self._at_home():
            return [self._failed_delivery(mac, error) for _ in range(count)]

    def _failed_delivery(self, mac: str, error: str) -> int:
        task_id = f"announced-{next(self._numbers)}"
        self.ledger.accept(new_task(task_id, mac=mac, lane="text", callback_url=_CALLBACK))
        self.ledger.start(task_id, 1, 1)
        self.ledger.finish(task_id, 1, Finished(None, DetectionRecord("x", "block", [_HIT]), [], 1))
        # By itself: the scheduler, which runs, would attempt it when it likes.
        told = WebhookDelivery.update(state="failed", attempts=5, last_status=500, error=error, ended_ms=1)
        (row,) = told.where(WebhookDelivery.task_id == task_id).returning(WebhookDelivery.id).execute()
        return int(row.id)

    @contextmanager
    def _at_home(self) -> Iterator[None]:
        """With its own database bound: other services of the same tests have theirs."""
        bind(self._database)
        with connection(self._database):
            yield

    def stop(self) -> None:
        self._scheduler.terminate()
        self.web.stop()
        self._scheduler.wait(timeout=30)

    def _answers(self) -> bool:
        assert self.web.process.poll() is None, self.web.output
        with suppress(OSError), urllib.request.urlopen(f"{self.base_url}/livez", timeout=_PATIENCE_S):
            return True
        return False
