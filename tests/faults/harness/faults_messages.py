"""Messages that come twice, that nobody wrote, or all at once."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from pipeline.queue import Task
from tests.faults.harness.client import Answer, ask, post_json
from tests.faults.harness.fault import Fault
from tests.faults.harness.house import House

_KIND = "messages"


@dataclass
class Duplicated(Fault):
    """Every task that is under way, and some that have ended, are put in line again, several times at once."""

    _again: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.kind = _KIND

    def inject(self, house: House) -> None:
        rows = house.journal.rows("SELECT task_id, lane, mac, created_ms FROM task ORDER BY created_ms DESC LIMIT 60")
        tasks = [Task(task_id, lane, mac, int(created_ms)) for task_id, lane, mac, created_ms in rows] * 3
        with ThreadPoolExecutor(8) as threads:
            answers = list(threads.map(house.queue.enqueue, tasks))
        self._again = sum(answer.is_duplicate for answer in answers)

    def heal(self, house: House) -> None:
        """There is nothing to heal."""

    def trace(self, house: House) -> str:
        return f"{self._again} times known already" if self._again else ""


#: Requests that are none: path, headers, body.
_GARBAGE = [
    ("/api/ocr/text", "application/json", b"{"),
    ("/api/ocr/text", "application/json", b'{"mac": 7, "text": ["x"]}'),
    ("/api/ocr/text", "application/json", b'{"mac": "nobody", "text": "\\ud800"}'),
    ("/api/ocr/text", "application/json", json.dumps({"tasks": [{}] * 100}).encode()),
    ("/api/ocr/image?mac=0a0000000001", "image/png", b"\x89PNG\r\n\x1a\n" + b"\0" * 64),
    ("/api/ocr/image", "multipart/form-data; boundary=x", b"--x\r\n\r\n--x--"),
    ("/api/decter", "application/json", b"[]"),
]


@dataclass
class GarbageAsked(Fault):
    """Requests that nobody can answer with yes, among the others."""

    _refused: int = field(init=False, default=0)
    _odd: list[int] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self.kind, self.hold_s = _KIND, 0.0

    def inject(self, house: House) -> None:
        self._refused, self._odd = 0, []
        for path, media_type, body in _GARBAGE * 20:
            answer = ask(house.web, "POST", path, body, {"Content-Type": media_type})
            self._count(answer)

    def heal(self, house: House) -> None:
        assert not self._odd, f"garbage was answered with {self._odd}"

    def trace(self, house: House) -> str:
        return f"{self._refused} refused" if self._refused else ""

    def _count(self, answer: Answer) -> None:
        if 400 <= answer.status < 500:
            self._refused += 1
        elif answer.status != 202 or answer.json.get("accepted"):
            self._odd.append(answer.status)


@dataclass
class GarbageQueued(Fault):
    """Members that no fairlane wrote, in every key of the queue that has members.

    But for the index of times to live, which says what has come in: what stands there without a record is looked at
    again and again and stays, lest a task that lost its record is not missed.
    """

    def __post_init__(self) -> None:
        self.kind = _KIND

    def inject(self, house: House) -> None:
        keys, now_ms = house.inspector.keys, house.inspector.now_ms()
        with house.servers.valkey_client() as client:
            members = ("garbage", "a:b", "::", "text:0a0000000001:nobody-sent-this", b"\xff\xfe")
            client.zadd(keys.delayed(), dict.fromkeys(members, now_ms - 1))
            client.zadd(keys.backoff(), {"garbage": now_ms - 1, "0a0000000001:text": now_ms - 1, "::": now_ms - 1})
            for lane in ("ocr", "text", "notify"):
                client.zadd(keys.leases(lane), {"garbage": now_ms - 1, f"{lane}:0a0000000001:never": now_ms - 1})
                client.lpush(keys.wake(lane), "garbage", b"\xff")

    def heal(self, house: House) -> None:
        """The scheduler has to."""

    def trace(self, house: House) -> str:
        return "written into eight keys"


#: Until a hundred texts are accepted while seven hundred others are, seconds.
_BATCH_S = 120


@dataclass
class Crowd(Fault):
    """So many devices at once, with one text each.

    Args:
        devices: how many.
    """

    devices: int = 10_000
    _accepted: int = field(init=False, default=0)
    _later: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.kind, self.hold_s = "load", 0.0

    def inject(self, house: House) -> None:
        self._accepted = self._later = 0
        batches = [
            [{"mac": f"0b{number:010x}", "text": "hello"} for number in range(start, min(start + 100, self.devices))]
            for start in range(0, self.devices, 100)
        ]
        with ThreadPoolExecutor(8) as threads:
            for answer in threads.map(
                lambda batch: post_json(house.web, "/api/ocr/text", {"tasks": batch}, _BATCH_S), batches
            ):
                self._count(answer)

    def heal(self, house: House) -> None:
        """They wait until their texts are done, as others do."""

    def trace(self, house: House) -> str:
        ((done,),) = house.journal.rows("SELECT count(*) FROM task WHERE mac LIKE '0b%%' AND state = 'done'")
        # Those that were told to come later did not.
        is_whole = self._accepted + self._later == self.devices and done >= self._accepted > 0
        return f"{self._accepted} accepted and done, {self._later} told to come later" if is_whole else ""

    def _count(self, answer: Answer) -> None:
        for result in answer.json["results"]:
            self._accepted += result["status"] == 202
            self._later += result["status"] in (429, 503)
