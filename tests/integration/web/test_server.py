"""The application behind gunicorn, spoken to byte by byte."""

import pytest

from tests.support.processes import wait_until
from tests.support.web_server import post, problem, request, status

BODY = b'{"mac":"aabbccddeeff","text":"hello"}'


def test_a_text_is_accepted(server):
    assert status(server.say(post(f"Content-Length: {len(BODY)}", body=BODY))) == 202


def test_a_chunked_body_is_accepted(server):
    chunked = b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)
    assert status(server.say(post("Transfer-Encoding: chunked", body=chunked))) == 202


@pytest.mark.parametrize("chunks", [b"zz\r\n{}\r\n0\r\n\r\n", b"2\r\n{}xx0\r\n\r\n", b"-1\r\n{}\r\n0\r\n\r\n"])
def test_a_broken_chunk_is_a_problem_of_the_client(server, chunks):
    before = server.accepted()
    answer = server.say(post("Transfer-Encoding: chunked", body=chunks))
    assert (status(answer), problem(answer)["type"]) == (400, "about:blank")
    assert server.accepted() == before


@pytest.mark.parametrize(
    "raw",
    [
        post("Content-Length: 7", "Content-Length: 8", body=b'{"a":1}'),
        post("Content-Length: 7, 8", body=b'{"a":1}'),
        post("Content-Length: -1"),
        post("Content-Length: abc"),
        post("Transfer-Encoding: xchunked", body=b'{"a":1}'),
        post("Transfer-Encoding: chunked, identity", body=b"0\r\n\r\n"),
        post("Content-Length : 7", body=b'{"a":1}'),
        request("GET /livez HTTP/1.1", "X-A: b\r\n c"),
        request("GET /livez HTTP/1.1", "X-A: a\x00b"),
        request("GET /livez HTTP/1.1", "X-A: a\rb"),
        request("GET /livez HTTP/1.1", "X-A: " + "a" * 20_000),
        request("GET /livez HTTP/1.1", host="Host: a\r\nHost: b"),
        request("GET /livez HTTP/1.1", host=""),
        request("GET /livez HTTP/3.0"),
        request(f"GET /livez?q={'a' * 9_000} HTTP/1.1"),
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    ],
)
def test_what_is_not_http_is_refused(server, raw):
    answer = server.say(raw)
    said = problem(answer)
    assert status(answer) == said["status"]
    assert said["status"] in (400, 414, 431, 501, 505)
    logged = [line["status"] for line in server.lines() if line.get("request_id") == said["request_id"]]
    assert logged == [status(answer)]


def test_a_missing_host_is_a_problem(server):
    answer = server.say(request("GET /livez HTTP/1.1", host=""))
    assert (status(answer), problem(answer)["type"]) == (400, "/problems/host-missing")


def test_a_huge_body_is_refused_unread(server):
    answer = server.say(post("Content-Length: 1000000000"))
    assert (status(answer), problem(answer)["type"]) == (413, "/problems/body-too-large")


@pytest.mark.parametrize("path", ["/api/ocr/text", "/api/ocr/image?mac=aabbccddeeff"])
def test_a_client_that_hangs_up_leaves_nothing(server, path):
    before, logged = server.accepted(), len(server.lines())
    media_type = "image/png" if "image" in path else "application/json"
    head = request(f"POST {path} HTTP/1.1", f"Content-Type: {media_type}", "Content-Length: 100000")
    server.say(head, b"x" * 5_000, hang_up=True)
    wait_until(lambda: "client went away" in [line["message"] for line in server.lines()[logged:]])
    assert server.accepted() == before
    assert not [path for path in (server.folder / "objects").rglob("*") if path.is_file()]


def test_each_request_is_one_line_of_json_with_its_id(server):
    answer = server.say(request("GET /nowhere HTTP/1.1"))
    request_id = problem(answer)["request_id"]
    lines = [line for line in server.lines() if line.get("request_id") == request_id]
    assert [(line["path"], line["status"], line["code"]) for line in lines] == [("/nowhere", 404, "http")]


def test_it_ends_well_when_asked_to(server):
    assert server.process.poll() is None
    assert server.stop() == 0
    assert all("level" in line and "time" in line for line in server.lines())
