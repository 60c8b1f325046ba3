"""The trace of a submit: begun by the request, told to the task, never by whoever is not let in."""

import falcon.testing
import pytest
from opentelemetry.sdk.trace import ReadableSpan

from pipeline.tracing import Carried, carried_in
from tests.support.service import MAC, Service, on_sqlite
from tests.support.written_traces import WrittenTraces, traceparent_of

GIVEN = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
TEXT = "刷单兼职"


@pytest.fixture
def traces() -> WrittenTraces:
    return WrittenTraces()


@pytest.fixture
def client(service: Service, traces: WrittenTraces) -> falcon.testing.TestClient:
    return service.http(traces=traces)


def submit(client: falcon.testing.TestClient, **options: str) -> falcon.testing.Result:
    return client.simulate_post("/api/ocr/text", json={"mac": MAC, "text": TEXT}, headers=options)


def carried_by(service: Service, task_id: str) -> Carried | None:
    """What whoever claims the task learns."""
    claims = {claim.task_id: claim for claim in service.queue.claim("text", limit=100)}
    return carried_in(service.queue.start(task_id, claims[task_id].token).payload)


def test_a_submit_begins_a_trace_that_its_task_carries(
    service: Service, client: falcon.testing.TestClient, traces: WrittenTraces
) -> None:
    task_id = submit(client).json["task_id"]

    (span,) = traces.spans
    assert span.name == "POST /api/ocr/text"
    assert dict(span.attributes or {}) == {
        "http.request.method": "POST",
        "http.route": "/api/ocr/text",
        "http.response.status_code": 202,
        "fairlane.task_id": task_id,
        "fairlane.mac": MAC,
        "fairlane.lane": "text",
    }
    row = service.ledger.get(task_id)
    assert row
    assert row.traceparent == traceparent_of(span)
    assert carried_by(service, task_id) == Carried(traceparent_of(span), row.created_ms)


def test_a_submit_goes_on_with_the_trace_of_its_caller(
    client: falcon.testing.TestClient, traces: WrittenTraces
) -> None:
    submit(client, traceparent=GIVEN)

    (span,) = traces.spans
    assert span.parent
    assert (f"{span.parent.trace_id:032x}", f"{span.parent.span_id:016x}") == (GIVEN[3:35], GIVEN[36:52])


@pytest.mark.parametrize("header", ["hello", "00-" + "0" * 32 + "-" + "0" * 16 + "-01", "x" * 5_000, "é"])
@on_sqlite
def test_a_header_that_is_no_traceparent_hurts_nobody(
    client: falcon.testing.TestClient, traces: WrittenTraces, header: str
) -> None:
    assert submit(client, traceparent=header).status_code == 202
    assert traces.spans[0].parent is None


@on_sqlite
def test_each_text_of_a_batch_has_a_trace_of_its_own_linked_with_the_request(
    service: Service, client: falcon.testing.TestClient, traces: WrittenTraces
) -> None:
    batch = [{"mac": MAC, "text": TEXT}, {"mac": "nonsense", "text": TEXT}, {"mac": MAC, "text": "hello"}]
    results = client.simulate_post("/api/ocr/text", json={"tasks": batch}).json["results"]

    request, submits = traces.named("POST /api/ocr/text")[0], traces.named("submit")
    assert len({trace_of(span) for span in (request, *submits)}) == 4
    assert all(link.context == request.get_span_context() for span in submits for link in span.links)
    assert [notes_of(span).get("error.type") for span in submits] == [None, "invalid_mac", None]
    rows = [service.ledger.get(result["task"]["task_id"]) for result in results if result["task"]]
    assert [row.traceparent for row in rows if row] == [traceparent_of(submits[0]), traceparent_of(submits[2])]


@on_sqlite
def test_a_refused_submit_says_its_code_and_not_what_it_held(
    client: falcon.testing.TestClient, traces: WrittenTraces
) -> None:
    client.simulate_post("/api/ocr/text", json={"mac": TEXT, "text": TEXT, "words": [TEXT]})

    (span,) = traces.spans
    assert notes_of(span)["http.response.status_code"] == 422
    assert TEXT not in span.to_json(indent=None)
    assert "\\u5237" not in span.to_json(indent=None)


@on_sqlite
def test_whoever_is_not_let_in_begins_no_trace(client: falcon.testing.TestClient, traces: WrittenTraces) -> None:
    stranger = {"json": {"mac": MAC, "text": TEXT}, "remote_addr": "192.0.2.1"}
    assert client.simulate_post("/api/ocr/text", **stranger).status_code == 401
    assert client.simulate_post("/api/ocr/text?nonsense=1", json={"mac": MAC, "text": TEXT}).status_code == 400
    assert traces.spans == []


@on_sqlite
def test_nothing_but_a_submit_begins_a_trace(client: falcon.testing.TestClient, traces: WrittenTraces) -> None:
    for path in ("/livez", "/api/queue", "/api/ocr/tasks", "/api/ocr/text", "/api/ocr/nothing"):
        client.simulate_get(path)
    client.simulate_post("/api/ocr/text/x", json={})
    assert traces.spans == []


@on_sqlite
def test_without_traces_a_task_carries_nothing(service: Service) -> None:
    client = service.http()
    task_id = submit(client, traceparent=GIVEN).json["task_id"]

    row = service.ledger.get(task_id)
    assert row
    assert row.traceparent is None
    assert carried_by(service, task_id) is None


def trace_of(span: ReadableSpan) -> int:
    return int(span.get_span_context().trace_id)


def notes_of(span: ReadableSpan) -> dict[str, object]:
    return dict(span.attributes or {})
