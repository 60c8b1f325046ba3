"""Images that crash, hang or swell the engine, or kill the whole worker: each ends for itself, the others are read."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.conftest import settings_for
from tests.support.processes import wait_until
from tests.support.ward import Ward


@pytest.fixture
def ward(valkey: object, valkey_url: str, tmp_path: Path) -> Iterator[Ward]:
    settings = settings_for(
        tmp_path / "data",
        redis_url=valkey_url,
        lease_seconds=5,
        lease_renew_seconds=1,
        retry_backoff_base_seconds=1,
        ocr_hard_limit_seconds=2,
        ocr_recycle_rss_bytes=500_000_000,
        ocr_memory_limit_bytes=500_000_000,
    )
    settings.data_dir.mkdir()
    ward = Ward(settings, tmp_path)
    ward.start()
    yield ward
    ward.stop()


@pytest.mark.feature("Q9")
@pytest.mark.feature("O6")
def test_poison_ends_by_itself_with_its_reason_and_its_neighbours_are_read_once(ward: Ward) -> None:
    poison = {
        "worker_crash": ward.submit(b"segfault", "0a0000000001"),
        "engine_timeout": ward.submit(b"hang", "0a0000000002"),
        "engine_memory": ward.submit(b"eat memory", "0a0000000003"),
    }
    neighbours = [ward.submit(b"", f"0b00000000{number:02x}") for number in range(12)]

    assert {code: ward.end_of(task_id) for code, task_id in poison.items()} == {code: ("dead", code) for code in poison}
    for task_id in neighbours:
        assert ward.end_of(task_id) == ("done", "")
        row = ward.ledger.get(task_id)
        assert row is not None
        assert row.attempts == 1
    assert set(ward.died) == {"started"}, "a worker went down with its engine"
    wait_until(lambda: all(books.balances and books.leased == 0 for books in ward.inspector.audit()))


@pytest.mark.feature("Q9")
@pytest.mark.feature("S9")
def test_an_image_that_kills_the_whole_worker_is_dead_after_three_and_the_worker_is_back(ward: Ward) -> None:
    poison = ward.submit(b"crash worker", "0a0000000001")

    assert ward.end_of(poison) == ("dead", "worker_crash")

    assert ward.end_of(ward.submit(b"", "0b0000000001")) == ("done", "")
    wait_until(lambda: ward.died.count("ended") == 3)
    wait_until(lambda: all(books.balances and books.leased == 0 for books in ward.inspector.audit()))
