"""What `fairlane doctor` looks at; each check says what it found and how to cure it."""

import importlib
from collections.abc import Callable
from typing import NamedTuple

from models.base import bind, connect
from models.keys import ApiKeys
from models.migrate import pending
from models.sites import EVERY_SITE, LOCAL_SITE
from pipeline.cli.wiring import inspector_of, lists_of, roster_of
from pipeline.clock import SystemClock
from pipeline.errors import FairlaneError
from pipeline.network import is_loopback
from pipeline.queue import LANES, WorkerView
from pipeline.settings import Settings
from pipeline.storage import open_store

_START = "start it with `fairlane up`"
_REST = "let its host finish its other work, or raise FAIRLANE_WORKER_CPU_HIGH_WATERMARK and its kin; 100 is off"


class Check(NamedTuple):
    """One finding.

    Args:
        cure: what to do when it is not fine.
    """

    name: str
    is_fine: bool
    found: str
    cure: str


def all_checks(settings: Settings) -> list[Check]:
    """Look at everything, however much of it is broken."""
    checks: list[Check] = []
    for name, look, cure in (
        ("queue", _look_at_queue, _START if settings.is_redis_embedded else "check FAIRLANE_REDIS_URL and the server"),
        ("workers", _look_at_workers, _START),
        ("database", _look_at_database, "check FAIRLANE_DATABASE_URL and the server"),
        ("keys", _look_at_keys, "run `fairlane migrate`"),
        ("storage", _look_at_storage, "check FAIRLANE_STORAGE_URL, its permissions and the free space"),
        ("engine", _look_at_engine, "install fairlane again; its OCR engine is incomplete"),
        ("words", _look_at_words, "check FAIRLANE_WORDS_FILE and `fairlane words list`"),
    ):
        checks += _tried(name, look, settings, cure)
    return checks


def _tried(name: str, look: Callable[[Settings], list[Check]], settings: Settings, cure: str) -> list[Check]:
    try:
        return look(settings)
    except (FairlaneError, OSError, ImportError) as exc:
        return [Check(name, is_fine=False, found=str(exc) or type(exc).__name__, cure=cure)]


def _look_at_queue(settings: Settings) -> list[Check]:
    facts = inspector_of(settings).server_facts()
    version = facts.get("valkey_version") or facts.get("redis_version", "unknown")
    policy = facts.get("maxmemory_policy", "unknown")
    keeps = facts.get("aof_enabled") == "1"
    return [
        Check("queue", is_fine=True, found=f"answers, version {version}", cure=""),
        Check(
            "queue eviction",
            is_fine=policy == "noeviction",
            found=policy,
            cure="set maxmemory-policy noeviction: a full server must refuse new work, not forget accepted work",
        ),
        Check(
            "queue persistence",
            is_fine=keeps,
            found="append-only file" if keeps else "no append-only file",
            cure="set appendonly yes; without it `fairlane recover` is needed after every restart of the server",
        ),
    ]


def _look_at_workers(settings: Settings) -> list[Check]:
    workers = roster_of(settings).workers()
    served = {lane for worker in workers for lane in worker.get("queues", "").split(",")}
    unserved = [lane for lane in LANES if lane not in served]
    found = f"{len(workers)} alive" + (f", none serves {', '.join(unserved)}" if unserved else "")
    views = [WorkerView.of(worker, now_ms=0) for worker in workers]
    held = [view for view in views if view.state == "held"]
    return [Check("workers", is_fine=not unserved, found=found, cure=_START), *map(_held, held)]


def _held(worker: WorkerView) -> Check:
    name, found = f"worker {worker.hostname}:{worker.pid}", f"held: {'; '.join(worker.holds)}"
    return Check(name, is_fine=False, found=found, cure=_REST)


def _look_at_database(settings: Settings) -> list[Check]:
    steps = pending(connect(settings.effective_database_url))
    found = "reachable, " + (f"{len(steps)} migrations to be done" if steps else "up to date")
    return [Check("database", is_fine=not steps, found=found, cure="run `fairlane migrate`")]


def _look_at_keys(settings: Settings) -> list[Check]:
    database = connect(settings.effective_database_url)
    if pending(database):
        return []  # the check of the database says so
    bind(database)
    now_ms = SystemClock().now_ms()
    keys = ApiKeys(database, SystemClock()).all()
    good = sum(key.is_good(now_ms) for key in keys)
    is_here = is_loopback(settings.web_host)
    found = f"{good} valid of {len(keys)}" if keys else "none: every user of this machine may do everything"
    cure = f"no other machine is served: `fairlane key create NAME --role admin --site '{EVERY_SITE}'`"
    return [Check("keys", is_fine=bool(good) or (is_here and not keys), found=found, cure=cure)]


def _look_at_storage(settings: Settings) -> list[Check]:
    open_store(settings.effective_storage_url).check()
    return [Check("storage", is_fine=True, found="writable", cure="")]


def _look_at_engine(_: Settings) -> list[Check]:
    versions = [f"{name} {importlib.import_module(name).__version__}" for name in ("onnxruntime", "cv2")]
    importlib.import_module("rapidocr")
    return [Check("engine", is_fine=True, found="rapidocr, " + ", ".join(versions), cure="")]


def _look_at_words(settings: Settings) -> list[Check]:
    if pending(connect(settings.effective_database_url)):  # looking into it would make a file
        return [Check("words", is_fine=False, found="not known: see the database", cure="run `fairlane migrate`")]
    detector = lists_of(settings).detector(LOCAL_SITE, "")
    found = ", ".join(f"{source.name} ({len(source.lexicon)} words)" for source in detector.sources)
    return [Check("words", is_fine=True, found=found or "no list; requests may bring their own words", cure="")]
