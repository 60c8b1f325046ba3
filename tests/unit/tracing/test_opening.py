"""Switched off, or without the extra, nothing of OpenTelemetry is imported and nothing is written."""

import logging
import subprocess
import sys

import pytest

from pipeline.tracing import open_traces
from tests.support.documents import ROOT

#: The client of Redis imports the metrics of OpenTelemetry by itself, wherever they are installed.
LOADED = """
import sys
from pipeline.settings import Settings
from pipeline.actors import build_broker
from pipeline.tracing import open_traces
import pipeline.scheduler.__main__, web.wsgi
assert open_traces("", "web") is None
ours = ("pipeline.tracing.otel", "opentelemetry.exporter", "opentelemetry.sdk.trace", "opentelemetry.proto")
print([name for name in sys.modules if name.startswith(ours)])
"""


def test_every_process_that_writes_no_traces_imports_nothing_for_them(tmp_path: object) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED],
        cwd=str(tmp_path),
        env={"PYTHONPATH": str(ROOT), "FAIRLANE_LOG_LEVEL": "ERROR", "PATH": ""},
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
    )
    assert done.stdout.strip() == "[]", done.stderr


def test_settings_that_opentelemetry_refuses_cost_the_traces_alone(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "many")
    with caplog.at_level(logging.WARNING):
        assert open_traces("http://127.0.0.1:1/v1/traces", "web") is None
    assert "OpenTelemetry cannot start" in caplog.text


def test_without_the_extra_the_process_starts_and_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    monkeypatch.delitem(sys.modules, "pipeline.tracing.otel", raising=False)
    with caplog.at_level(logging.WARNING):
        assert open_traces("http://127.0.0.1:1/v1/traces", "web") is None
    assert "the extra `otel` is not installed" in caplog.text
