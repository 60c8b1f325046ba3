"""The Redis or Valkey server: its version, and whether it forgets, evicts, or holds the data of another layout."""

from pipeline.cli.checks.finding import Check, fine, note, wrong
from pipeline.cli.wiring import inspector_of
from pipeline.queue import StoredLayout, fact_numbers, fact_values, find_layout, has_shards
from pipeline.queue.addresses import is_cluster
from pipeline.settings import Settings

#: The oldest Redis the scripts run on; every Valkey tells a compatible version of 7.2.
_OLDEST_REDIS = (7, 0)

#: Bytes that the entry of a task in its device's line may have, with an id of our own making (docs/why/scale.md).
_ENTRY_BYTES = 70

#: Percent of maxmemory from which on it is nearly full.
_NEARLY_FULL = 80

_LAYOUT_CURE = (
    "set it as it was; to change it stop every process, empty the queue (FLUSHDB, or another FAIRLANE_KEY_PREFIX) and "
    "start again: the scheduler rebuilds the lines from the database"
)

#: A fact of one server is one word, of a Cluster one for each of its nodes that differ.
Facts = dict[str, str]


def look_at_queue(settings: Settings) -> list[Check]:
    facts = inspector_of(settings).server_facts(with_config=True)
    return judged(facts, is_cluster_url=is_cluster(settings.effective_redis_url))


def look_at_layout(settings: Settings) -> list[Check]:
    return [layout_check(find_layout(settings), settings.queue_shards if has_shards(settings) else None)]


def judged(facts: Facts, *, is_cluster_url: bool) -> list[Check]:
    """What the server tells of itself, judged; what it does not tell is left out."""
    checks = [_version(facts), _eviction(facts), _persistence(facts), _sync(facts), _memory(facts), _role(facts)]
    checks.append(_compactness(facts))
    if not is_cluster_url and "1" in fact_values(facts, "cluster_enabled"):
        url = "redis+cluster://host:port,..."
        checks.append(wrong("queue address", "a node of a Cluster", f"set FAIRLANE_REDIS_URL to {url}"))
    return [check for check in checks if check]


def layout_check(stored: StoredLayout, count: int | None) -> Check:
    """Whether the data lie where the settings look for them.

    Args:
        count: of shards; None for the layout without.
    """
    name, said = "queue layout", f"FAIRLANE_QUEUE_SHARDS is {count or 1}"
    beyond = sorted(shard for shard in stored.shards if count is None or shard >= count)
    if stored.is_plain and count is not None:
        return wrong(name, f"{said}, and data without shards are stored", _LAYOUT_CURE)
    if beyond:
        return wrong(name, f"{said}, and data of at least {beyond[-1] + 1} shards are stored", _LAYOUT_CURE)
    missing = sorted(set(range(count or 0)) - stored.shards)
    if missing and stored.shards:
        return wrong(name, f"{said}, and only {len(stored.shards)} are stored", _LAYOUT_CURE)
    begun = stored.is_plain or stored.shards
    return fine(name, f"{count or 'no'} shards" if begun else "nothing is stored yet")


def _version(facts: Facts) -> Check:
    if versions := fact_values(facts, "valkey_version"):
        return fine("queue", f"answers, Valkey {', '.join(versions)}")
    versions = fact_values(facts, "redis_version")
    found = f"answers, Redis {', '.join(versions) or 'of unknown version'}"
    if any(_numbers(version) < _OLDEST_REDIS for version in versions):
        return wrong("queue", found, "upgrade the server to Redis 7 or any Valkey")
    return fine("queue", found)


def _eviction(facts: Facts) -> Check:
    policies = fact_values(facts, "maxmemory_policy") or ["unknown"]
    if policies == ["noeviction"]:
        return fine("queue eviction", "noeviction")
    cure = "set maxmemory-policy noeviction: a full server must refuse new work, not forget accepted work"
    return wrong("queue eviction", ", ".join(policies), cure)


def _persistence(facts: Facts) -> Check:
    name = "queue persistence"
    if fact_values(facts, "aof_enabled") != ["1"]:
        cure = "set appendonly yes; without it `fairlane recover` is needed after every restart of the server"
        return wrong(name, "no append-only file", cure)
    if "err" in fact_values(facts, "aof_last_write_status"):
        return wrong(name, "the last write to the append-only file failed", "see the server's log and its free space")
    return fine(name, "append-only file")


def _sync(facts: Facts) -> Check | None:
    name, ways = "queue fsync", fact_values(facts, "appendfsync")
    if "no" in ways:
        cure = "set appendfsync everysec: the system writes when it likes, so a power cut costs up to 30 s of the queue"
        return wrong(name, "appendfsync no", cure)
    if "always" in ways:
        advice = "appendfsync everysec is much quicker, and enough: the database has every accepted task"
        return note(name, "appendfsync always", advice)
    return fine(name, f"appendfsync {ways[0]}") if ways else None


def _memory(facts: Facts) -> Check | None:
    limit_bytes = min(filter(None, fact_numbers(facts, "maxmemory")), default=0)
    used_bytes = max(fact_numbers(facts, "used_memory"), default=0)
    if not limit_bytes:
        return fine("queue memory", f"{_mb(used_bytes)} used, no maxmemory")
    percent = 100 * used_bytes // limit_bytes
    found = f"{_mb(used_bytes)} of {_mb(limit_bytes)} used ({percent} %)"
    if percent < _NEARLY_FULL:
        return fine("queue memory", found)
    return wrong("queue memory", found, "raise maxmemory, or lower FAIRLANE_MAX_TOTAL_PENDING: full, it refuses work")


def _compactness(facts: Facts) -> Check | None:
    least = {
        f"{kind}-max-listpack-value": min(fact_numbers(facts, f"{kind}-max-listpack-value"), default=128)
        for kind in ("hash", "zset")
    }
    small = [f"{name} {value}" for name, value in least.items() if value < _ENTRY_BYTES]
    if not small:
        return None
    return note("queue form", ", ".join(small), "set both to 128: a waiting task takes 0.6 kB then instead of 1.5 kB")


def _role(facts: Facts) -> Check | None:
    if {"slave", "replica"} & set(fact_values(facts, "role")):
        cure = "let FAIRLANE_REDIS_URL name the master, or Sentinels that know it (redis+sentinel://host:port/service)"
        return wrong("queue role", "a replica, which takes no writes", cure)
    return None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdecimal())


def _mb(size_bytes: int) -> str:
    return f"{size_bytes / 1_000_000:.1f} MB"
