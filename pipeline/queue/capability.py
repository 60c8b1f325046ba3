"""Which live workers can do the work of a lane, by what their registry entries say."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipeline.queue.reading import whole
from pipeline.queue.types import LANES, Lane

#: What `dramatiq --queues` may name, and the lane behind it. `ocr_cpu` serves the images without a GPU: always where
#: none is required, else only while the scheduler has sent images to the CPU.
QUEUE_NAMES: Mapping[str, Lane] = {**{lane: lane for lane in LANES}, "ocr_cpu": "ocr"}
#: Queue names whose workers use no GPU even if their host has one.
CPU_ONLY = frozenset({"ocr_cpu"})

Entry = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Needs:
    """What the work of each lane needs besides a worker that serves it.

    Args:
        gpu: lanes whose work needs a GPU.
    """

    gpu: frozenset[Lane] = frozenset()

    def capable(self, workers: Sequence[Entry], lane: Lane) -> list[Entry]:
        """Of these live workers, those that can do the lane's work.

        One whose host is over a watermark is among them: it is busy, not missing.
        """
        return [worker for worker in serving(workers, lane) if lane not in self.gpu or _has_gpu(worker)]


def serving(workers: Sequence[Entry], lane: Lane) -> list[Entry]:
    """Of these live workers, those that serve the lane, with a GPU or without."""
    return [worker for worker in workers if lane in lanes_served(worker)]


def slots_in(workers: Sequence[Entry], lane: Lane) -> int:
    """How many tasks of the lane these workers can really run at once."""
    return sum(_slots(worker, lane) for worker in workers)


def has_slots_by_lane(worker: Entry) -> bool:
    """Say whether the slots of each of its lanes are known: of what serves one lane, and of what says so."""
    return "," not in worker.get("queues", "") or bool(worker.get("lane_slots"))


def lanes_served(worker: Entry) -> list[Lane]:
    """The lanes of one worker, in the order of its queues."""
    return list(dict.fromkeys(QUEUE_NAMES[name] for name in _queues(worker) if name in QUEUE_NAMES))


def _slots(worker: Entry, lane: Lane) -> int:
    by_lane = dict(part.partition("=")[::2] for part in worker.get("lane_slots", "").split())
    return whole(by_lane.get(lane, worker.get("effective_concurrency")))


def _has_gpu(worker: Entry) -> bool:
    return worker.get("gpu_available") == "1" and not CPU_ONLY & set(_queues(worker))


def _queues(worker: Entry) -> list[str]:
    return worker.get("queues", "").split(",")
