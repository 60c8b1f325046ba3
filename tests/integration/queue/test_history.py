"""The last hour of a lane: one sample a slot whoever writes, the oldest go, and all of it goes by itself."""

import json

import pytest
import redis

from pipeline.queue import History, Sample
from pipeline.queue.history import Dated
from pipeline.queue.keys import Keys

SLOT = 1_760_000_010_000
KEYS = Keys("sensitive:")


def sample_of(number: int) -> Sample:
    return Sample(number, 1, 2, 3, (4, 5))


@pytest.fixture
def history(valkey: redis.Redis) -> History:
    return History(valkey, KEYS, interval_ms=15_000)


@pytest.mark.feature("H4")
def test_a_slot_takes_one_sample_of_several_schedulers(valkey: redis.Redis, history: History) -> None:
    other = History(valkey, KEYS, interval_ms=15_000)

    assert history.sample("ocr", sample_of(1), SLOT + 14_999)
    assert not other.sample("ocr", sample_of(2), SLOT)
    assert other.sample("ocr", sample_of(3), SLOT + 15_000)
    assert other.sample("text", sample_of(4), SLOT)

    assert history.samples("ocr") == [Dated(SLOT, sample_of(1)), Dated(SLOT + 15_000, sample_of(3))]
    assert history.samples("notify") == []


@pytest.mark.feature("H4")
def test_an_hour_is_kept(valkey: redis.Redis, history: History) -> None:
    for number in range(300):
        history.sample("ocr", sample_of(number), SLOT + number * 15_000)

    samples = history.samples("ocr")

    assert [dated.sample.waiting for dated in samples] == list(range(60, 300))
    assert 3_590_000 < valkey.pttl(KEYS.history("ocr")) <= 3_600_000
    assert valkey.memory_usage(KEYS.history("ocr")) < 100_000


def test_a_clock_that_was_set_back_waits_until_it_has_caught_up(history: History) -> None:
    history.sample("ocr", sample_of(1), SLOT)

    assert not history.sample("ocr", sample_of(2), SLOT - 60_000)
    assert history.sample("ocr", sample_of(3), SLOT + 15_000)


@pytest.mark.parametrize(
    "odd", [b"no JSON", b"[]", b"{}", json.dumps({"waiting": "1", "waits": []}).encode(), b'{"waits": [true]}']
)
def test_what_no_fairlane_wrote_is_passed_over(valkey: redis.Redis, history: History, odd: bytes) -> None:
    valkey.xadd(KEYS.history("ocr"), {"sample": odd}, id="5-0")
    valkey.xadd(KEYS.history("ocr"), {"other": "x"}, id="6-0")
    history.sample("ocr", sample_of(1), SLOT)

    assert history.samples("ocr") == [Dated(SLOT, sample_of(1))]
