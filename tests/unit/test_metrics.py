"""The declarations: Prometheus' conventions, and nothing that would make a series for each device or host."""

import re

import pytest

from pipeline.metrics import METRICS, Metric

each_metric = pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
#: What a label may be called: each has a short list of values.
BOUNDED = {
    *("part", "version", "clock", "lane", "kind", "engine", "state", "outcome", "stage"),
    *("reason", "method", "route", "status"),
}


@pytest.mark.feature("H5")
@each_metric
def test_names_keep_to_the_conventions(metric: Metric) -> None:
    assert re.fullmatch(r"fairlane(_[a-z]+)+", metric.name)
    assert metric.name.endswith("_total") == (metric.kind == "counter")
    assert not metric.name.endswith(("_ms", "_milliseconds", "_percent", "_count", "_sum", "_bucket"))
    assert metric.unit == "seconds" or metric.kind != "histogram"


@each_metric
def test_each_says_what_it_is_and_has_bounded_labels_only(metric: Metric) -> None:
    assert metric.what
    assert set(metric.labels) <= BOUNDED


def test_each_is_declared_once() -> None:
    names = [metric.name for metric in METRICS]

    assert len(names) == len(set(names))
