"""What a server says of its own work: the commands that it carried out, with what arguments, and the core's time."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import redis

#: Carried out for the measurement, not for the operation.
_OURS = {"config|resetstat", "fcall", "function|load", "evalsha", "eval", "info", "ping"}
_WORD = re.compile(rb'"((?:[^"\\]|\\.)*)"')

Command = list[bytes]


class ServerStatistics:
    """The statistics of one server that nobody else uses meanwhile."""

    def __init__(self, client: redis.Redis) -> None:
        self._client = client

    def commands_of(self, call: Callable[[], object]) -> Counter[str]:
        """Make the call; return the Redis commands that its scripts carried out."""
        self._client.config_resetstat()
        call()
        stats = self._client.info("commandstats")
        calls = {name.removeprefix("cmdstat_"): int(stat["calls"]) for name, stat in stats.items()}
        return Counter({name: count for name, count in calls.items() if name not in _OURS})

    def script_us(self) -> float:
        """Return the time spent in scripts so far, ours or others, microseconds."""
        stats = self._client.info("commandstats")
        return sum(float(stats[name]["usec"]) for name in ("cmdstat_fcall", "cmdstat_evalsha") if name in stats)

    def core_us(self) -> float:
        """Return the processor time of the core that carries out commands so far, microseconds: reading and parsing
        them, carrying them out, answering.
        """
        usage = self._client.info("cpu")
        return 1e6 * (float(usage["used_cpu_user_main_thread"]) + float(usage["used_cpu_sys_main_thread"]))

    @contextmanager
    def recording(self) -> Iterator[list[list[Command]]]:
        """Record what the scripts called in the block carry out; the list is filled when the block ends.

        Yields: for each script call its commands, in their order.
        """
        recorded: list[list[Command]] = []
        with self._client.monitor() as monitor:  # type: ignore[no-untyped-call]
            yield recorded
            self._client.echo("recorded")
            while b'"ECHO"' not in (line := monitor.connection.read_response()):
                if b" lua] " in line:
                    recorded[-1].append([_bytes_of(word) for word in _WORD.findall(line)])
                elif b'"FCALL"' in line or b'"EVAL' in line:
                    recorded.append([])


def _bytes_of(escaped: bytes) -> bytes:
    return escaped.decode("unicode_escape").encode("latin-1")
