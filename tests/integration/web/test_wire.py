"""Requests that no polite client sends: each gets an answer that says what is wrong, and no thread is lost."""

import json

import pytest

from tests.support.web_server import post, problem, request, status

BODY = b'{"mac":"aabbccddeeff","text":"hello"}'


def chunks(*sizes_and_data: bytes, head: tuple[str, ...] = ("Transfer-Encoding: chunked",)) -> bytes:
    return post(*head, body=b"".join(sizes_and_data))


def sent(body: bytes, content_type: str = "application/json", path: str = "/api/ocr/text", *headers: str) -> bytes:
    return request(
        f"POST {path} HTTP/1.1", f"Content-Type: {content_type}", f"Content-Length: {len(body)}", *headers, body=body
    )


def got(target: str, *headers: str, **options: str) -> bytes:
    return request(f"GET {target} HTTP/1.1", *headers, **options)


WHOLE = b"%x\r\n%s\r\n" % (len(BODY), BODY)
LIST = "/api/ocr/tasks?"
REFUSED = {
    400: [
        request("get /livez HTTP/1.1"),
        request("FROB /livez HTTP/1.1"),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET /livez\r\n\r\n",
        b"GET /livez HTTP/1.1\nHost: x\n\n",
        b"SSH-2.0-x\r\n\r\n",
        post("Content-Length: 5", "Transfer-Encoding: chunked", body=b"0\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n"),
        chunks(b"0\r\n\r\n", head=("Transfer-Encoding: chunked", "Transfer-Encoding: chunked")),
        b"POST /api/ocr/text HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        chunks(b"0x2\r\n{}\r\n0\r\n\r\n"),
        chunks(WHOLE, b"0\r\nContent-Length: 3\r\n\r\n"),
        post("Content-Length: +5", body=b"hello"),
        post("Content-Length: 5 5", body=b"hello"),
        post("Content-Length: \u00b2", body=b"hello"),
        post("Content-Length: "),
        got("/livez", "X-A: \x01"),
        got("/livez", ": x"),
        got("/livez", "no colon"),
        got("/livez", "a b: c"),
        got("/livez", host="Host: "),
        got("/livez", host="Host: a,b"),
        got("/livez", host="Host: a b/<>"),
        got("/li vez"),
        got("livez"),
        got("/\u00e9"),
        got(LIST + "text=%ff"),
        got(LIST + "text=%00"),
        got(LIST + "text=%ed%a0%80"),
        got(LIST + "text="),
        got(LIST + "limit=%D9%A1"),
        got(LIST + "limit=" + "9" * 5_000),
        got(LIST + "limit=0"),
        got(LIST + "limit=201"),
        got(LIST + "mac=a&mac=b"),
        got(LIST + "mac="),
        got(LIST + "state=done,failed"),
        got(LIST + "lane=notify"),
        got(LIST + "hit=yes"),
        got(LIST + "from=2026-02-31T00:00:00Z"),
        got(LIST + "from=2026-02-01T00:00:00"),
        got(LIST + "until=99999999999999999999"),
        got(LIST + "cursor=////===="),
        got(LIST + "cursor=OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5OjE="),
        got(LIST + "format=xml"),
        got(LIST + "format=csv&limit=5"),
        got(LIST + "format=jsonl&bom=true"),
        got(LIST + "bom=true"),
        sent(b"[" * 100_000),
        sent(b'{"a":' * 50_000 + b"1" + b"}" * 50_000),
        sent(b"1e999"),
        sent(b'{"text":' + b"9" * 10_000 + b"}"),
        sent(b'{"mac":"aabbccddeeff","text":"a","text":"b"}'),
        sent(BODY.decode().encode("utf-16")),
        sent(BODY + b"\0"),
        sent(b"/*x*/" + BODY),
        sent(b"--BB\r\n", "multipart/form-data; boundary=\u00ff", "/api/ocr/image"),
        sent(b"junk\r\n--BB\r\n\r\n", "multipart/form-data; boundary=BB", "/api/ocr/image"),
    ],
    404: [
        got("/%ff%fe"),
        got("/%zz%1"),
        got("/api/%2e%2e/%2e%2e/etc/passwd"),
        got("/livez/"),
        got("/livez;x=1"),
        got("/livez%0d%0aSet-Cookie:%20a"),
        got("/api/ocr/tasks/%00"),
        request("CONNECT localhost:80 HTTP/1.1"),
    ],
    405: [request("TRACE /livez HTTP/1.1"), request("DELETE /api/ocr/tasks HTTP/1.1")],
    413: [post("Content-Length: " + "9" * 40), chunks(*[b"100000\r\n" + bytes(1 << 20) + b"\r\n"] * 9, b"0\r\n\r\n")],
    414: [got("/" + "a" * 200_000)],
    415: [
        sent(BODY, "application/x-www-form-urlencoded"),
        sent(BODY, ";;;"),
        sent(BODY, "application/json; charset=utf-16"),
        sent(BODY, "application/json", "/api/ocr/text", "Content-Encoding: gzip"),
    ],
    422: [
        sent(b"null"),
        sent(b"[]"),
        sent(b'{"mac":"aabbccddeeff","text":"a","\\ud800":1}'),
        sent(b'{"mac":"aabbccddeeff","text":"a","%s":1}' % (b"k" * 100_000)),
        sent(b'{"mac":"aabbccddeeff","text":"a","__proto__":{}}'),
        sent(b'{"mac":["a"],"text":"x"}'),
        sent(json.dumps({"tasks": [{}] * 101}).encode()),
        sent(json.dumps({"mac": "aabbccddeeff", "text": "x", "words": ["a"] * 10_000}).encode()),
    ],
    431: [got("/livez", *[f"X-{number}: y" for number in range(100)]), chunks(WHOLE, b"0\r\n", b"X: y\r\n" * 500)],
    501: [chunks(WHOLE, b"0\r\n\r\n", head=("Transfer-Encoding: gzip, chunked",))],
}
SERVED = {
    200: [
        got("http://localhost/livez"),
        b"GET /livez HTTP/1.0\r\n\r\n",
        got("/livez", "Content-Length: 5") + b"hello",
        got("/livez", "X-A: \u00e9\u00ff"),
        got("/livez", "Accept: ;;;q=9,*", "Cookie: =;;=\u00ff", "Range: bytes=99-1,5-"),
        got("/openapi.json", 'If-None-Match: """,,W/,\u00ff'),
        got(LIST, 'If-None-Match: W/"abc', "If-Modified-Since: junk"),
        got(LIST + "from=0001-01-01T00:00:00%2B23:59&until=9999-12-31T23:59:59Z"),
        request("OPTIONS /api/ocr/text HTTP/1.1"),
    ],
    202: [
        chunks(WHOLE.replace(b"\r\n", b";a=b\r\n", 1), b"0\r\n\r\n"),
        chunks(*[b"1\r\n%c\r\n" % byte for byte in BODY], b"0\r\n\r\n"),
        sent(BODY, "application/json", "/api/ocr/text", "Expect: 100-continue"),
        sent(BODY, 'application/json; charset="UTF-8"'),
    ],
    304: [got(LIST, "If-None-Match: *")],
}


def named(value: object) -> str:
    return repr(value[:50]) if isinstance(value, bytes) else str(value)


def cases(kinds: dict[int, list[bytes]]) -> list[tuple[int, bytes]]:
    return [(code, raw) for code, raws in kinds.items() for raw in raws]


@pytest.mark.feature("H2")
@pytest.mark.parametrize(("code", "raw"), cases(REFUSED), ids=named)
def test_a_request_of_no_use_is_refused_with_a_problem(server, code, raw):
    before = server.accepted()
    answer = server.say(raw)
    assert status(answer) == code
    document = problem(answer)
    assert document["status"] == code
    logged = [line["status"] for line in server.lines() if line.get("request_id") == document["request_id"]]
    assert logged == [code]
    assert server.accepted() == before


@pytest.mark.parametrize(("code", "raw"), cases(SERVED), ids=named)
def test_an_odd_request_that_means_something_is_served(server, code, raw):
    assert status(server.say(raw)) == code


@pytest.mark.parametrize("target", ["/livez", "/api/ocr/tasks", "/api/ocr/tasks?format=csv", "/openapi.json"])
def test_head_is_get_without_a_body(server, target):
    head, _, body = server.say(request(f"HEAD {target} HTTP/1.1")).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 ")
    assert body == b""


def test_pipelined_requests_are_answered_in_order_and_rubbish_after_them_ends_it(server):
    kept = got("/livez").replace(b"Connection: close\r\n", b"")
    answer = server.say(kept + got("/nowhere").replace(b"Connection: close\r\n", b"") + b"JUNK\r\n\r\n")
    assert [int(part[:3]) for part in answer.split(b"HTTP/1.1 ")[1:]] == [200, 404, 400]


@pytest.mark.parametrize(
    ("given", "is_taken"),
    [("0123456789abcdef0123456789ABCDEF", True), ("8f14e45f-ceea-467f-9a36-dedd4bea2543", True), ("a b<>", False)],
)
def test_the_id_that_a_proxy_gave_a_request_is_taken_if_it_is_one(server, given, is_taken):
    document = problem(server.say(got("/nowhere", f"X-Request-Id: {given}")))
    assert (document["request_id"] == given) == is_taken
    logged = [line for line in server.lines() if line.get("request_id") == document["request_id"]]
    assert [(line["status"], line["method"]) for line in logged] == [(404, "GET")]
    assert {"duration_ms", "bytes", "client"} <= set(logged[0])
