"""WarmUp: a worker that cannot work does not start."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from pipeline.errors import ConfigurationError, EngineCrashed
from pipeline.middleware import WarmUp


def worker_of(*queues: str) -> Any:
    return SimpleNamespace(consumer_whitelist=set(queues))


def boot(prepare: Callable[[str], None], *queues: str) -> None:
    WarmUp(prepare, close=lambda: None).before_worker_boot(SimpleNamespace(), worker_of(*queues))  # type: ignore[arg-type]


def test_every_lane_of_the_worker_is_prepared_before_it_boots() -> None:
    prepared: list[str] = []

    boot(prepared.append, "text")
    boot(prepared.append)

    assert prepared == ["text", "ocr", "text", "notify"]


@pytest.mark.parametrize(("error", "code"), [(ConfigurationError("no engine"), 2), (EngineCrashed("signal 11"), 1)])
def test_a_lane_that_cannot_be_prepared_ends_the_process_in_words(error: Exception, code: int) -> None:
    def prepare(lane: str) -> None:
        raise error

    with pytest.raises(SystemExit) as ended:
        boot(prepare, "ocr")

    assert ended.value.code == code


def test_a_queue_name_that_is_no_lane_ends_the_process() -> None:
    with pytest.raises(SystemExit) as ended:
        boot(lambda lane: None, "orc")

    assert ended.value.code == 2
