"""Devices that send texts and images at a steady pace, ask again when they get no answer, and remember what they heard.

Whoever gets no answer, or one that says later, asks again under the same id, as a device should. What is counted as
accepted is what a 202 said; what was never answered may or may not have been accepted.
"""

import json
import random
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlencode

from pipeline.clock import SystemClock
from tests.faults.harness.client import Answer, ask
from tests.faults.harness.light_reader import HIT
from tests.support.ocr_readers import MARKER
from tests.support.pictures import corner_marked, encoded

Kind = Literal["text", "text with a hit", "image", "image with a hit", "bad image", "cancelled text"]

#: Of a hundred tasks.
_MIX: dict[Kind, int] = {
    "text": 55,
    "text with a hit": 22,
    "image": 12,
    "image with a hit": 6,
    "bad image": 2,
    "cancelled text": 3,
}
#: Ways in which a task of a kind may end, besides what the fault allows.
ENDS: dict[Kind, set[str]] = {
    **{kind: {"done"} for kind in _MIX},
    "bad image": {"failed"},
    "cancelled text": {"done", "cancelled"},
}
#: How a device waits before it asks again, seconds; it does not obey a long Retry-After, so that a round may end.
_AGAIN_S = 0.5
#: Times that one in twenty tasks is sent at once, under one id.
_TWICE = 0.05
DEVICES = 60

_PICTURE = encoded(corner_marked())
_IMAGES: dict[Kind, bytes] = {
    "image": _PICTURE,
    "image with a hit": _PICTURE + MARKER + HIT,
    "bad image": _PICTURE + MARKER + b"bad image",
}
#: What a fault may send.
BAD_IMAGE = _IMAGES["bad image"]
HIT_IMAGE = _IMAGES["image with a hit"]
SLOW_IMAGE = _PICTURE + MARKER + b"take two seconds"


@dataclass
class Sent:
    """What the devices of one round have heard.

    Args:
        accepted: by id, what it was.
        unanswered: sent, and never answered.
        refused: answered with a refusal for good.
        troubles: how often there was no answer, or one that said later.
    """

    accepted: dict[str, Kind] = field(default_factory=dict)
    unanswered: dict[str, Kind] = field(default_factory=dict)
    refused: dict[str, int] = field(default_factory=dict)
    troubles: int = 0


class Load:
    """Sends `rate` tasks a second between `begin` and `end`, by as many threads as may hang at once.

    Args:
        where: web, asked anew for each request.
    """

    def __init__(self, where: Callable[[], tuple[str, int]], rate: float, threads: int = 24) -> None:
        self._where, self._rate, self._thread_count = where, rate, threads
        self._clock, self._lock = SystemClock(), threading.Lock()
        self.sent = Sent()
        self._prefix, self._number, self._next_ms = "", 0, 0.0
        self._over, self._gone = threading.Event(), threading.Event()
        self._threads: list[threading.Thread] = []

    def begin(self, prefix: str) -> None:
        """Send tasks whose ids begin with `prefix`."""
        self.sent, self._prefix, self._number = Sent(), prefix, 0
        self._next_ms = self._clock.monotonic_ms()
        self._over.clear()
        self._gone.clear()
        self._threads = [threading.Thread(target=self._send, daemon=True) for _ in range(self._thread_count)]
        for thread in self._threads:
            thread.start()

    def end(self, patience_s: float = 60) -> Sent:
        """Begin nothing new; return once everything sent was answered, or nobody has the patience any more."""
        self._over.set()
        deadline_ms = self._clock.monotonic_ms() + patience_s * 1000
        for thread in self._threads:
            thread.join(max(0.0, (deadline_ms - self._clock.monotonic_ms()) / 1000))
        self._gone.set()
        for thread in self._threads:
            thread.join()
        return self.sent

    def _send(self) -> None:
        while (name := self._next()) is not None:
            task_id, chance = name, random.Random(name)
            kind: Kind = chance.choices(list(_MIX), list(_MIX.values()))[0]
            mac = f"0a00000000{chance.randrange(DEVICES):02x}"
            with self._lock:
                self.sent.unanswered[task_id] = kind
            if chance.random() < _TWICE:
                twin = threading.Thread(target=self._submit, args=(task_id, kind, mac), daemon=True)
                twin.start()
            self._submit(task_id, kind, mac)

    def _next(self) -> str | None:
        """Wait for one's turn; None when it is over."""
        while not self._over.is_set():
            with self._lock:
                now_ms = self._clock.monotonic_ms()
                # What could not be sent in time is not sent in a burst later.
                self._next_ms = max(self._next_ms, now_ms - 1000)
                if self._next_ms <= now_ms:
                    self._next_ms += 1000 / self._rate
                    self._number += 1
                    return f"{self._prefix}{self._number}"
                rest_ms = self._next_ms - now_ms
            self._over.wait(rest_ms / 1000)
        return None

    def _submit(self, task_id: str, kind: Kind, mac: str) -> None:
        while not self._gone.is_set():
            try:
                answer = self._post(task_id, kind, mac)
            except OSError:
                answer = Answer(0, b"")
            if answer.status == 202:
                self._note_accepted(task_id, kind)
                return
            if 400 <= answer.status < 500 and answer.status not in (408, 429):
                with self._lock:
                    self.sent.refused[task_id] = answer.status
                    self.sent.unanswered.pop(task_id, None)
                return
            with self._lock:
                self.sent.troubles += 1
            self._gone.wait(_AGAIN_S)

    def _note_accepted(self, task_id: str, kind: Kind) -> None:
        with self._lock:
            self.sent.accepted[task_id] = kind
            self.sent.unanswered.pop(task_id, None)
            self.sent.refused.pop(task_id, None)
        if kind == "cancelled text":
            try:
                ask(self._where(), "DELETE", f"/api/ocr/tasks/{task_id}")
            except OSError:
                return  # then it is done instead

    def _post(self, task_id: str, kind: Kind, mac: str) -> Answer:
        if kind in _IMAGES:
            query = urlencode({"mac": mac, "task_id": task_id})
            headers = {"Content-Type": "image/png"}
            return ask(self._where(), "POST", f"/api/ocr/image?{query}", _IMAGES[kind], headers)
        text = "只要保证金" if kind == "text with a hit" else f"hello {task_id}"
        body = json.dumps({"mac": mac, "task_id": task_id, "text": text}).encode()
        return ask(self._where(), "POST", "/api/ocr/text", body, {"Content-Type": "application/json"})
