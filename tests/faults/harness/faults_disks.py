"""Disks that are full, and objects that are gone."""

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.faults.harness import disks
from tests.faults.harness.fault import Fault
from tests.faults.harness.house import House
from tests.support.processes import wait_until


@dataclass
class DiskFull(Fault):
    """Nothing can be written any more on the disk of a server, or on that of the logs.

    Args:
        whose: valkey, postgres, sqlite, store or log.
        is_fatal: whether the server may end by it, so that it has to be started again.
    """

    whose: str
    is_fatal: bool = False
    _taken_bytes: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.kind = "disk"

    def inject(self, house: House) -> None:
        self._taken_bytes = disks.fill(house.servers.folder / self.whose) if house.servers.has_disks else 0

    def heal(self, house: House) -> None:
        disks.drain(house.servers.folder / self.whose)
        server = house.servers.postgres_server
        if self.is_fatal and server.process.poll() is not None:
            server.start()

    def trace(self, house: House) -> str:
        if not house.servers.has_disks:
            return ""
        return f"{self._taken_bytes} bytes were free, then none"


@dataclass
class ObjectLost(Fault):
    """Stored images of waiting tasks are gone, while nobody reads images."""

    _lost: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.kind, self.hold_s, self.may_end = "store", 0.0, {"failed": "object_missing"}

    def inject(self, house: House) -> None:
        self._lost = 0
        readers = house.tree("ocr")
        for process in readers:
            process.suspend()
        images = house.servers.bucket / "images"
        before = set(_files(images))
        wait_until(lambda: len(set(_files(images)) - before) >= 3, 120)
        for path in set(_files(images)) - before:
            path.unlink()
            self._lost += 1
        for process in readers:
            process.resume()

    def heal(self, house: House) -> None:
        for process in house.tree("ocr"):
            process.resume()

    def trace(self, house: House) -> str:
        rows = house.journal.rows("SELECT count(*) FROM task WHERE code = 'object_missing'")
        return f"{self._lost} objects deleted" if self._lost and rows[0][0] else ""


def _files(folder: Path) -> list[Path]:
    with suppress(FileNotFoundError):
        return [path for path in folder.rglob("*") if path.is_file()]
    return []
