"""Request bodies are read whole, bounded and strictly."""

import io

import falcon
import falcon.testing
import pytest

from pipeline.errors import InvalidInput
from web.bodies import Body, decode_base64, parse_json, read_json
from web.errors import HttpProblem


def request(body: bytes = b"", *, length: int | None = None, **extras: object) -> falcon.Request:
    environ = falcon.testing.create_environ(method="POST")
    environ["wsgi.input"] = io.BytesIO(body)
    environ["CONTENT_LENGTH"] = "" if length is None else str(length)
    environ.update(extras)
    return falcon.Request(environ)


def refusal(call, *args) -> HttpProblem:
    with pytest.raises(HttpProblem) as caught:
        call(*args)
    return caught.value


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b'{"a":',
        b'{"a": NaN}',
        b'{"a": -Infinity}',
        b'{"a": 1e999}',
        b'{"a": 1, "a": 2}',
        b'{"a": {"b": 1, "b": 1}}',
        b'\xef\xbb\xbf{"a": 1}',
        b'{"a": "\xff\xfe"}',
        '{"a": 1}'.encode("utf-16"),
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"9" * 5_000,
        b"{} {}",
        b"{'a': 1}",
        b'{"a": 01}',
        b'{"a": "\n"}',
    ],
)
def test_what_is_not_json_is_refused_as_such(body):
    problem = refusal(parse_json, body)
    assert (problem.status_code, problem.slug) == (400, "invalid-json")


def test_a_refusal_names_the_place_and_not_the_content():
    problem = refusal(parse_json, b'{\n  "secret": hush}')
    assert "line 2 column 13" in problem.detail
    assert "hush" not in problem.detail
    assert "secret" not in problem.detail


def test_json_is_parsed():
    assert parse_json(b'{"a": [1, 2.5, "\xc3\xa9", null, true]}') == {"a": [1, 2.5, "é", None, True]}


@pytest.mark.parametrize(
    "content_type",
    ["", "text/plain", "application/json; charset=utf-7", "application/x-www-form-urlencoded", "multipart/form-data"],
)
def test_other_content_types_than_json_are_refused(content_type):
    req = request(b"{}", length=2, CONTENT_TYPE=content_type)
    assert refusal(read_json, req, 100).status_code == 415


@pytest.mark.parametrize("content_type", ["application/json", "Application/JSON;charset=UTF-8"])
def test_json_in_utf8_is_read(content_type):
    assert read_json(request(b"{}", length=2, CONTENT_TYPE=content_type), 100) == {}


def test_an_announced_length_over_the_limit_is_refused_before_reading():
    class Untouched(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            raise AssertionError("was read")

    req = request(length=1_000_000_000)
    req.env["wsgi.input"] = Untouched()
    assert refusal(Body, req, 100).status_code == 413


@pytest.mark.parametrize("length", ["abc", "-1", "1e3"])
def test_a_length_that_is_not_one_is_refused(length):
    with pytest.raises(falcon.HTTPInvalidHeader):
        Body(request(CONTENT_LENGTH=length), 100)


def test_a_body_that_ends_early_is_refused():
    body = Body(request(b"half", length=8), 100)
    assert refusal(body.read).slug == "incomplete-body"


def test_a_connection_that_breaks_is_refused_as_incomplete():
    class Broken(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            raise ConnectionResetError

    req = request(length=8)
    req.stream = Broken()
    assert refusal(Body(req, 100).read).slug == "incomplete-body"


def test_reading_stops_at_the_announced_length():
    assert Body(request(b"abcdef", length=3), 100).read() == b"abc"


def test_a_request_without_length_has_an_empty_body():
    assert Body(request(b"ignored"), 100).read() == b""


def test_a_chunked_body_is_read_when_the_server_ends_it():
    req = request(b"chunks", HTTP_TRANSFER_ENCODING="chunked", **{"wsgi.input_terminated": True})
    assert Body(req, 100).read() == b"chunks"


def test_a_chunked_body_over_the_limit_is_refused():
    req = request(b"x" * 101, HTTP_TRANSFER_ENCODING="chunked", **{"wsgi.input_terminated": True})
    assert refusal(Body(req, 100).read).status_code == 413


def test_a_chunked_body_that_the_server_does_not_end_needs_a_length():
    req = request(b"chunks", HTTP_TRANSFER_ENCODING="chunked")
    assert refusal(Body, req, 100).status_code == 411


@pytest.mark.parametrize("value", ["****", "YWI", "YW\nI=", "é"])
def test_what_is_not_base64_names_its_field(value):
    with pytest.raises(InvalidInput) as caught:
        decode_base64(value, "/image_base64", 100)
    assert caught.value.problems[0].pointer == "/image_base64"


def test_base64_is_decoded_up_to_the_limit():
    assert decode_base64("YWI=", "/f", 2) == b"ab"
    assert refusal(decode_base64, "YWJjZA==", "/f", 2).status_code == 413
