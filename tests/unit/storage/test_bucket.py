"""The object store on an S3 bucket: the same calls and errors as on a folder."""

from collections.abc import Iterator

import pytest

from pipeline.errors import ObjectMissing, StorageUnavailable
from pipeline.storage import ObjectStore, open_store
from tests.support.bucket import Bucket, served_bucket

KEY = "images/2025/10/09/t1"


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bucket]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "id")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    with served_bucket() as bucket:
        yield bucket


@pytest.fixture
def store(bucket: Bucket) -> ObjectStore:
    return open_store(f"s3://bucket/some/prefix?endpoint={bucket.url}&region=eu-1")


@pytest.mark.feature("R1")
def test_what_was_put_lies_below_the_prefix_and_is_got(store: ObjectStore, bucket: Bucket) -> None:
    store.put(KEY, b"image")

    assert bucket.objects == {f"/bucket/some/prefix/{KEY}": b"image"}
    assert store.get(KEY) == b"image"
    assert store.exists(KEY)


def test_a_bucket_may_be_used_without_a_prefix(bucket: Bucket) -> None:
    open_store(f"s3://bucket?endpoint={bucket.url}&region=eu-1").put(KEY, b"image")

    assert bucket.objects == {f"/bucket/{KEY}": b"image"}


@pytest.mark.feature("R4")
def test_copy_leaves_the_source(store: ObjectStore) -> None:
    store.put(KEY, b"image")

    store.copy(KEY, "audit/2025/10/09/t1")

    assert store.get(KEY) == store.get("audit/2025/10/09/t1") == b"image"


def test_a_missing_object_is_missing_and_deleted_already(store: ObjectStore) -> None:
    store.delete(KEY)

    assert not store.exists(KEY)
    with pytest.raises(ObjectMissing):
        store.get(KEY)
    with pytest.raises(ObjectMissing):
        store.copy(KEY, "audit/2025/10/09/t1")


def test_check_leaves_nothing(store: ObjectStore, bucket: Bucket) -> None:
    store.check()

    assert bucket.objects == {}


def test_a_missing_bucket_does_not_make_its_objects_missing(store: ObjectStore, bucket: Bucket) -> None:
    bucket.name = "another"

    for call in (store.check, lambda: store.get(KEY), lambda: store.copy(KEY, "b")):
        with pytest.raises(StorageUnavailable):
            call()


def test_a_server_in_trouble_is_unavailable_and_then_works(store: ObjectStore, bucket: Bucket) -> None:
    bucket.is_down = True
    with pytest.raises(StorageUnavailable):
        store.put(KEY, b"image")

    bucket.is_down = False
    store.put(KEY, b"image")


def test_a_wrong_key_is_unavailable(bucket: Bucket, store: ObjectStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "somebody")

    with pytest.raises(StorageUnavailable):
        store.check()
