"""One round: load, fault, heal, drain, count."""

from collections.abc import Sequence
from itertools import pairwise

from pipeline.clock import SystemClock
from tests.faults.harness.fault import Fault
from tests.faults.harness.house import House, comes_true, pause
from tests.faults.harness.ledger_check import Findings, count
from tests.faults.harness.load import Load, Sent
from tests.faults.harness.table import Round

#: Seconds of undisturbed load before the fault, over which the usual throughput is taken.
_WARM_S = 5.0
#: Throughput is back when so much of it ended in a window of so many ms.
_SHARE, _WINDOW_MS = 0.9, 2_000
#: How long is waited for it, and, if nobody says otherwise, for the drain, seconds.
_BACK_LIMIT_S = 60.0
DRAIN_LIMIT_S = 120.0


def play(house: House, load: Load, fault: Fault, prefix: str, patience_s: float = DRAIN_LIMIT_S) -> Round:
    """Let a fault strike a busy house, heal it, let everything end, and count.

    Args:
        prefix: begins the ids of the round's tasks, and those of no other.
        patience_s: while nothing ends, until what is left is said never to end.
    """
    house.prefix, house.strays = prefix, {}
    load.begin(prefix)
    try:
        struck_ms, back_s = _strike(house, fault)
    finally:
        sent = load.end()
    sent.unanswered.update(house.strays)
    is_drained = drained(house, patience_s)
    trace = fault.trace(house)
    findings = count(house, prefix, sent, fault.may_end)
    if not is_drained:
        findings.disagreeing.append(f"{house.journal.open()} tasks and announcements never ended")
    reruns_s = _reruns_s(house, prefix, struck_ms)
    return _noted(fault, trace, findings, sent, reruns_s, back_s)


def _strike(house: House, fault: Fault) -> tuple[int, float | None]:
    """When the fault struck, epoch ms, and how long after it throughput was back, in seconds."""
    clock = SystemClock()
    pause(_WARM_S)
    struck_ms = clock.now_ms()
    usual = _per_window(house.journal.ended_since(struck_ms - int(_WARM_S * 1000) + 1000), _WARM_S - 1)
    try:
        fault.inject(house)
        pause(fault.hold_s)
    finally:
        fault.heal(house)
    return struck_ms, _await_throughput(house, clock.now_ms(), usual)


def drained(house: House, patience_s: float) -> bool:
    """Wait until everything has ended; False when nothing more has for so many seconds."""
    left = house.journal.open()
    while left:
        before = left
        if not comes_true(lambda before=before: house.journal.open() != before, patience_s):
            return False
        left = house.journal.open()
    return True


def _noted(
    fault: Fault,
    trace: str,
    findings: Findings,
    sent: Sent,
    reruns_s: list[float],
    back_s: float | None,
) -> Round:
    return Round(
        fault=fault.name,
        kind=fault.kind,
        trace=trace,
        accepted=findings.accepted,
        ended=dict(findings.ended),
        lost=len(findings.lost) + len(findings.missing),
        double=len(findings.doubled),
        other=len(findings.unexplained) + len(findings.disagreeing),
        faults=findings.faults[:20],
        reruns_s=reruns_s,
        back_s=back_s,
        troubles=sent.troubles,
        heard_again=findings.heard_again,
    )


def _per_window(ended_ms: Sequence[int], seconds: float) -> float:
    return len(ended_ms) / seconds * _WINDOW_MS / 1000


def _await_throughput(house: House, healed_ms: int, usual: float) -> float | None:
    """Seconds from the heal to the begin of the first window in which enough ended."""
    back_s: list[float] = []

    def is_back() -> bool:
        ended = house.journal.ended_since(healed_ms)
        for index, at_ms in enumerate([healed_ms, *ended]):
            within = sum(at_ms <= other < at_ms + _WINDOW_MS for other in ended[max(0, index - 1) :])
            if within >= _SHARE * usual:
                back_s.append(max(0, at_ms - healed_ms) / 1000)
                return True
        return False

    return back_s[0] if comes_true(is_back, _BACK_LIMIT_S) else None


def _reruns_s(house: House, prefix: str, struck_ms: int) -> list[float]:
    """Of each task that was started again after the fault, how long after it, or after the start that it cut short."""
    found = []
    for starts in house.journal.starts(prefix).values():
        again = [(one, other) for one, other in pairwise(starts) if other >= struck_ms]
        found += [(other - max(struck_ms, one)) / 1000 for one, other in again[:1]]
    return found
