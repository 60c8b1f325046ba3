"""`fairlane doctor` on servers that are sound but for one thing: it names that thing, its cure, and nothing else."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from models.base import connect
from models.migrate import revert
from pipeline.clock import SystemClock
from pipeline.queue import open_roster
from tests.support.clusters import started_cluster
from tests.support.databases import close_all, execute
from tests.support.own_servers import started_s3
from tests.support.servers import S3_CREDENTIALS, Server
from tests.support.sound import Sound, only

pytestmark = pytest.mark.feature("H6")


@pytest.fixture(scope="module")
def s3() -> Iterator[Server]:
    with started_s3() as server:
        yield server


def test_a_server_that_evicts_is_named(sound: Sound) -> None:
    sound.client.config_set("maxmemory-policy", "allkeys-lru")

    found, cure = only(sound.faults(), "queue eviction")

    assert found == "allkeys-lru"
    assert "maxmemory-policy noeviction" in cure


def test_a_server_without_its_append_only_file_is_named(sound: Sound) -> None:
    sound.client.config_set("appendonly", "no")

    assert "appendonly yes" in only(sound.faults(), "queue persistence")[1]


def test_a_server_that_never_syncs_is_named_and_one_that_always_does_noted(sound: Sound) -> None:
    sound.client.config_set("appendfsync", "no")
    assert "appendfsync everysec" in only(sound.faults(), "queue fsync")[1]

    sound.client.config_set("appendfsync", "always")
    assert sound.faults() == {}
    (note,) = [check for check in sound.report["checks"] if check["name"] == "queue fsync"]
    assert "everysec" in note["cure"]


def test_a_server_that_keeps_each_task_in_a_large_form_is_noted(sound: Sound) -> None:
    assert sound.faults() == {}

    (note,) = [check for check in sound.report["checks"] if check["name"] == "queue form"]
    assert note["found"] == "hash-max-listpack-value 64, zset-max-listpack-value 64"


def test_a_server_near_its_memory_limit_is_named(sound: Sound) -> None:
    used: Any = sound.client.info("memory")
    sound.client.config_set("maxmemory", int(used["used_memory"] * 1.1))

    found, cure = only(sound.faults(), "queue memory")

    assert "%)" in found
    assert "raise maxmemory" in cure


def test_a_replica_is_named(sound: Sound) -> None:
    sound.client.replicaof("127.0.0.1", "1")

    found = sound.faults()

    assert "name the master" in found["queue role"][1]


def test_a_node_of_a_cluster_that_is_named_as_one_server_is_told(sound: Sound) -> None:
    with tempfile.TemporaryDirectory() as folder, started_cluster(Path(folder)) as cluster:
        sound.set(redis_url=cluster.nodes[0].url)
        as_one = sound.faults()
        sound.set(redis_url=cluster.url, queue_shards=6)
        open_roster(sound.settings).begin_epoch()
        sound.register()
        sound.publish()
        as_cluster = sound.faults()

    assert "redis+cluster://" in as_one["queue address"][1]
    assert set(as_cluster) == {"queue persistence"}, "the nodes of the tests keep nothing; else all is well"


def test_data_of_more_shards_than_the_settings_say_are_named(sound: Sound) -> None:
    sound.set(queue_shards=4)
    open_roster(sound.settings).begin_epoch()
    sound.register()
    sound.publish()
    assert sound.faults() == {}

    sound.set(queue_shards=2)

    found, cure = only(sound.faults(), "queue layout")
    assert found == "FAIRLANE_QUEUE_SHARDS is 2, and data of at least 4 shards are stored"
    assert "set it as it was" in cure


def test_data_without_shards_are_named_when_the_settings_want_some(sound: Sound) -> None:
    open_roster(sound.settings).begin_epoch()
    sound.set(queue_shards=2)
    sound.register()
    sound.publish()

    assert "data without shards" in only(sound.faults(), "queue layout")[0]


def test_a_server_that_forbids_a_look_is_not_said_to_be_gone(sound: Sound) -> None:
    sound.client.acl_setuser(
        "limited", enabled=True, passwords=["+pw"], keys=["sensitive:*"], categories=["+@all"], channels=["*"]
    )
    socket = str(sound.client.connection_pool.connection_kwargs["path"])
    sound.set(redis_url=f"unix://limited:pw@{socket}")

    found, _ = only(sound.faults(), "queue layout")

    assert "permission" in found.lower()


def test_clocks_that_differ_are_named(sound: Sound) -> None:
    true_now = SystemClock.now_ms
    sound.monkeypatch.setattr(SystemClock, "now_ms", lambda self: true_now(self) + 20_000)

    found = sound.faults()

    assert set(found) == {"clock of the queue's server", "clock of the database's server"}
    assert found["clock of the database's server"][0].startswith("20.0 s behind")
    assert "NTP" in found["clock of the queue's server"][1]


def test_the_clock_of_a_workers_host_is_compared_too(sound: Sound) -> None:
    sound.register(last_heartbeat=str(SystemClock().now_ms() + 40_000))

    found, cure = only(sound.faults(), "clock of worker h:7")

    assert "ahead" in found
    assert "clock of h" in cure


def test_a_missing_index_is_named(sound: Sound) -> None:
    execute(sound.database_url, "DROP INDEX task_open; DROP INDEX dead_letter_mac")

    found, cure = only(sound.faults(), "database layout")

    assert found == "missing: index dead_letter_mac, index task_open"
    assert "models/migrations/" in cure


def test_a_missing_migration_is_named(sound: Sound) -> None:
    database = connect(sound.database_url)
    (newest,) = revert(database)
    close_all(database)

    found = sound.faults()

    assert newest in found["database"][0]
    assert "`fairlane migrate`" in found["database"][1]


def test_a_database_of_a_newer_fairlane_is_named(sound: Sound) -> None:
    execute(sound.database_url, "INSERT INTO schema_migration (name, applied) VALUES ('9999_later', now())")

    found, cure = only(sound.faults(), "database")

    assert "9999_later" in found
    assert "upgrade.md" in cure


def test_a_storage_folder_that_cannot_be_made_is_named(sound: Sound) -> None:
    (sound.folder / "file").write_text("")
    sound.set(storage_url=sound.folder / "file" / "objects")

    assert "FAIRLANE_STORAGE_URL" in only(sound.faults(), "storage")[1]


@pytest.mark.parametrize(("bucket", "key"), [("no-such-bucket", "AKIDFAIRLANE"), ("images", "AKIDOTHER")])
def test_a_bucket_that_takes_nothing_is_named(sound: Sound, s3: Server, bucket: str, key: str) -> None:
    for name, value in {**S3_CREDENTIALS, "AWS_ACCESS_KEY_ID": key}.items():
        sound.monkeypatch.setenv(name, value)
    sound.set(storage_url=f"s3://{bucket}/x?endpoint={s3.url}&region=us-east-1")

    assert bucket in only(sound.faults(), "storage")[0]


def test_servers_that_are_gone_are_named_once_each_and_everything_else_is_looked_at(sound: Sound) -> None:
    sound.set(redis_url="unix:///nowhere/valkey.sock", database_url="postgresql://me:secret@127.0.0.1:9/none")
    sound.set(words_file=sound.folder / "none.txt")

    found = sound.faults()

    assert "check FAIRLANE_REDIS_URL" in found["queue"][1]
    assert "check FAIRLANE_DATABASE_URL" in found["database"][1]
    assert {name for name, (told, _) in found.items() if told.startswith("not known")} == {
        *("queue layout", "scheduler", "workers", "clocks", "keys", "words"),
    }
    assert "secret" not in str(sound.report)
    assert any(check["name"] == "storage" and check["is_fine"] for check in sound.report["checks"])
