"""What a server makes of the web process: `make bench-web`, or `--tiny`.

Accepted tasks a second and p99 for texts and for images of 200 kB, on SQLite and on PostgreSQL, eight clients that keep
their connections; CPU of the server for each; then the p99 of one healthy client beside slow heads, slow bodies and
silent connections. The clients run on the same cores, so that rates compare servers and are no limit of any.
"""

import argparse
import json
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import redis

import models.base
from benchmarks.printing import machine, spread, table
from benchmarks.raw_http import answer, request
from benchmarks.web_servers import Candidate, Served, candidates, served
from models.migrate import migrate
from pipeline.settings import Settings
from tests.support.databases import close_all, made_database
from tests.support.own_servers import started_postgres, started_valkey
from tests.support.pictures import png_chunk, png_of_size

_IMAGE_BYTES = 200_000


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured.

    Args:
        clients: that send at once.
        seconds: of one round.
        slow: connections of each slow kind, and ten times as many silent ones.
    """

    clients: int = 8
    seconds: float = 5.0
    rounds: int = 3
    slow: int = 50


TINY = Plan(clients=2, seconds=0.3, rounds=1, slow=2)


def run(plan: Plan) -> Iterator[str]:
    """Measure; give each piece of the report as soon as it is there."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fairlane-bench-")))
        valkey = stack.enter_context(started_valkey())
        client = stack.enter_context(redis.Redis.from_url(valkey.url))
        postgres = stack.enter_context(started_postgres())
        postgres_url = stack.enter_context(made_database(postgres.url))
        yield machine(str(client.info("server").get("valkey_version", "unknown"))) + "\n"
        databases = {"SQLite": f"sqlite:///{folder / 'fairlane.db'}", "PostgreSQL": postgres_url}
        for url in databases.values():
            database = models.base.connect(url)
            migrate(database)
            close_all(database)
        rows, slow = [], []
        for name, url in databases.items():
            for candidate in candidates():
                with served(candidate, folder, _settings(folder, valkey.url, url)) as server:
                    rows += [_loaded(plan, server, name, candidate, kind, client) for kind in ("text", "image")]
                    if name == "SQLite":
                        slow.append(_beside_slow(plan, server, candidate))
        yield table(["database", "server", "task", "accepted/s", "p50 ms", "p99 ms", "CPU us"], rows)
        yield ""
        yield table(["server", "answered beside slow clients", "worst ms"], slow)


def _settings(folder: Path, redis_url: str, database_url: str) -> Settings:
    return Settings(
        _env_file=None,
        data_dir=folder,
        redis_url=redis_url,
        database_url=database_url,
        max_total_pending=10**7,
        max_per_mac_pending=10**6,
        log_level="WARNING",
    )


def _loaded(
    plan: Plan, server: Served, database: str, candidate: Candidate, kind: str, client: redis.Redis
) -> list[str]:
    request = _text() if kind == "text" else _image()
    _measure(1, 0.3, server.port, request)
    rates, cpu_us, waits_ms = [], [], []
    for _ in range(plan.rounds):
        client.flushall()
        before_s, began = server.cpu_s(), perf_counter()
        times = _measure(plan.clients, plan.seconds, server.port, request)
        rates.append(len(times) / (perf_counter() - began))
        cpu_us.append((server.cpu_s() - before_s) / len(times) * 1e6)
        waits_ms += [seconds * 1000 for seconds in times]
    waits_ms.sort()
    p50, p99 = (waits_ms[int(len(waits_ms) * part)] for part in (0.5, 0.99))
    return [database, candidate.name, kind, spread(rates), f"{p50:.1f}", f"{p99:.1f}", spread(cpu_us)]


def _measure(clients: int, seconds: float, port: int, request: bytes) -> list[float]:
    """The seconds of each request of clients that send one after the other; all must be accepted."""
    times: list[float] = []
    faults: list[bytes] = []

    def send() -> None:
        ends = perf_counter() + seconds
        with socket.create_connection(("127.0.0.1", port)) as connection:
            while (began := perf_counter()) < ends:
                connection.sendall(request)
                head = answer(connection)
                times.append(perf_counter() - began)
                if b" 202 " not in head[:20]:
                    faults.append(head[:200])
                    return

    threads = [threading.Thread(target=send) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults, faults[0]
    return times


def _beside_slow(plan: Plan, server: Served, candidate: Candidate) -> list[str]:
    """Twenty healthy requests, a second each at most, while the slow ones are there."""
    head = b"POST /api/ocr/text HTTP/1.1\r\nHost: localhost\r\n"
    body = head + b"Content-Type: application/json\r\nContent-Length: 10000\r\n\r\n{"
    times = []
    with _held(server.port, [head] * plan.slow + [body] * plan.slow + [b""] * plan.slow * 10):
        for _ in range(20):
            began = perf_counter()
            try:
                with socket.create_connection(("127.0.0.1", server.port), timeout=1) as connection:
                    connection.sendall(_text())
                    answer(connection)
            except OSError:
                continue
            times.append((perf_counter() - began) * 1000)
    return [candidate.name, f"{len(times)} of 20", f"{max(times):.0f}" if times else "-"]


@contextmanager
def _held(port: int, beginnings: list[bytes]) -> Iterator[None]:
    with ExitStack() as stack:
        for beginning in beginnings:
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            connection.sendall(beginning)
        yield


def _text() -> bytes:
    body = json.dumps({"mac": "aabbccddeeff", "text": "a few words that somebody wrote " * 6}).encode()
    return request("/api/ocr/text", "application/json", body)


def _image() -> bytes:
    filler = png_chunk(b"teXt", bytes(_IMAGE_BYTES - 400))
    body = png_of_size(400, 300, filler)
    return request("/api/ocr/image?mac=aabbccddeeff", "image/png", body)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tiny", action="store_true", help="a moment each: says that it works, not more")
    for piece in run(TINY if parser.parse_args().tiny else Plan()):
        print(piece, flush=True)


if __name__ == "__main__":
    main()
