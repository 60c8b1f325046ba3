"""Figures in the text formats of Prometheus and OpenMetrics."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.exposition import generate_latest
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.openmetrics.exposition import generate_latest as generate_openmetrics
from prometheus_client.registry import Collector

from pipeline.metrics import METRICS, Metric
from web.figures.types import Figure, Figures, Spread

PLAIN = "text/plain; version=0.0.4; charset=utf-8"
OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"


def written(figures: Iterable[Figures], media_type: str) -> bytes:
    """The figures in one of the two formats; every declared metric is named, with or without a value."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Given(figures))
    if media_type == OPENMETRICS:
        return bytes(generate_openmetrics(registry))  # type: ignore[no-untyped-call]
    return generate_latest(registry)


class _Given(Collector):
    """Gives the families of some figures."""

    def __init__(self, figures: Iterable[Figures]) -> None:
        self._of: dict[str, list[Figures]] = defaultdict(list)
        for figure in figures:
            self._of[figure.metric.name].append(figure)

    def collect(self) -> Iterator[Family]:
        for metric in METRICS:
            yield _family(metric, self._of[metric.name])


def _family(metric: Metric, figures: Iterable[Figures]) -> Family:
    if metric.kind == "histogram":
        histogram = HistogramMetricFamily(metric.name, metric.what, labels=metric.labels, unit=metric.unit)
        for spread in figures:
            if isinstance(spread, Spread):
                histogram.add_metric(spread.labels, _buckets(spread), spread.sum_ms / 1000)
        return histogram
    kind = CounterMetricFamily if metric.kind == "counter" else GaugeMetricFamily
    family = kind(metric.name, metric.what, labels=metric.labels, unit=metric.unit)
    for figure in figures:
        if isinstance(figure, Figure):
            family.add_metric(figure.labels, float(figure.value))
    return family


def _buckets(spread: Spread) -> list[tuple[str, float]]:
    """Prometheus wants each bucket to hold those below it, too."""
    sums, seen = [], 0
    for bound, times in zip([*(str(ms / 1000) for ms in spread.bounds_ms), "+Inf"], spread.times, strict=True):
        seen += times
        sums.append((bound, float(seen)))
    return sums
