"""What an idle queue may leave in Redis: what `pipeline/queue/keys.py` declares to stay, and what goes by itself."""

import inspect
import re
from collections.abc import Iterator

from pipeline.queue.keys import Keys
from tests.faults.harness.house import House

#: Declared keys that stay without a time to live while nothing waits; all are one for a lane or for all.
_LASTING = {"epoch", "lane", "global_pending", "dead_letter", "workers", "bell", "wake", "counters", "paused"}
#: Declared keys that may only be there while something waits or runs.
_BUSY = {"line", "schedule", "sites", "oldest", "oldest_of", "leases", "delayed", "backoff", "expiry", "overloaded"}
#: Keys of one page of the walk.
_PAGE = 1_000


def patterns(prefix: str) -> dict[str, re.Pattern[str]]:
    """For each declared kind of key, what its names look like."""
    keys, found = Keys(prefix), {}
    for name, make in inspect.getmembers(Keys, inspect.isfunction):
        if not name.startswith("_"):
            blanks = ["\0"] * (len(inspect.signature(make).parameters) - 1)
            found[name] = re.compile(re.escape(make(keys, *blanks)).replace("\\\0", ".+").replace("\0", ".+"))
    return found


def strange_keys(house: House) -> Iterator[str]:
    """The keys of the server that nobody declared, or that stay though nothing waits."""
    kinds = patterns(house.settings.key_prefix)
    with house.servers.valkey_client() as client:
        for raw in client.scan_iter(count=_PAGE):
            name = raw.decode(errors="replace")
            owners = {kind for kind, pattern in kinds.items() if pattern.fullmatch(name)}
            if not owners:
                yield f"key {name} belongs to nobody"
            elif owners <= _BUSY and client.exists(raw):
                yield f"key {name} is there while nothing waits"
            elif not owners & _LASTING and client.ttl(raw) == -1:
                yield f"key {name} has no time to live"
