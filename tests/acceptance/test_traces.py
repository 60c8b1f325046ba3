"""One trace from the request to the announcement, written by the real processes to a collector beside them."""

import json
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pipeline.clock import SystemClock
from pipeline.settings import Settings
from tests.acceptance.conftest import settings_for
from tests.support.collector import Collector, SentSpan, collecting
from tests.support.processes import wait_until
from tests.support.receivers import receiving
from tests.support.ward import Ward
from tests.support.web_process import WebProcess

WORKER = (sys.executable, "-m", "dramatiq", "pipeline.actors", "--queues", "text", "notify", "--processes", "1")
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
MAC = "aabbccddeeff"
WORD = "刷单"
TEXT = f"{WORD}兼职 please"
CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@dataclass
class Traced:
    """A running fairlane that writes traces."""

    ward: Ward
    web: WebProcess

    def submit(self, **fields: Any) -> str:
        request = urllib.request.Request(
            f"{self.web.url()}/api/ocr/text",
            json.dumps({"mac": MAC, "text": TEXT, "words": [WORD], **fields}).encode(),
            {"Content-Type": "application/json", "traceparent": CALLER},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return str(json.load(answer)["task_id"])


@pytest.fixture
def tracing_to(valkey: object, valkey_url: str, tmp_path: Path) -> Callable[[str], Any]:
    """Start web, scheduler and a worker of texts and announcements, which send their traces there."""

    @contextmanager
    def start(endpoint: str) -> Iterator[Traced]:
        settings: Settings = settings_for(
            tmp_path / "data",
            redis_url=valkey_url,
            traces_endpoint=endpoint,
            webhook_secrets=SECRET,
            webhook_allow_private=True,
            webhook_allow_http=True,
        )
        settings.data_dir.mkdir()
        ward = Ward(settings, tmp_path, workers=1, worker=WORKER)
        ward.start()
        web = WebProcess(tmp_path, settings)
        try:
            yield Traced(ward, web)
        finally:
            web.stop()
            ward.stop()

    return start


@pytest.mark.feature("H5")
def test_a_text_with_a_hit_is_one_trace_from_its_caller_to_its_announcement(
    tracing_to: Callable[[str], Any],
) -> None:
    with collecting() as collector, receiving() as receiver:
        with tracing_to(collector.url) as traced:
            callback = receiver.url(host="127.0.0.1")
            task_id = traced.submit(callback_url=callback)
            wait_until(lambda: receiver.heard, 90)
        # A clean stop sends what is left.
        sent = {span.name: span for span in collector.spans}

    assert {span.trace_id for span in collector.spans} == {CALLER[3:35]}
    assert sorted((span.process, parent_name(collector, span), span.name) for span in collector.spans) == [
        ("web", "the caller", "POST /api/ocr/text"),
        ("worker", "POST /api/ocr/text", "execute_text"),
        ("worker", "POST /api/ocr/text", "wait"),
        ("worker", "execute_notify", "claim"),
        ("worker", "execute_text", "claim"),
        ("worker", "execute_text", "screen"),
        ("worker", "execute_text", "store"),
        ("worker", "store", "execute_notify"),
        ("worker", "store", "wait"),
    ]
    assert [sent[name].notes["fairlane.task_id"] for name in ("execute_text", "execute_notify")] == [task_id] * 2
    assert not any(span.has_failed for span in collector.spans)
    assert all(span.began_ns <= span.ended_ns for span in collector.spans)
    for secret in (WORD, TEXT, "please", SECRET, callback, "sesame"):
        assert secret.encode() not in collector.raw, secret


@pytest.mark.feature("H5")
def test_a_collector_that_cannot_be_reached_harms_nobody_and_is_told_of_once(
    tracing_to: Callable[[str], Any],
) -> None:
    with collecting() as collector:
        nowhere = collector.url  # closed by the time that anything is sent
    clock = SystemClock()
    with tracing_to(nowhere.replace("//", "//user:sesame@")) as traced:
        for _ in range(2):
            assert traced.ward.end_of(traced.submit()) == ("done", "")
            wait_until(lambda: told_in(traced.web.log) == 1, 60)
        began_ms = clock.monotonic_ms()
        assert traced.web.stop() == 0
        assert clock.monotonic_ms() - began_ms < 20_000

    logs = [traced.web.log, traced.ward.folder / "worker-0.log"]
    assert [told_in(log) for log in logs] == [1, 1]
    for log in logs:
        assert "sesame" not in log.read_text()
        assert "Traceback" not in log.read_text()


def told_in(log: Path) -> int:
    return log.read_text().count("spans cannot be sent")


def parent_name(collector: Collector, span: SentSpan) -> str:
    if span.parent_id == CALLER[36:52]:
        return "the caller"
    return next(other.name for other in collector.spans if other.span_id == span.parent_id)
