"""What the HTTP interface is made of: built once by the wiring, handed to whoever needs it."""

from dataclasses import dataclass

from models.audit import AuditTrail
from models.dead_letters import DeadLetters
from models.deliveries import Deliveries
from models.keys import ApiKeys
from models.ledger import Ledger
from models.reports import DetectorReports
from models.statistics import Statistics
from models.task_lists import TaskLists
from pipeline.clock import Clock
from pipeline.devices import DeviceBook
from pipeline.intake import Intake
from pipeline.lists.following import FollowedLists
from pipeline.lists.library import Library
from pipeline.queue import FairQueue, Inspector, RequestLimits, Roster
from pipeline.settings import Settings
from pipeline.storage import ObjectStore
from pipeline.tracing import Traces
from web.measured import Measured


@dataclass(frozen=True, kw_only=True, slots=True)
class Parts:
    """The parts of the service that requests touch.

    Args:
        traces: None: none are written.
    """

    settings: Settings
    clock: Clock
    intake: Intake
    queue: FairQueue
    inspector: Inspector
    roster: Roster
    limits: RequestLimits
    ledger: Ledger
    tasks: TaskLists
    devices: DeviceBook
    reports: DetectorReports
    dead_letters: DeadLetters
    deliveries: Deliveries
    library: Library
    lists: FollowedLists
    keys: ApiKeys
    trail: AuditTrail
    statistics: Statistics
    measured: Measured
    store: ObjectStore
    traces: Traces | None = None
