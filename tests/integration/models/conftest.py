"""A ledger on each of the two databases."""

import pytest

from models.base import Database
from models.ledger import Ledger
from tests.support.clock import FakeClock


@pytest.fixture
def ledger(database: Database, clock: FakeClock) -> Ledger:
    return Ledger(database, clock)
