"""This host: room on its disks, files it may open, the OCR engine installed on it."""

import importlib
import resource
import shutil
from pathlib import Path

from pipeline.cli.checks.finding import Check, fine, wrong
from pipeline.settings import Settings

#: Free bytes below which a disk is nearly full: 1 GB, of large disks 5 %, of very large ones 10 GB.
_FREE_MIN_BYTES, _FREE_MAX_BYTES, _FREE_SHARE = 1_000_000_000, 10_000_000_000, 0.05

#: Files a process must be able to open: a worker holds some hundred connections and pipes, the web process raises its
#: own limit as far as the system allows, 2,200 at most (web/connections.py).
_FILES_MIN = 1024


def look_at_disks(settings: Settings) -> list[Check]:
    """The disks of the data folder and of a storage that is a folder; one that holds both is told once."""
    folders = [settings.data_dir]
    if "://" not in settings.effective_storage_url:
        folders.append(Path(settings.effective_storage_url))
    disks = {place.stat().st_dev: place for folder in reversed(folders) for place in (_existing(folder),)}
    return [_room_on(place) for place in disks.values()]


def look_at_files(_: Settings) -> list[Check]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < _FILES_MIN:
        cure = f"raise it to {_FILES_MIN} or more: `ulimit -n 4096`, or LimitNOFILE= in a systemd unit"
        return [wrong("open files", f"this shell's processes may open {soft} (hard limit {_limit(hard)})", cure)]
    return [fine("open files", f"{_limit(soft)} at once")]


def look_at_engine(_: Settings) -> list[Check]:
    versions = [f"{name} {importlib.import_module(name).__version__}" for name in ("onnxruntime", "cv2")]
    importlib.import_module("rapidocr")
    return [fine("engine", "rapidocr, " + ", ".join(versions))]


def _room_on(place: Path) -> Check:
    usage = shutil.disk_usage(place)
    wanted = max(_FREE_MIN_BYTES, min(usage.total * _FREE_SHARE, _FREE_MAX_BYTES))
    found = f"{usage.free / 1e9:.1f} GB of {usage.total / 1e9:.1f} GB free at {place}"
    if usage.free >= wanted:
        return fine("disk", found)
    cure = "make room: a full disk stops database and queue; FAIRLANE_RETENTION_*_DAYS let results and images go"
    return wrong("disk", found, cure)


def _existing(folder: Path) -> Path:
    """The folder, or the nearest one above it that is there."""
    absolute = folder.absolute()
    return next(place for place in (absolute, *absolute.parents) if place.exists())


def _limit(number: int) -> str:
    return "any number" if number == resource.RLIM_INFINITY else f"{number:,}"
