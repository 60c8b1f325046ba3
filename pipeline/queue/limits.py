"""What may be asked of the queue: absurd weights, caps and rates are refused before they reach a script."""

import math

from pipeline.errors import FieldProblem, InvalidInput
from pipeline.queue.types import DeviceRules

#: A weight outside these would starve a device, or everybody else.
WEIGHT_MIN, WEIGHT_MAX = 0.001, 1000.0
#: Tasks in flight, and tasks per minute; larger is the same as no limit.
COUNT_MAX = 1_000_000


def check_weight(weight: float) -> None:
    """Raises: InvalidInput, unless the weight is a number from 0.001 to 1000."""
    if problem := _weight_problem(weight):
        raise InvalidInput([problem])


def check_device_rules(wanted: DeviceRules) -> None:
    """Raises: InvalidInput, naming each value out of its range."""
    problems = []
    if wanted.weight is not None and (problem := _weight_problem(wanted.weight)):
        problems.append(problem)
    if wanted.max_inflight is not None and not 1 <= wanted.max_inflight <= COUNT_MAX:
        problems.append(FieldProblem("/max_inflight", f"must be a whole number from 1 to {COUNT_MAX}"))
    rate = wanted.rate_per_minute
    if rate is not None and not (math.isfinite(rate) and 0 < rate <= COUNT_MAX):
        problems.append(FieldProblem("/rate_per_minute", f"must be above 0 and at most {COUNT_MAX}"))
    if problems:
        raise InvalidInput(problems)


def _weight_problem(weight: float) -> FieldProblem | None:
    if math.isfinite(weight) and WEIGHT_MIN <= weight <= WEIGHT_MAX:
        return None
    return FieldProblem("/weight", f"must be a number from {WEIGHT_MIN} to {WEIGHT_MAX:g}")
