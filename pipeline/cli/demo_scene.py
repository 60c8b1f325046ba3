"""The devices of the demo and what they send: real requests to the running service."""

import secrets
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice
from typing import Any

from pipeline.cli.api import Api, patiently
from pipeline.cli.exits import message_of
from pipeline.errors import FairlaneError

#: How much the flooding device sends at once, and how much each of the others; an image costs about one CPU second.
FLOOD_IMAGES, FLOOD_TEXTS = 30, 60
LIGHT_IMAGES, LIGHT_TEXTS = 3, 5

#: The others come this long after the flood is in, seconds.
_LATER_S = 1.0

#: How long one request waits for the end of a task, seconds; short, because Ctrl-C has to wait for it.
WAIT_S = 2

#: Between two such requests for one task, seconds.
_PAUSE_S = 0.2

_ENDS = frozenset({"done", "failed", "dead", "expired", "evicted", "cancelled"})


@dataclass(slots=True)
class Device:
    """One device, what it sends and what came of it.

    Args:
        images: name and bytes of each picture.
        is_flooding: it sends first; the others wait until it is through.
        answers: what the service said of each ended task.
    """

    name: str
    mac: str
    images: list[tuple[str, bytes]]
    texts: list[str]
    is_flooding: bool
    answers: list[dict[str, Any]] = field(default_factory=list)

    @property
    def total(self) -> int:
        return len(self.images) + len(self.texts)

    @property
    def ended(self) -> int:
        return len(self.answers)

    @property
    def done(self) -> int:
        return sum(1 for answer in self.answers if answer["state"] == "done")


def make_devices(images: Sequence[tuple[str, bytes]], texts: Sequence[str]) -> list[Device]:
    """Return one device that floods and two that do not; new ones each time, so no earlier demo is in their way."""
    # Locally administered addresses: no real device has one.
    prefix = "02" + secrets.token_hex(4)
    flood = (list(islice(cycle(images), FLOOD_IMAGES)), list(islice(cycle(texts), FLOOD_TEXTS)))
    devices = [Device("flooding", prefix + "01", *flood, is_flooding=True)]
    for number in (1, 2):
        some = (list(islice(cycle(images), number, number + LIGHT_IMAGES)), list(islice(cycle(texts), LIGHT_TEXTS)))
        devices.append(Device(f"light {number}", f"{prefix}0{number + 1}", *some, is_flooding=False))
    return devices


class Scene:
    """Plays the devices, each in threads of its own that end with the program."""

    def __init__(self, api: Api, devices: Sequence[Device], stop: threading.Event) -> None:
        self._api = api
        self._stop = stop
        self._flood_is_in = threading.Event()
        self._threads = [self._thread(self._play, device) for device in devices]
        self.problems: list[str] = []

    @property
    def is_over(self) -> bool:
        return not any(thread.is_alive() for thread in self._threads)

    def begin(self) -> None:
        for thread in self._threads:
            thread.start()

    def _thread(self, work: Callable[..., None], device: Device, *arguments: Any) -> threading.Thread:
        def guarded() -> None:
            try:
                work(device, *arguments)
            except FairlaneError as exc:
                self.problems.append(f"{device.name}: {message_of(exc)}")
            except KeyboardInterrupt:
                # Raised by a wait that was broken off; the main thread sees the same `stop`.
                return

        return threading.Thread(target=guarded, daemon=True)

    def _play(self, device: Device) -> None:
        if not device.is_flooding:
            self._flood_is_in.wait()
            self._stop.wait(_LATER_S)
        try:
            image_ids = [self._send_image(device, *image) for image in device.images]
            text_ids = [self._send_text(device, text) for text in device.texts]
        finally:
            if device.is_flooding:
                self._flood_is_in.set()
        # Texts have a lane of their own and are long done when the pictures are.
        texts = self._thread(self._await_all, device, text_ids)
        texts.start()
        self._await_all(device, image_ids)
        texts.join()

    def _send_image(self, device: Device, name: str, data: bytes) -> str:
        return str(patiently(lambda: self._api.submit_image(name, data, device.mac), self._stop)["task_id"])

    def _send_text(self, device: Device, text: str) -> str:
        return str(patiently(lambda: self._api.submit_text(text, device.mac), self._stop)["task_id"])

    def _await_all(self, device: Device, task_ids: Sequence[str]) -> None:
        for task_id in task_ids:
            while (answer := self._ask(task_id))["state"] not in _ENDS:
                # When too many wait already, the service answers at once.
                if self._stop.wait(_PAUSE_S):
                    return
            device.answers.append(answer)

    def _ask(self, task_id: str) -> dict[str, Any]:
        return patiently(lambda: self._api.task(task_id, wait_s=WAIT_S), self._stop)
