"""The cases of `tests/data/bad_inputs.json` in which a part is down or full, on servers and parts of their own."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psutil
import psycopg2
import pytest
import redis
from PIL import Image

import models.base
from models.migrate import migrate
from pipeline.clock import SystemClock
from tests.support.bad_inputs import Expected, expected, raw_request
from tests.support.databases import close_all
from tests.support.own_servers import started_postgres, started_valkey
from tests.support.pictures import encoded
from tests.support.processes import wait_until
from tests.support.servers import S3_CREDENTIALS, Server, start_s3
from tests.support.uploads import FORM, MAC_PART, form, part
from tests.support.watched import Watched, assert_answer, header
from tests.support.web_server import WebServer, problem, status

#: How soon a client must know that Redis is silent, ms.
ANSWER_MS = 2_000
#: More bytes than a disk that is full takes.
IMAGE = encoded(Image.effect_noise((400, 400), 90))


@pytest.fixture(scope="module")
def own_valkey() -> Iterator[Server]:
    with started_valkey() as server:
        yield server


@pytest.fixture
def own_postgres() -> Iterator[Server]:
    with started_postgres() as server:
        yield server


@pytest.fixture(scope="module")
def watched_of(server_of: Callable[..., WebServer], valkey_url: str) -> Callable[..., Watched]:
    """Start a server with some settings of its own, which serves."""

    def start(rows: Callable[[], int] | None = None, **settings: str | int) -> Watched:
        server = server_of(**settings)
        watched = Watched(server, str(settings.get("redis_url", valkey_url)), rows=rows)
        watched.assert_serves()
        return watched

    return start


@pytest.fixture(scope="module")
def watched(own_valkey: Server, watched_of: Callable[..., Watched]) -> Watched:
    """With a Valkey and a disk that a test may stop or fill, and gives back as they were."""
    return watched_of(redis_url=own_valkey.url)


def post_image(watched: Watched) -> bytes:
    return watched.server.say(raw_request("POST", "/api/ocr/image", FORM, form(MAC_PART, part("file", IMAGE))))


@contextmanager
def nothing_kept(watched: Watched) -> Iterator[None]:
    """Whatever is answered inside, no process, row, key or object comes or goes; and then the next one is served."""
    pids, before = watched.pids(), watched.traces()
    yield
    assert watched.traces() == before
    wait_until(lambda: status(watched.submit()) == 202)
    assert watched.pids() == pids


def assert_come_later(watched: Watched, wanted: Expected, answer: bytes) -> None:
    assert_answer(watched.server, wanted, answer)
    assert int(header(answer, "Retry-After")) == problem(answer)["retry_after"]


@pytest.mark.feature("Q4")
def test_above_the_limit_of_the_whole_service(watched_of: Callable[..., Watched]) -> None:
    watched = watched_of(max_total_pending=3, max_per_mac_pending=3)
    for _ in range(2):
        watched.assert_serves()
    pids, before = watched.pids(), watched.traces()
    assert_come_later(watched, expected("global_high_watermark"), watched.submit())
    assert watched.traces() == before
    assert watched.pids() == pids


def test_while_redis_is_stopped(own_valkey: Server, watched: Watched) -> None:
    clock = SystemClock()
    pids, rows, in_line = watched.pids(), watched.server.accepted(), tasks_in_line(own_valkey, watched)
    process = psutil.Process(own_valkey.process.pid)
    process.suspend()
    try:
        began_ms = clock.monotonic_ms()
        answer = watched.submit(**{"Idempotency-Key": "once"})
        assert clock.monotonic_ms() - began_ms < ANSWER_MS
    finally:
        process.resume()
    assert_answer(watched.server, expected("redis_paused"), answer)
    wait_until(lambda: status(watched.submit(**{"Idempotency-Key": "once"})) == 202)
    assert watched.server.accepted() == rows + 1
    assert tasks_in_line(own_valkey, watched) == in_line + 1
    assert watched.pids() == pids


def tasks_in_line(valkey: Server, watched: Watched) -> int:
    with redis.Redis.from_url(valkey.url) as client:
        return sum(1 for _ in client.scan_iter(f"{watched.server.folder.name}:task:*"))


def test_while_redis_has_no_memory(own_valkey: Server, watched: Watched) -> None:
    with nothing_kept(watched), redis.Redis.from_url(own_valkey.url) as client:
        client.config_set("maxmemory", 1)
        answer = watched.submit()
        client.config_set("maxmemory", 0)
        assert_come_later(watched, expected("redis_oom"), answer)


def test_while_postgresql_is_down(own_postgres: Server, watched_of: Callable[..., Watched]) -> None:
    database = models.base.connect(own_postgres.url)
    migrate(database)
    close_all(database)

    def rows() -> int:
        with closing(psycopg2.connect(own_postgres.url)) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT COUNT(*) FROM task")
            return int((cursor.fetchone() or [0])[0])

    watched = watched_of(rows, database_url=own_postgres.url)
    with nothing_kept(watched):
        own_postgres.stop()
        answer = watched.submit()
        own_postgres.start()
        assert_come_later(watched, expected("postgres_down"), answer)


def test_while_the_object_store_is_down(
    tmp_path: Path, watched_of: Callable[..., Watched], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in S3_CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    store = start_s3(tmp_path)
    watched = watched_of(storage_url=f"s3://images/?endpoint={store.url}&region=us-east-1")
    assert status(post_image(watched)) == 202
    with nothing_kept(watched):
        store.stop()
        assert_come_later(watched, expected("storage_down_image"), post_image(watched))
    assert_answer(watched.server, expected("storage_down_text"), watched.submit())
    store.start()
    wait_until(lambda: status(post_image(watched)) == 202)
    store.stop()


def test_while_the_disk_of_the_images_is_full(watched: Watched) -> None:
    with nothing_kept(watched), full_disk(watched, len(IMAGE) // 2):
        assert_come_later(watched, expected("disk_full"), post_image(watched))
    assert status(post_image(watched)) == 202


def test_while_the_disk_of_the_database_is_full(watched: Watched) -> None:
    path = watched.server.folder / "fairlane.db"
    with closing(sqlite3.connect(path)) as reader:
        reader.execute("SELECT COUNT(*) FROM task").fetchone()  # so that the write-ahead log stays
        wal = path.with_name(f"{path.name}-wal")
        # Longer than the program's own log, which is to be written on.
        while not wal.exists() or wal.stat().st_size < 2 * watched.server.log.stat().st_size:
            watched.assert_serves()
        written_ahead = wal.stat().st_size
        with nothing_kept(watched), full_disk(watched, written_ahead):
            assert_come_later(watched, expected("disk_full"), watched.submit())


@contextmanager
def full_disk(watched: Watched, limit_bytes: int) -> Iterator[None]:
    """Let the server's workers write no byte of a file beyond this, as on a disk that has no room."""
    workers = psutil.Process(watched.server.process.pid).children()
    for worker in workers:
        worker.rlimit(psutil.RLIMIT_FSIZE, (limit_bytes, psutil.RLIM_INFINITY))
    yield
    for worker in workers:
        worker.rlimit(psutil.RLIMIT_FSIZE, (psutil.RLIM_INFINITY, psutil.RLIM_INFINITY))
