"""Reading what lies in Redis, where anybody may have written anything: what makes no sense counts as not there."""

import json
import math
from collections.abc import Mapping
from typing import Any

from pipeline.queue.types import LANES, Lane, TaskState

_STATES = {state.value: state for state in TaskState}
_LANES: dict[str, Lane] = {lane: lane for lane in LANES}
#: Digits of the largest whole number that is believed.
_DIGITS_MAX = 18
_ROUNDING = 1e-6


def words(raw: bytes | None) -> str:
    """The text, empty for nothing; what is not UTF-8 in it is replaced."""
    return "" if raw is None else raw.decode("utf-8", "replace")


def whole(text: str | None) -> int:
    """The whole number of 18 digits at most, 0 for anything else."""
    return whole_or_none(text) or 0


def busy_slots(text: str | None) -> int:
    """How many slots hold something, from the sum of what each task keeps busy of its slot; 0 for no number."""
    try:
        shares = float(text or 0)
    except ValueError:
        return 0
    # The parts of a slot that several tasks share are no round numbers.
    return math.ceil(shares - _ROUNDING) if 0 < shares < 10**_DIGITS_MAX else 0


def whole_or_none(text: str | None) -> int | None:
    """The whole number of 18 digits at most, None for anything else."""
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) <= _DIGITS_MAX else None


def number(text: str) -> float:
    """The number, 0 for anything else."""
    try:
        found = float(text)
    except ValueError:
        return 0.0
    return found if math.isfinite(found) else 0.0


def state_named(name: str | None) -> TaskState | None:
    """The state of that name, None for anything else."""
    return _STATES.get(name or "")


def lane_named(name: str) -> Lane:
    """The lane of that name; `text` for anything else."""
    return _LANES.get(name, "text")


def snapshot_of(raw: bytes | None) -> dict[str, Any] | None:
    """The JSON object, None for anything else."""
    try:
        found = None if raw is None else json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def fact_values(facts: Mapping[str, str], name: str) -> list[str]:
    """What `Inspector.server_facts` says of the server by this name: of a Cluster each of the values, if its nodes
    differ; none when nothing is said."""
    return facts[name].split(", ") if facts.get(name) else []


def fact_numbers(facts: Mapping[str, str], name: str) -> list[int]:
    """The same as numbers; what is none is left out."""
    return [int(value) for value in fact_values(facts, name) if value.isdecimal()]
