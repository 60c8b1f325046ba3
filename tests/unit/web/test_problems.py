"""Every error becomes one problem document that says nothing about our inside."""

import json
from uuid import UUID

import falcon
import falcon.testing
import pytest

from pipeline import errors
from web.errors import HttpProblem, problem_of
from web.middleware import RequestLog, handle_error

SECRET = "redis://user:hush@10.0.0.1/var/lib SELECT"


class Clock:
    def now_ms(self) -> int:
        return 0

    def monotonic_ms(self) -> int:
        return 0


def all_errors(root=errors.FairlaneError):
    return [root, *(cls for sub in root.__subclasses__() for cls in all_errors(sub))]


def example(cls):
    if issubclass(cls, errors.InvalidInput):
        return cls([errors.FieldProblem("/mac", "is wrong")])
    if issubclass(cls, errors.Overload):
        return cls(SECRET, retry_after_ms=2_500)
    if issubclass(cls, errors.TaskEnded):
        return cls(SECRET, state="done")
    return cls(SECRET)


STATUSES = {
    errors.QueueUnavailable: 503,
    errors.DatabaseUnavailable: 503,
    errors.StorageUnavailable: 503,
    errors.InvalidInput: 422,
    errors.InvalidMac: 422,
    errors.MalformedInput: 400,
    errors.BadImage: 422,
    errors.UnsupportedType: 415,
    errors.ImageTooLarge: 422,
    errors.TaskNotFound: 404,
    errors.DeadLetterNotFound: 404,
    errors.DeliveryNotFound: 404,
    errors.TaskConflict: 409,
    errors.TaskEnded: 409,
    errors.QueueFull: 503,
    errors.DeviceBacklogFull: 429,
    errors.HostOverloaded: 503,
    errors.NoCapableWorker: 503,
    errors.LeaseLost: 500,
    errors.ConfigurationError: 500,
}


@pytest.mark.parametrize(("cls", "status"), STATUSES.items())
def test_each_error_has_its_status(cls, status):
    assert problem_of(example(cls)).status == status


#: Their text is made for the client (`errors.py`, `ocr/images.py`).
SHOWN = (errors.MalformedInput, errors.UnsupportedType, errors.ImageTooLarge)


@pytest.mark.parametrize("cls", [cls for cls in all_errors() if cls not in SHOWN])
def test_no_text_from_inside_reaches_the_client(cls):
    assert "hush" not in str(problem_of(example(cls)).body(str(UUID(int=1))))


@pytest.mark.parametrize("cls", [cls for cls in all_errors() if issubclass(cls, errors.Overload)])
def test_an_overload_says_when_to_come_back_rounded_up(cls):
    assert problem_of(example(cls)).retry_after_s == 3


@pytest.mark.parametrize("cls", [cls for cls in all_errors() if issubclass(cls, errors.Retryable)])
def test_what_may_be_retried_says_when(cls):
    assert problem_of(example(cls)).retry_after_s >= 1


def test_at_most_a_hundred_faults_are_listed():
    problem = problem_of(errors.InvalidInput([errors.FieldProblem("/x", "no")] * 1000))
    assert len(problem.body(str(UUID(int=1)))["errors"]) == 100


def client_for(exc: Exception | None) -> falcon.testing.TestClient:
    class Thing:
        def on_get(self, req, resp):
            if exc:
                raise exc

    app = falcon.App(middleware=[RequestLog(Clock())])
    app.add_error_handler(Exception, handle_error)
    app.add_error_handler(falcon.HTTPError, handle_error)
    app.add_route("/thing", Thing())
    return falcon.testing.TestClient(app)


def test_a_bug_is_answered_with_500_and_logged_once_with_its_traceback(caplog):
    with caplog.at_level("INFO"):
        result = client_for(ZeroDivisionError(SECRET)).simulate_get("/thing")
    assert result.status_code == 500
    assert "hush" not in result.text
    (record,) = [record for record in caplog.records if record.name == "web.middleware"]
    assert record.exc_info
    assert record.request_id == result.json["request_id"]


def test_the_request_id_is_the_same_in_header_body_and_log(caplog):
    with caplog.at_level("INFO"):
        result = client_for(errors.QueueUnavailable(SECRET)).simulate_get("/thing")
    document = result.json
    (record,) = [record for record in caplog.records if record.name == "web.middleware"]
    assert result.headers["X-Request-Id"] == document["request_id"] == record.request_id
    assert document["instance"] == f"urn:uuid:{document['request_id']}"
    assert (record.status, record.code, record.reason) == (503, "queue_unavailable", SECRET)


@pytest.mark.feature("H2")
def test_problems_are_problem_json_with_all_members():
    result = client_for(errors.QueueFull("full", retry_after_ms=30_000)).simulate_get("/thing")
    assert result.headers["Content-Type"] == "application/problem+json"
    assert result.headers["Retry-After"] == "30"
    document = result.json
    assert {name: document[name] for name in ("type", "status", "retry_after")} == {
        "type": "/problems/queue-full",
        "status": 503,
        "retry_after": 30,
    }
    assert {"title", "detail", "instance", "request_id"} <= set(document)


def test_an_unknown_route_is_a_problem():
    result = client_for(None).simulate_get("/.git/config")
    assert (result.status_code, result.json["type"]) == (404, "/problems/not-found")
    assert ".git" not in result.text


@pytest.mark.parametrize("method", ["POST", "PUT", "TRACE", "HEAD"])
def test_a_wrong_method_names_the_right_ones(method):
    result = client_for(None).simulate_request(method, "/thing")
    assert (result.status_code, result.headers["Allow"]) == (405, "GET, OPTIONS")
    if method != "HEAD":
        assert result.json["type"] == "about:blank"


@pytest.mark.filterwarnings("ignore:Unknown REQUEST_METHOD")
@pytest.mark.parametrize("method", ["FOO", "WEBSOCKET"])
def test_an_invented_method_is_a_problem(method):
    result = client_for(None).simulate_request(method, "/thing")
    assert (result.status_code, result.headers["Content-Type"]) == (400, "application/problem+json")


def test_half_a_surrogate_pair_in_a_problem_can_be_sent():
    result = client_for(HttpProblem(400, "x", "x", "\ud800")).simulate_get("/thing")
    assert json.loads(result.content)["status"] == 400


def test_a_request_without_host_is_refused():
    app = client_for(None).app
    environ = falcon.testing.create_environ("/thing", http_version="1.1")
    del environ["HTTP_HOST"]
    answer = falcon.testing.StartResponseMock()
    b"".join(app(environ, answer))
    assert answer.status.startswith("400")
