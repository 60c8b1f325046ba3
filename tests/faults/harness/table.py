"""The one table of a course: a row for each fault, whatever number of rounds it had."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

_HEAD = (
    *("fault", "times", "accepted", "ended by kind", "lost", "double", "other", "no trace"),
    *("rerun p50 s", "p99 s", "90 % after s (worst)"),
)

_BROKEN_OFF = "the round broke off"


@dataclass
class Round:
    """One fault, once, and what was counted after it; times in seconds.

    Args:
        trace: what shows that it struck; empty: the round says nothing.
        reruns_s: for each task that the fault interrupted, how long after it the task was started again.
        back_s: from the heal until as much ended in a second as 90 % of before; None when that never came.
    """

    fault: str
    kind: str
    trace: str
    accepted: int
    ended: dict[str, int]
    lost: int
    double: int
    other: int
    faults: list[str] = field(default_factory=list)
    reruns_s: list[float] = field(default_factory=list)
    back_s: float | None = None
    troubles: int = 0
    heard_again: int = 0
    took_s: float = 0.0

    @classmethod
    def broken_off(cls, fault: str, kind: str, why: str) -> "Round":
        """A round that was not played to its end."""
        return cls(fault, kind, "", 0, {}, 0, 0, 1, faults=[f"{_BROKEN_OFF}: {why}"])

    @property
    def is_broken_off(self) -> bool:
        return not self.trace and bool(self.faults) and self.faults[0].startswith(_BROKEN_OFF)

    @property
    def is_red(self) -> bool:
        return bool(self.faults)

    @property
    def verdict(self) -> str:
        if self.is_red:
            return "red"
        return "green" if self.trace else "inconclusive"

    def line(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)


def parsed(line: str) -> Round:
    """A round as it was written."""
    values: dict[str, Any] = json.loads(line)
    return Round(**values)


def table(rounds: Sequence[Round]) -> str:
    """The rounds, one row a fault, in the order of their kinds, and one for all."""
    names = dict.fromkeys((entry.kind, entry.fault) for entry in sorted(rounds, key=lambda entry: entry.kind))
    rows = [_row(fault, [one for one in rounds if one.fault == fault]) for _, fault in names]
    return "\n".join([_line(_HEAD), _line(["---"] * len(_HEAD)), *rows, _row("all", rounds)])


def quantile(values: Iterable[float], share: float) -> float | None:
    """The least value that at least this share of all is not above."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else None


def _row(name: str, rounds: Sequence[Round]) -> str:
    ended: Counter[str] = Counter()
    for one in rounds:
        ended.update(one.ended)
    reruns = [wait for one in rounds for wait in one.reruns_s]
    backs = [one.back_s for one in rounds]
    never = sum(back is None for back in backs)
    known = [back for back in backs if back is not None]
    median = quantile(known, 0.5)
    after = f"never ×{never}" if never else f"{_spelled(median)} ({_spelled(max(known, default=None))})"
    return _line(
        [
            name,
            str(len(rounds)),
            f"{sum(one.accepted for one in rounds):,}",
            ", ".join(f"{count:,} {state}" for state, count in sorted(ended.items())),
            str(sum(one.lost for one in rounds)),
            str(sum(one.double for one in rounds)),
            str(sum(one.other for one in rounds)),
            str(sum(not one.trace for one in rounds)),
            f"{_spelled(quantile(reruns, 0.5))} (n={len(reruns)})",
            _spelled(quantile(reruns, 0.99)),
            after,
        ]
    )


def _spelled(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
