"""Lists of words on each database."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline.storage import ObjectStore
from tests.support.clock import FakeClock
from tests.support.word_lists import Lists


@pytest.fixture
def lists(database: Any, store: ObjectStore, tmp_path: Path, clock: FakeClock) -> Iterator[Lists]:
    made = Lists(database, store, tmp_path / "words", clock)
    yield made
    made.close()
