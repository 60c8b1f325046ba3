"""`fairlane doctor` where workers, host, doors or settings are wrong: it names that, its cure, and nothing else."""

import resource
import shutil

import pytest

from models.base import connect
from models.migrate import migrate
from pipeline.cli import run
from pipeline.cli.checks import doors
from pipeline.clock import SystemClock
from pipeline.queue import Task, open_queue
from pipeline.settings import Settings
from tests.support.sound import Sound, only

pytestmark = pytest.mark.feature("H6")

MAC = "02aabbccddee"


def test_a_sound_set_up_is_all_green(sound: Sound) -> None:
    assert sound.faults() == {}
    assert {check["name"] for check in sound.report["checks"]} >= {
        *("queue", "queue eviction", "queue persistence", "queue fsync", "queue memory", "queue layout"),
        *("scheduler", "workers", "versions", "database", "database layout"),
        *("clock of the queue's server", "clock of the database's server"),
        *("keys", "webhook", "traces", "storage", "disk", "open files", "engine", "words"),
    }


def test_a_worker_without_its_engine_is_named(sound: Sound) -> None:
    sound.register(engine="none")

    found, cure = only(sound.faults(), "engine of worker h:7")

    assert "no engine" in found
    assert "`fairlane doctor` on h" in cure


def test_workers_of_another_version_are_named_with_their_hosts(sound: Sound) -> None:
    sound.register(pid="8", version="0.0.1")

    found, cure = only(sound.faults(), "versions")

    assert "0.0.1: h" in found
    assert "finish the upgrade" in cure


def test_work_that_no_live_worker_can_do_is_named(sound: Sound) -> None:
    sound.set(ocr_requires_gpu="true")
    open_queue(sound.settings).enqueue(Task("t1", "ocr", MAC, SystemClock().now_ms()))

    found, cure = only(sound.faults(), "lane ocr")

    assert found == "1 tasks wait and no live worker can do them"
    assert "FAIRLANE_OCR_REQUIRES_GPU=false" in cure


def test_a_lane_that_nobody_serves_is_named(sound: Sound) -> None:
    sound.register(queues="ocr,text")

    assert "--queues notify" in only(sound.faults(), "workers")[1]


def test_a_worker_that_is_held_is_named_with_its_reason(sound: Sound) -> None:
    sound.register(state="held", holds="memory over its watermark")

    found, cure = only(sound.faults(), "worker h:7")

    assert found == "held: memory over its watermark"
    assert "HIGH_WATERMARK" in cure


def test_a_missing_scheduler_is_named(sound: Sound) -> None:
    sound.client.delete("sensitive:watermark")

    assert "pipeline.scheduler" in only(sound.faults(), "scheduler")[1]


def test_an_open_address_without_a_key_is_named(sound: Sound) -> None:
    sound.set(web_bind="0.0.0.0:8000")

    found, cure = only(sound.faults(), "keys")

    assert "0.0.0.0:8000" in found
    assert "fairlane key create" in cure


def test_hosts_that_share_a_queue_and_no_database_are_named(sound: Sound) -> None:
    sound.set(database_url="", storage_url="")
    migrate(connect(sound.settings.effective_database_url))
    sound.register(hostname="other")

    found = sound.faults()

    assert set(found) == {"shared database", "shared storage"}
    assert "workers of h, other share the queue" in found["shared database"][0]


def test_traces_that_nobody_takes_are_named(sound: Sound) -> None:
    sound.set(traces_endpoint="http://user:sesame@127.0.0.1:1/v1/traces")

    found, cure = only(sound.faults(), "traces")

    assert "127.0.0.1:1 cannot be reached" in found
    assert "sesame" not in found + cure


def test_traces_without_their_extra_are_named(sound: Sound, monkeypatch: pytest.MonkeyPatch) -> None:
    sound.set(traces_endpoint="http://127.0.0.1:1/v1/traces")
    monkeypatch.setattr(doors, "is_extra_installed", lambda: False)

    found, cure = only(sound.faults(), "traces")

    assert "`otel` is not installed" in found
    assert "fairlane[otel]" in cure


def test_a_webhook_that_may_not_be_connected_to_is_named(sound: Sound) -> None:
    sound.set(webhook_url="https://localhost:9443/hits", webhook_secrets="whsec_" + "YWFh" * 10)

    found, cure = only(sound.faults(), "webhook")

    assert "localhost is at" in found
    assert "FAIRLANE_WEBHOOK_ALLOW_PRIVATE" in cure


def test_a_disk_that_is_nearly_full_is_named(sound: Sound) -> None:
    usage = type(shutil.disk_usage(sound.folder))
    sound.monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(100_000_000_000, 99_000_000_000, 1_000_000_000))

    found, cure = only(sound.faults(), "disk")

    assert "1.0 GB of 100.0 GB free" in found
    assert "make room" in cure


def test_too_few_open_files_are_named(sound: Sound) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (512, hard))
    try:
        found, cure = only(sound.faults(), "open files")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    assert "512" in found
    assert "LimitNOFILE" in cure


@pytest.mark.parametrize(
    ("env_file", "told"),
    [
        (b"FAIRLANE_RETRY_AFTE=3\n", "the nearest known one is FAIRLANE_RETRY_AFTER"),
        (b"FAIRLANE_WEB_THREADS=none\n", "FAIRLANE_WEB_THREADS: Input should be a valid integer"),
        (b"# fine\nset retry after to 3\n", "line 2 is no NAME=value"),
        (b"FAIRLANE_KEY_PREFIX=\xff\n", "is not UTF-8"),
    ],
)
def test_settings_that_cannot_be_read_are_named(sound: Sound, env_file: bytes, told: str) -> None:
    (sound.folder / ".env").write_bytes(env_file)

    found, cure = only(sound.faults(), "settings")

    assert told in found
    assert ".env" in cure


def test_an_env_file_that_may_not_be_read_is_named(sound: Sound) -> None:
    (sound.folder / ".env").mkdir()

    assert "cannot be read" in only(sound.faults(), "settings")[0]


def test_the_tables_for_people_say_every_setting_and_every_cure(
    sound: Sound, capsys: pytest.CaptureFixture[str]
) -> None:
    sound.client.delete("sensitive:watermark")

    assert run(["doctor"]) == 1

    out = capsys.readouterr().out
    assert "FAIRLANE_LEASE_SECONDS" in out
    assert "NO" in out
    assert "fairlane up" in out


def test_every_setting_is_shown_and_whether_it_was_set_but_no_password(sound: Sound) -> None:
    sound.set(database_url="postgresql://me:secret@127.0.0.1:9/name")

    sound.examine()

    rows = {row["name"]: row for row in sound.report["settings"]}
    assert len(rows) == len(Settings.model_fields)
    assert (rows["FAIRLANE_DATA_DIR"]["is_set"], rows["FAIRLANE_RETRY_AFTER"]["is_set"]) == (True, False)
    assert rows["FAIRLANE_DATABASE_URL"]["value"] == "postgresql://me:***@127.0.0.1:9/name"
    assert "secret" not in str(sound.report)
