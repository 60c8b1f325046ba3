"""The object store on a real S3 server, which checks signatures and may go away."""

import os
from collections.abc import Iterator

import pytest

from pipeline.errors import ObjectMissing, StorageUnavailable
from pipeline.storage import ObjectStore, open_store
from tests.support.servers import S3_CREDENTIALS, Server, start_s3

KEY = "images/2025/10/09/t1"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = start_s3(tmp_path_factory.mktemp("s3"))
    yield server
    server.stop()


@pytest.fixture
def store(server: Server, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> ObjectStore:
    """A part of the bucket of the test's own."""
    for name, value in S3_CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    return open_store(f"s3://images/{request.node.name}?endpoint={server.url}&region=us-east-1")


@pytest.mark.feature("R1")
def test_bytes_are_stored_read_copied_and_deleted(store: ObjectStore) -> None:
    data = os.urandom(3_000_000)
    store.put(KEY, data)
    store.copy(KEY, "audit/2025/10/09/t1")
    assert store.get(KEY) == store.get("audit/2025/10/09/t1") == data

    store.delete(KEY)
    store.delete(KEY)

    assert (store.exists(KEY), store.exists("audit/2025/10/09/t1")) == (False, True)
    with pytest.raises(ObjectMissing):
        store.get(KEY)
    store.check()


@pytest.mark.feature("R1")
def test_a_put_replaces_what_was_there(store: ObjectStore) -> None:
    store.put(KEY, b"first")
    store.put(KEY, b"second")

    assert store.get(KEY) == b"second"


@pytest.mark.feature("R7")
def test_all_below_a_prefix_is_listed_and_deleted_together(store: ObjectStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.storage._PAGE", 3)
    keys = [f"images/2025/10/{day:02d}/t" for day in range(1, 9)]
    for key in (*keys, "audit/2025/10/01/t"):
        store.put(key, b"x")

    listed = [one for page in store.pages("images") for one in page]
    store.delete_all([*keys[:7], "images/not/there"])

    assert sorted(one.key for one in listed) == keys
    assert {one.task_id for one in listed} == {"t"}
    assert [one.key for page in store.pages("images") for one in page] == keys[7:]
    assert store.exists("audit/2025/10/01/t")


def test_wrong_credentials_are_said_and_nothing_is_stored(
    store: ObjectStore, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as other:
        other.setenv("AWS_SECRET_ACCESS_KEY", "not the secret")
        stranger = open_store(f"s3://images/stranger?endpoint={server.url}&region=us-east-1")
        with pytest.raises(StorageUnavailable):
            stranger.put(KEY, b"x")

    assert not store.exists(KEY)


def test_a_bucket_that_is_not_there_is_said(store: ObjectStore, server: Server) -> None:
    with pytest.raises(StorageUnavailable):
        open_store(f"s3://nowhere?endpoint={server.url}&region=us-east-1").put(KEY, b"x")


def test_a_server_that_went_away_is_unavailable_and_used_again_once_it_is_back(
    store: ObjectStore, server: Server
) -> None:
    store.put(KEY, b"kept")
    server.stop()
    try:
        with pytest.raises(StorageUnavailable):
            store.get(KEY)
    finally:
        server.start()

    assert store.get(KEY) == b"kept"
