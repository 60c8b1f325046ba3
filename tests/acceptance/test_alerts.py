"""The alerts and the dashboard that ship: each expression asks a running service for something that it tells."""

import json
import re
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from pipeline.metrics import METRICS
from pipeline.samples import sample_images
from tests.acceptance.conftest import Running
from tests.support.processes import wait_until
from tests.support.promql import asked_by

ROOT = Path(__file__).parents[2]
RULES: list[dict[str, Any]] = yaml.safe_load((ROOT / "deploy/prometheus/alerts.yml").read_text())["groups"][0]["rules"]
DASHBOARD = json.loads((ROOT / "deploy/grafana/fairlane.json").read_text("utf-8"))
RUNBOOKS = ROOT / "docs" / "runbook"
DECLARED = {metric.name: metric for metric in METRICS}


def panel_expressions() -> Iterator[tuple[str, str]]:
    for panel in DASHBOARD["panels"]:
        for target in panel.get("targets", ()):
            yield panel["title"], target["expr"]


EXPRESSIONS = [(rule["alert"], rule["expr"]) for rule in RULES] + list(panel_expressions())
each_expression = pytest.mark.parametrize("expression", [each for _, each in EXPRESSIONS])


@pytest.fixture(scope="module")
def told(fairlane: Running) -> dict[str, list[dict[str, str]]]:
    """What a service tells that has read an image: name of a sample -> the labels of each."""
    name, data = sample_images()[0]
    fairlane.api.submit_image(name, data, "aabbccddeeff")

    def families() -> list[Metric]:
        return list(text_string_to_metric_families(text_of(fairlane)))

    wait_until(lambda: any(each.name == "fairlane_watermark_age_seconds" and each.samples for each in families()))
    found: dict[str, list[dict[str, str]]] = {}
    for family in families():
        found.setdefault(family.name + ("_total" if family.type == "counter" else ""), [])
        for sample in family.samples:
            found.setdefault(sample.name, []).append(sample.labels)
    return found


def text_of(fairlane: Running) -> str:
    with urllib.request.urlopen(f"{fairlane.api.base_url}/metrics", timeout=10) as answer:
        return str(answer.read().decode())


@pytest.mark.feature("H5")
@each_expression
def test_each_expression_asks_for_what_a_running_service_tells(
    told: dict[str, list[dict[str, str]]], expression: str
) -> None:
    for asked in asked_by(expression):
        family = re.sub(r"_(bucket|sum|count)$", "", asked.name)
        assert asked.name in told or family in told, f"{asked.name} is not exported"
        metric = DECLARED[asked.name if asked.name in DECLARED else family]
        known = {*metric.labels, *(["le"] if metric.kind == "histogram" else [])}
        assert asked.labels <= known, f"{asked.name} has no such label"
        if asked.equals:
            assert [labels for labels in told[asked.name] if asked.equals.items() <= labels.items()], asked


@pytest.mark.feature("H5")
def test_every_metric_is_on_the_dashboard_or_in_an_alert() -> None:
    asked = {re.sub(r"_bucket$", "", each.name) for _, expression in EXPRESSIONS for each in asked_by(expression)}

    assert set(DECLARED) - asked <= {"fairlane_run_seconds"}


@pytest.mark.feature("H5")
def test_every_alert_has_its_page_and_every_page_its_alert() -> None:
    names = [rule["alert"] for rule in RULES]

    assert sorted(names) == sorted(path.stem for path in RUNBOOKS.glob("*.md"))
    assert [rule["annotations"]["runbook"] for rule in RULES] == [f"docs/runbook/{name}.md" for name in names]
    for path in RUNBOOKS.glob("*.md"):
        headings = re.findall(r"^##? (.+)$", path.read_text("utf-8"), re.MULTILINE)
        assert headings == [path.stem, "What it means", "What to look at", "Cure"], path


@pytest.mark.feature("H5")
def test_scraping_several_web_processes_changes_no_figure() -> None:
    for name, expression in EXPRESSIONS:
        # All web processes tell the same, so whatever is summed up has been reduced to one of each before.
        assert not re.search(r"sum (by \([^)]*\) )?\((?!max)", expression), name


@pytest.mark.parametrize("expression", ["sum(", "rate(fairlane_up)", 'fairlane_up{part=queue"}'])
def test_what_is_no_expression_is_refused(expression: str) -> None:
    with pytest.raises(ValueError):
        asked_by(expression)
