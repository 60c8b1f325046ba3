"""What `make mutate` takes away is there: else it would say nothing for as long as nobody runs it."""

import pytest

from tests.faults.harness.mutations import REMOVALS, Removal
from tests.support.parts import ROOT


@pytest.mark.parametrize("removal", REMOVALS, ids=lambda removal: removal.what)
def test_a_guard_that_is_taken_away_stands_there_once(removal: Removal) -> None:
    for name, (old, _) in removal.changes.items():
        assert (ROOT / name).read_text("utf-8").count(old) == 1
