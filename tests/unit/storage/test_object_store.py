"""The object store on a folder: whole objects or none, typed errors, keys that cannot leave it."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pipeline.errors import ConfigurationError, ObjectMissing, StorageUnavailable
from pipeline.storage import ObjectStore, audit_key, image_key, open_store

KEY = "images/2025/10/09/t1"


@pytest.mark.feature("R1")
def test_what_was_put_is_got(store: ObjectStore) -> None:
    assert not store.exists(KEY)

    store.put(KEY, b"\x00first")
    store.put(KEY, b"second")

    assert store.exists(KEY)
    assert store.get(KEY) == b"second"


def test_an_empty_object_is_an_object(store: ObjectStore) -> None:
    store.put(KEY, b"")

    assert store.exists(KEY)
    assert store.get(KEY) == b""


def test_a_missing_object_is_missing(store: ObjectStore) -> None:
    with pytest.raises(ObjectMissing):
        store.get(KEY)
    with pytest.raises(ObjectMissing):
        store.copy(KEY, "audit/2025/10/09/t1")


def test_delete_is_done_when_the_object_is_gone(store: ObjectStore) -> None:
    store.put(KEY, b"image")

    store.delete(KEY)
    store.delete(KEY)

    assert not store.exists(KEY)


@pytest.mark.feature("R4")
def test_copy_leaves_the_source(store: ObjectStore) -> None:
    store.put(KEY, b"image")
    store.put("audit/2025/10/09/t1", b"older")

    store.copy(KEY, "audit/2025/10/09/t1")

    assert store.get(KEY) == store.get("audit/2025/10/09/t1") == b"image"


def test_the_folder_is_made_on_first_use_for_this_user_alone(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "objects"
    store = open_store(str(folder))
    assert not folder.exists()

    store.check()

    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [path for path in folder.rglob("*") if path.is_file()] == []


def test_a_reader_never_sees_a_part(store: ObjectStore) -> None:
    contents = [bytes([number]) * 200_000 for number in range(8)]
    store.put(KEY, contents[0])

    def read(_: int) -> bytes:
        return store.get(KEY)

    with ThreadPoolExecutor(8) as threads:
        writes = [threads.submit(store.put, KEY, content) for content in contents * 4]
        reads = list(threads.map(read, range(64)))
        for write in writes:
            write.result()

    assert set(reads) <= set(contents)


def test_a_missing_folder_does_not_make_its_objects_missing(tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "objects"))
    store.put(KEY, b"image")
    (tmp_path / "objects").rename(tmp_path / "unmounted")

    for call in (lambda: store.get(KEY), lambda: store.copy(KEY, "b"), lambda: store.exists(KEY)):
        with pytest.raises(StorageUnavailable):
            call()


def test_a_folder_that_cannot_be_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    for url in (str(tmp_path / "file"), str(tmp_path / "file" / "objects")):
        with pytest.raises(StorageUnavailable):
            open_store(url).check()


def test_a_bucket_that_nobody_serves_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "id")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    store = open_store("s3://bucket/prefix?endpoint=http://127.0.0.1:1&region=eu-1")

    with pytest.raises(StorageUnavailable, match="s3://bucket/prefix"):
        store.check()


@pytest.mark.parametrize(
    "url", ["http://host/path", "s3://", "s3:///prefix", "s3://bucket?access_key_id=x", "file:///x"]
)
def test_what_is_no_store_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError):
        open_store(url)


@pytest.mark.parametrize(
    ("task_id", "created_ms", "key"),
    [
        ("t1", 1_760_000_000_000, "images/2025/10/09/t1"),
        ("A-z_9", 0, "images/1970/01/01/A-z_9"),
        ("t1", 1_735_689_599_999, "images/2024/12/31/t1"),
    ],
)
def test_keys_are_made_from_the_day_and_the_id(task_id: str, created_ms: int, key: str) -> None:
    assert image_key(task_id, created_ms) == key
    assert audit_key(task_id, created_ms) == key.replace("images", "audit")


@pytest.mark.parametrize("task_id", ["", "..", "a/b", "/etc/passwd", "a\x00", "a\n", "é", "a" * 129])
def test_no_key_is_made_from_anything_else(task_id: str) -> None:
    with pytest.raises(ValueError, match="task id"):
        image_key(task_id, 0)


def test_every_folder_it_makes_is_closed_to_others(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "objects"
    open_store(str(folder)).check()

    assert [path.stat().st_mode & 0o777 for path in (folder, folder.parent)] == [0o700, 0o700]
