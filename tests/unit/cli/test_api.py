"""The HTTP client, against a small server that answers what a test tells it."""

import io
import json
import threading
from collections.abc import Iterator

import falcon
import pytest
from falcon.media.multipart import MultipartFormHandler

from pipeline import errors
from pipeline.cli.api import Api, error_of, patiently
from tests.support.http_service import Asked, Reply, serving


class Script:
    """Answers with the next of `replies`, whatever is asked."""

    def __init__(self, url: str, asked: list[Asked], replies: list[Reply]) -> None:
        self.url = url
        self.asked = asked
        self.replies = replies


@pytest.fixture
def service() -> Iterator[Script]:
    replies: list[Reply] = []
    with serving(lambda _: replies.pop(0)) as service:
        yield Script(service.url, service.asked, replies)


def test_an_image_is_sent_as_a_form_that_falcon_can_read(service: Script) -> None:
    service.replies.append(Reply(202, {"task_id": "t1"}))
    image = bytes(range(256)) + b"\r\n--"
    assert Api(service.url).submit_image('a "b"\n.png', image, "02aabbccddee", ["赌博", "x"]) == {"task_id": "t1"}
    path, content_type, body = service.asked[0].path, service.asked[0].content_type, service.asked[0].body
    assert path == "/api/ocr/image"
    form = MultipartFormHandler().deserialize(io.BytesIO(body), content_type, len(body))
    parts = [(part.name, part.stream.read()) for part in form]
    assert parts == [
        ("mac", b"02aabbccddee"),
        ("words", "赌博\nx".encode()),
        ("file", image),
    ]
    assert falcon.MEDIA_MULTIPART in content_type


def test_a_text_is_sent_as_json(service: Script) -> None:
    service.replies.append(Reply(202, {"task_id": "t1"}))
    Api(service.url + "/").submit_text("你好\ud800", "02aabbccddee", ["x"])
    path, content_type, body = service.asked[0].path, service.asked[0].content_type, service.asked[0].body
    assert (path, content_type) == ("/api/ocr/text", "application/json")
    assert json.loads(body) == {"mac": "02aabbccddee", "text": "你好\ud800", "words": ["x"]}


def test_a_task_id_cannot_change_the_path(service: Script) -> None:
    service.replies.append(Reply(200, {}))
    Api(service.url).task("../x?y", wait_s=3)
    assert service.asked[0].path == "/api/ocr/tasks/..%2Fx%3Fy?wait=3"


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, errors.MalformedInput),
        (403, errors.Permanent),
        (404, errors.TaskNotFound),
        (409, errors.TaskConflict),
        (413, errors.ImageTooLarge),
        (415, errors.UnsupportedType),
        (422, errors.InvalidInput),
        (429, errors.Overload),
        (500, errors.Retryable),
        (503, errors.Overload),
    ],
)
def test_a_refusal_comes_back_as_the_error_it_was(service: Script, status: int, kind: type[Exception]) -> None:
    service.replies.append(Reply(status, {"detail": "why", "errors": [{"pointer": "/mac", "detail": "why"}]}))
    with pytest.raises(kind, match="why"):
        Api(service.url).task("t1")


def test_a_refusal_without_a_body_of_ours_is_told_by_its_status() -> None:
    assert str(error_of(500, b"<html>", None)) == "HTTP 500: HTTP 500"


def test_the_wait_that_the_service_asks_for_is_kept(service: Script) -> None:
    service.replies.append(Reply(429, {}, {"Retry-After": "7"}))
    with pytest.raises(errors.Overload) as refused:
        Api(service.url).task("t1")
    assert refused.value.retry_after_ms == 7_000


@pytest.mark.parametrize("answer", [b"not json", b"[1"])
def test_an_answer_that_cannot_be_read_counts_as_none(service: Script, answer: bytes) -> None:
    service.replies.append(Reply(200, answer))
    with pytest.raises(errors.Retryable, match="no answer from"):
        Api(service.url).task("t1")


def test_nobody_there_is_unreachable() -> None:
    with pytest.raises(errors.Retryable, match="is fairlane running there"):
        Api("http://127.0.0.1:9").task("t1")


def test_a_proxy_of_the_environment_is_not_asked_for_loopback(service: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    service.replies.append(Reply(200, {"state": "done"}))
    assert Api(service.url).task("t1") == {"state": "done"}


class Refusing:
    """Refuses so many times, then answers; a wait of its error is no time at all."""

    def __init__(self, times: int) -> None:
        self.left = times

    def __call__(self) -> str:
        self.left -= 1
        if self.left >= 0:
            raise errors.QueueFull("full", retry_after_ms=0)
        return "accepted"


def test_a_refused_call_is_made_again() -> None:
    assert patiently(Refusing(3), threading.Event()) == "accepted"


def test_patience_has_an_end() -> None:
    with pytest.raises(errors.QueueFull):
        patiently(Refusing(5), threading.Event(), tries=5)


def test_patience_ends_when_somebody_wants_us_to_stop() -> None:
    stop = threading.Event()
    stop.set()
    with pytest.raises(KeyboardInterrupt):
        patiently(Refusing(1), stop)
