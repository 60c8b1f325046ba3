"""What measures the service and counts its requests, put together."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from models.base import Database
from pipeline.clock import Clock
from pipeline.queue import Counters, History, Inspector, Pulse, Roster, Standstill
from pipeline.settings import Settings
from pipeline.storage import ObjectStore
from web.figures.counted import CountedFigures
from web.figures.gathering import Gathering
from web.figures.ledger import LedgerFigures
from web.figures.queue import QueueFigures
from web.figures.types import Figures


@dataclass(frozen=True, slots=True)
class Measured:
    """Made by the wiring, used by middleware and resources.

    Args:
        counters: what this process counts, with all others.
        standstill: notices that nothing is claimed.
        history: of the last hour.
        gathering: reads all that `/metrics` tells.
    """

    counters: Counters
    standstill: Standstill
    history: History
    gathering: Gathering

    @classmethod
    def of(
        cls,
        settings: Settings,
        database: Database,
        store: ObjectStore,
        clock: Clock,
        *,
        inspector: Inspector,
        roster: Roster,
        pulse: Pulse,
        standstill: Standstill,
        counters: Counters,
        history: History,
    ) -> "Measured":
        """Put together what measures these parts."""
        queue = QueueFigures(inspector, roster, pulse, standstill, clock, settings)
        counted, ledger = CountedFigures(counters), LedgerFigures(database, inspector, clock)

        def storage() -> Iterator[Figures]:
            store.check()
            return iter(())

        readers = {
            "queue": lambda: chain(queue.read(), counted.read()),
            "database": ledger.read,
            "storage": storage,
            "scheduler": queue.scheduler,
        }
        return cls(counters, standstill, history, Gathering(readers))
