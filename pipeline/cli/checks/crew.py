"""Who works: scheduler and workers that are missing, held, without their engine, or of another version."""

from collections.abc import Mapping, Sequence

from pipeline import __version__
from pipeline.cli.checks.finding import Check, fine, wrong
from pipeline.cli.wiring import inspector_of, roster_of
from pipeline.queue import LANES, Entry, Lane, Roster, WorkerView, lanes_served, serving
from pipeline.settings import Settings

_START = "start it with `fairlane up`"
_REST = "let its host finish its other work, or raise FAIRLANE_WORKER_CPU_HIGH_WATERMARK and its kin; 100 is off"


def look_at_scheduler(settings: Settings) -> list[Check]:
    if inspector_of(settings).watermark() is None:
        cure = "start one: `fairlane up`, or the process `scheduler` of the Procfile (`python -m pipeline.scheduler`)"
        return [wrong("scheduler", "none has published a watermark of late", cure)]
    return [fine("scheduler", "alive")]


def look_at_workers(settings: Settings) -> list[Check]:
    roster = roster_of(settings)
    workers = roster.workers()
    views = [WorkerView.of(worker, now_ms=0) for worker in workers]
    waiting = {lane: counts[0] for lane, counts in inspector_of(settings).counts().items()}
    checks = [_served(workers), *_unable(roster, workers, waiting)]
    checks += [_held(view) for view in views if view.state == "held"]
    checks += [_without_engine(view) for view in views if _lacks_engine(view)]
    return [*checks, _versions(views), *_apart(settings, views)]


def _served(workers: Sequence[Entry]) -> Check:
    unserved = [lane for lane in LANES if not serving(workers, lane)]
    found = f"{len(workers)} alive" + (f", none serves {', '.join(unserved)}" if unserved else "")
    if not unserved:
        return fine("workers", found)
    return wrong("workers", found, f"{_START}, or `dramatiq pipeline.actors --queues {' '.join(unserved)}`")


def _unable(roster: Roster, workers: Sequence[Entry], waiting: Mapping[Lane, int]) -> list[Check]:
    """Lanes that have a worker, and work that this worker cannot do."""
    found = []
    for lane in LANES:
        if waiting[lane] and not roster.able(workers, lane):
            says = f"{waiting[lane]} tasks wait and no live worker can do them"
            needs = "one with a GPU, or set FAIRLANE_OCR_REQUIRES_GPU=false" if lane in roster.needs.gpu else "one"
            found.append(wrong(f"lane {lane}", says, f"start {needs}: `dramatiq pipeline.actors --queues {lane}`"))
    return found


def _held(worker: WorkerView) -> Check:
    return wrong(_name(worker), f"held: {'; '.join(worker.holds)}", _REST)


def _lacks_engine(worker: WorkerView) -> bool:
    return worker.engine == "none" and "ocr" in lanes_served({"queues": worker.queues})


def _without_engine(worker: WorkerView) -> Check:
    cure = f"run `fairlane doctor` on {worker.hostname}, and install fairlane there again if its engine is incomplete"
    return wrong(f"engine of {_name(worker)}", "serves images, and has no engine", cure)


def _versions(workers: Sequence[WorkerView]) -> Check:
    hosts: dict[str, set[str]] = {__version__: {"here"}}
    for worker in workers:
        if worker.version:
            hosts.setdefault(worker.version, set()).add(worker.hostname)
    found = "; ".join(f"{version}: {', '.join(sorted(names))}" for version, names in sorted(hosts.items()))
    if len(hosts) == 1:
        return fine("versions", __version__)
    return wrong("versions", found, "finish the upgrade: docs/howto/upgrade.md; bring all hosts to one version")


def _apart(settings: Settings, workers: Sequence[WorkerView]) -> list[Check]:
    """Hosts that share the queue and not what it points to."""
    hosts = sorted({worker.hostname for worker in workers})
    if len(hosts) < 2:
        return []
    found = f"workers of {', '.join(hosts)} share the queue, and this is"
    checks = []
    if not settings.database_url.startswith("postgres"):
        cure = "set FAIRLANE_DATABASE_URL to one PostgreSQL, the same on all hosts: docs/howto/postgresql.md"
        checks.append(wrong("shared database", f"{found} a file of this host", cure))
    if not settings.storage_url:  # a folder that is named may be one that all hosts mount
        cure = "set FAIRLANE_STORAGE_URL to one bucket or one shared folder, the same on all hosts: docs/howto/s3.md"
        checks.append(wrong("shared storage", f"{found} a folder of this host", cure))
    return checks


def _name(worker: WorkerView) -> str:
    return f"worker {worker.hostname}:{worker.pid}"
