"""The count from the outside: every accepted task ended once, every effect is there once, all books agree."""

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tests.faults.harness.client import ask
from tests.faults.harness.house import House, comes_true
from tests.faults.harness.idle_keys import strange_keys
from tests.faults.harness.journal import EFFECTS, End
from tests.faults.harness.load import ENDS, Kind, Sent

#: Until the queue has heard of every end and statistics of every day, seconds.
_SETTLING_S = 30
_IMAGES = ("image", "image with a hit")
_TASK_ENDS = re.compile(r'^fairlane_task_ends_total\{lane="(\w+)",outcome="(\w+)"\} ([\d.e+]+)$', re.MULTILINE)


@dataclass
class Findings:
    """What was counted.

    Args:
        ended: how many of the accepted tasks ended how.
        lost: accepted, and not there or without an end.
        doubled: what happened more than once, or an effect that is there more than once.
        missing: effects that are not there.
        unexplained: ends that neither the task nor the fault explains.
        disagreeing: books that say different things.
        heard_again: announcements whose receiver heard the same id again, as it must be able to.
    """

    accepted: int = 0
    ended: Counter[str] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    unexplained: list[str] = field(default_factory=list)
    disagreeing: list[str] = field(default_factory=list)
    heard_again: int = 0

    @property
    def faults(self) -> list[str]:
        """All that is not as it should be, in words."""
        kinds = ("lost", "doubled", "missing", "unexplained", "disagreeing")
        return [f"{kind}: {what}" for kind in kinds for what in getattr(self, kind)]


def count(house: House, prefix: str, sent: Sent, may_end: Mapping[str, str]) -> Findings:
    """Count the round whose ids begin with `prefix`, after its drain.

    Args:
        may_end: by state, the code that the fault explains, besides how each kind ends anyway.
    """
    ends, findings = house.journal.ends(prefix), Findings(accepted=len(sent.accepted))
    for task_id in sent.accepted:
        end = ends.get(task_id)
        if end is None or not end.has_ended:
            findings.lost.append(f"{task_id}: {end or 'not in the ledger'}")
    # A task that was accepted though nobody was told so is a task like the others.
    known: dict[str, Kind] = {**sent.unanswered, **sent.accepted}
    for task_id, end in ends.items():
        _look_at_end(findings, task_id, known, sent, end, may_end)
    _look_at_effects(house, prefix, findings, known, ends)
    findings.disagreeing += _disagreements(house)
    return findings


def _look_at_end(
    findings: Findings, task_id: str, known: Mapping[str, Kind], sent: Sent, end: End, may_end: Mapping[str, str]
) -> None:
    if not end.has_ended:
        return
    findings.ended[end.state] += 1
    kind = known.get(task_id)
    if kind is None:
        findings.unexplained.append(f"{task_id}: nobody sent it, or it was refused ({sent.refused.get(task_id)})")
    elif end.state not in ENDS[kind] and may_end.get(end.state) != end.code:
        findings.unexplained.append(f"{task_id}: {kind} ended as {end.state}, {end.code}")


def _look_at_effects(
    house: House, prefix: str, findings: Findings, known: Mapping[str, Kind], ends: Mapping[str, End]
) -> None:
    journal = house.journal
    counts, hits, announced, archived = (
        journal.counts(prefix),
        journal.hits(prefix),
        journal.announced(prefix),
        _archived(house, prefix),
    )
    for what in EFFECTS:
        many = [(task_id, number) for task_id, number in counts.get(what, {}).items() if number > 1]
        findings.doubled += [f"{task_id}: {what} {number} times" for task_id, number in many]
    for what in ("token back", "end changed"):
        findings.doubled += [f"{task_id}: {what}" for task_id in counts.get(what, {})]
    for task_id, kind in known.items():
        end = ends.get(task_id)
        found = {
            "detection": counts.get("detection", {}).get(task_id, 0),
            "ocr_result": counts.get("ocr_result", {}).get(task_id, 0),
            "announcement": announced.get(task_id, []).count("delivered"),
            "hit": hits.get(task_id, 0),
            "archive": archived[task_id],
        }
        expected = _expected(kind, is_done=end is not None and end.state == "done")
        _compare(findings, f"{task_id}: {kind}", expected, found)
        _count_heard(findings, f"{task_id}: {kind}", expected["hit"], house.servers.receiver.heard_of(task_id))
    house.servers.receiver.forget(list(known))


def _expected(kind: Kind, *, is_done: bool) -> dict[str, bool]:
    """What a task leaves behind, each once."""
    has_hit, is_image = is_done and kind.endswith("with a hit"), kind in _IMAGES
    return {
        "detection": is_done,
        "ocr_result": is_done and is_image,
        "announcement": has_hit,
        "hit": has_hit,
        "archive": has_hit and is_image,
    }


def _compare(findings: Findings, whose: str, expected: Mapping[str, bool], found: Mapping[str, int]) -> None:
    findings.missing += [f"{whose} without {what}" for what in expected if expected[what] and not found[what]]
    # An image is kept before its result is written: of a task that failed in between, the copy may lie there.
    most = {**expected, "archive": True}
    findings.doubled += [f"{whose}: {found[what]} times {what}" for what in most if found[what] > most[what]]


def _count_heard(findings: Findings, whose: str, is_expected: bool, heard: Counter[str]) -> None:
    """The same id may be heard again: a worker may die between the receiver's answer and its own note of it."""
    if is_expected and not heard:
        findings.missing.append(f"{whose}: its receiver heard nothing")
    if len(heard) > is_expected:
        findings.doubled.append(f"{whose}: announced as {', '.join(heard)}")
    findings.heard_again += sum(heard.values()) - len(heard)


def _archived(house: House, prefix: str) -> Counter[str]:
    folder = house.servers.bucket / "audit"
    return Counter(path.name for path in folder.rglob(f"{prefix}*") if path.is_file())


def _disagreements(house: House) -> list[str]:
    """What the books still say differently when they have had time to agree."""
    found: list[str] = []

    def agree() -> bool:
        found[:] = _books(house)
        return not found

    return [] if comes_true(agree, _SETTLING_S) else found


def _books(house: House) -> Iterator[str]:
    yield from _audit(house)
    yield from strange_keys(house)
    yield from _statistics(house)


def _audit(house: House) -> Iterator[str]:
    """`fairlane audit`, and that nothing is left in the queue."""
    run = subprocess.run(
        [sys.executable, "-m", "pipeline", "audit", "-o", "json"],
        env=dict(house.environment),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    if run.returncode:
        yield f"fairlane audit: exit {run.returncode} {run.stdout[-500:]}{run.stderr[-300:]}"
        return
    for lane in json.loads(run.stdout):
        left = {name: lane[name] for name in ("waiting", "delayed", "leased") if lane[name]}
        if left:
            yield f"the queue holds {left} in lane {lane['lane']}, the ledger nothing"


def _statistics(house: House) -> Iterator[str]:
    """What `/api/stats` and `/metrics` say, against the ends that the database noted."""
    answer = ask(house.web, "GET", "/api/stats?by=lane,outcome")
    told = {
        "statistics": {(count["lane"], count["outcome"]): count["tasks"] for count in answer.json["counts"]},
        "metrics": {
            (lane, state): int(float(number))
            for lane, state, number in _TASK_ENDS.findall(ask(house.web, "GET", "/metrics").body.decode())
        },
    }
    for (lane, state), number in house.journal.ends_by_kind().items():
        for whose, counts in told.items():
            counted = counts.get((lane, state), 0)
            if counted != number:
                yield f"{whose}: {counted} {state} in lane {lane}, where {number} ended so"
