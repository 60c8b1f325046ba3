"""What was measured in real time, beside its bound."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class LiveBound:
    """One bound and what was measured.

    Args:
        quantity: a row of the table of bounds, in its words.
        measure: its name in the data.
        of: of what it was measured.
        note: what stands behind the number.
    """

    quantity: str
    measure: str
    of: str
    at_most: float
    measured: float
    unit: str = ""
    note: str = ""

    @property
    def is_kept(self) -> bool:
        return self.measured <= self.at_most


@dataclass(frozen=True, slots=True)
class LiveOutcome:
    """The bounds of one subject.

    Args:
        samples: measurements behind the numbers.
        took_ms: real time.
    """

    name: str
    title: str
    bounds: tuple[LiveBound, ...]
    samples: int
    took_ms: int = 0

    @property
    def is_kept(self) -> bool:
        return all(bound.is_kept for bound in self.bounds)

    def as_data(self, policy: str) -> dict[str, Any]:
        """Return the outcome as plain data, in the layout that scenarios have."""
        return {
            "scenario": self.name,
            "title": self.title,
            "policy": policy,
            "backend": "live",
            "tasks": self.samples,
            "took_ms": self.took_ms,
            "is_kept": self.is_kept,
            "is_expected_to_fail": False,
            "bounds": [
                {
                    "quantity": bound.quantity,
                    "measure": bound.measure,
                    "groups": [bound.of],
                    "at_least": None,
                    "at_most": bound.at_most,
                    "measured": bound.measured,
                    "worst_run": bound.note,
                    "is_kept": bound.is_kept,
                }
                for bound in self.bounds
            ],
        }


def quantile(values: Sequence[float], share: float) -> float:
    """Return the value of one of the samples below which `share` of them lie, never one in between."""
    return float(np.quantile(values, share, method="inverted_cdf"))
