"""A value of a metric, before it is written in any format."""

from collections.abc import Sequence
from typing import NamedTuple

from pipeline.metrics import Metric


class Figure(NamedTuple):
    """One value of a gauge or counter.

    Args:
        labels: values, in the order of the metric's names.
    """

    metric: Metric
    labels: tuple[str, ...]
    value: float


class Spread(NamedTuple):
    """One histogram.

    Args:
        bounds_ms: upper bounds of its buckets.
        times: by bucket, and one more for what is above all bounds; not added up.
    """

    metric: Metric
    labels: tuple[str, ...]
    bounds_ms: Sequence[int]
    times: Sequence[int]
    sum_ms: int


Figures = Figure | Spread
