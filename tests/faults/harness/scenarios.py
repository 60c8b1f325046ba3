"""The faults of a course, in the order in which they strike."""

import signal

from tests.faults.harness.dying import POINTS
from tests.faults.harness.fault import Fault
from tests.faults.harness.faults_database import BackendsKilled, DatabaseRestarted, SqliteLocked, TooManyConnections
from tests.faults.harness.faults_disks import DiskFull, ObjectLost
from tests.faults.harness.faults_messages import Crowd, Duplicated, GarbageAsked, GarbageQueued
from tests.faults.harness.faults_network import HTTP_500, WayDisturbed
from tests.faults.harness.faults_points import DiesAfter, DiesAfterEvicting
from tests.faults.harness.faults_processes import Frozen, Killed, Overtaken, Shifted, Slowed, engine, master, worker
from tests.faults.harness.faults_queue_server import Configured, Flushed, Loading, ReadOnly, Restarted, Stopped

_HOUR_S = 3_600


def processes() -> list[Fault]:
    return [
        Killed("kill web master", master("web")),
        Killed("kill web worker", worker("web")),
        Killed("kill scheduler", master("scheduler")),
        Killed("kill text worker", worker("text")),
        Killed("kill text master", master("text")),
        Killed("kill OCR worker", worker("ocr")),
        Killed("kill OCR master", master("ocr")),
        Killed("kill engine child", engine),
        Frozen("freeze text worker 3 leases", worker("text")),
        Frozen("freeze OCR worker 3 leases", worker("ocr")),
        Overtaken("OCR worker overtaken in its sleep"),
        Frozen("freeze scheduler 3 leases", master("scheduler")),
        Slowed("text worker 20 times slower", worker("text")),
        Shifted("scheduler an hour ahead", "scheduler", _HOUR_S),
        Shifted("scheduler an hour behind", "scheduler", -_HOUR_S),
        Shifted("text worker an hour ahead", "text", _HOUR_S),
        Shifted("text worker an hour behind", "text", -_HOUR_S),
    ]


def queue_server() -> list[Fault]:
    return [
        Restarted("Valkey SIGTERM"),
        Restarted("Valkey kill -9", how=signal.SIGKILL),
        Restarted("Valkey AOF tail cut", how=signal.SIGKILL, cut_bytes=20_000),
        Restarted("Valkey empty start", how=signal.SIGKILL, is_emptied=True),
        Flushed("Valkey FLUSHALL"),
        Stopped("Valkey SIGSTOP 30 s", hold_s=30),
        Stopped("Valkey SIGSTOP 75 s", hold_s=75),
        Configured("Valkey maxclients", "maxclients", "1", "10000", cuts=True, hold_s=5),
        Configured("Valkey maxmemory", "maxmemory", "1", "0", refusal="OOM", hold_s=5),
        ReadOnly("Valkey READONLY", hold_s=5),
        Loading("Valkey LOADING"),
    ]


def database() -> list[Fault]:
    return [
        DatabaseRestarted("PostgreSQL fast restart"),
        DatabaseRestarted("PostgreSQL immediate restart", how=signal.SIGQUIT),
        BackendsKilled("PostgreSQL backends killed"),
        TooManyConnections("PostgreSQL too many connections", hold_s=5),
    ]


def sqlite() -> list[Fault]:
    return [
        SqliteLocked("SQLite locked", hold_s=8),
        DiskFull("disk of SQLite full", "sqlite", hold_s=5),
    ]


def store() -> list[Fault]:
    return [
        WayDisturbed("store down", "store", "refuse", hold_s=5),
        WayDisturbed("store slow", "store", "slow", delay_s=2.0, hold_s=5),
        WayDisturbed("store says 500", "store", "answer", answer=HTTP_500, hold_s=5),
        ObjectLost("objects lost"),
    ]


def network() -> list[Fault]:
    servers = {"Valkey": "valkey", "PostgreSQL": "postgres", "store": "store"}
    return [
        WayDisturbed(f"replies of {name} swallowed", server, "swallow", hold_s=6) for name, server in servers.items()
    ]


def disks() -> list[Fault]:
    return [
        DiskFull("disk of the append-only file full", "valkey", hold_s=5),
        DiskFull("disk of PostgreSQL full", "postgres", is_fatal=True, hold_s=5),
        DiskFull("disk of the store full", "store", hold_s=5),
        DiskFull("disk of the logs full", "log", hold_s=5),
    ]


def messages() -> list[Fault]:
    return [
        Duplicated("duplicated messages"),
        GarbageAsked("garbage requests"),
        GarbageQueued("garbage in the queue", hold_s=4),
        Crowd("10,000 devices at once"),
    ]


def points() -> list[Fault]:
    evicting = "oldest evicted"
    return [DiesAfter(name) for name in POINTS if name != evicting] + [DiesAfterEvicting(evicting)]


def all_faults(*, on_sqlite: bool = False) -> list[Fault]:
    """Every fault once, kinds in turns, so that no process is killed so often that its runner makes it wait.

    Args:
        on_sqlite: those of a house whose ledger is a file; PostgreSQL stands idle there.
    """
    ledgers = sqlite() if on_sqlite else database()
    kinds = [processes(), queue_server(), ledgers, points(), store(), network(), disks(), messages()]
    if on_sqlite:
        kinds = [[fault for fault in kind if "PostgreSQL" not in fault.name] for kind in kinds]
    longest = max(map(len, kinds))
    return [kind[index] for index in range(longest) for kind in kinds if index < len(kind)]


#: Of each kind some, so that all of them take less than a quarter of an hour on two quiet cores.
_SHORT = (
    *("kill web master", "kill scheduler", "kill text worker", "kill OCR master", "kill engine child"),
    *("freeze text worker 3 leases", "OCR worker overtaken in its sleep"),
    *("text worker 20 times slower", "scheduler an hour ahead"),
    *("Valkey AOF tail cut", "Valkey empty start", "Valkey FLUSHALL"),
    *("Valkey SIGSTOP 30 s", "Valkey maxclients", "Valkey maxmemory", "Valkey READONLY"),
    *("PostgreSQL immediate restart", "PostgreSQL backends killed", "PostgreSQL too many connections"),
    *("row committed", "result written, not acked", "announcement heard"),
    *("store down", "objects lost", "replies of Valkey swallowed", "replies of PostgreSQL swallowed"),
    *("disk of the append-only file full", "disk of PostgreSQL full", "disk of the logs full"),
    *("duplicated messages", "garbage requests", "garbage in the queue", "10,000 devices at once"),
)


#: The same with the ledger in SQLite, where what matters is what happens between its writers and to its file.
_SHORT_ON_SQLITE = (
    *("kill web worker", "kill scheduler", "kill text worker", "kill OCR master", "freeze OCR worker 3 leases"),
    *("SQLite locked", "disk of SQLite full", "Valkey FLUSHALL"),
    *("row committed", "result written, not acked", "texts written, not acked", "10,000 devices at once"),
)


def short_course(*, on_sqlite: bool = False) -> list[Fault]:
    """The faults of `make test-faults`."""
    names = _SHORT_ON_SQLITE if on_sqlite else _SHORT
    return [fault for fault in all_faults(on_sqlite=on_sqlite) if fault.name in names]
