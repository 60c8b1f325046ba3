"""What every fault is."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.faults.harness.house import House


@dataclass
class Fault(ABC):
    """Something that goes wrong on purpose, once a round.

    Args:
        name: tells it from the others in the table.
        kind: groups it there.
        hold_s: how long it lasts.
        may_end: by state, the code of the ends that it explains.
    """

    name: str
    kind: str = field(init=False, default="")
    hold_s: float = field(default=2.0, kw_only=True)
    may_end: Mapping[str, str] = field(default_factory=dict, kw_only=True)

    @abstractmethod
    def inject(self, house: House) -> None:
        """Begin."""

    @abstractmethod
    def heal(self, house: House) -> None:
        """End what has not ended by itself; also called when `inject` failed."""

    @abstractmethod
    def trace(self, house: House) -> str:
        """What shows that it struck, empty when nothing does; asked after the drain."""
