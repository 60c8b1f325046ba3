"""One announcement over real sockets: every manner a receiver may have, and every address it may hide."""

import socket
import threading
from collections.abc import Sequence

import pytest

from pipeline.clock import SystemClock
from pipeline.receivers import ReceiverRules
from pipeline.webhooks.sending import Address, Resolve, Sender, Sent
from tests.support.receivers import (
    CERTIFICATE,
    answering,
    at_loopback,
    dripping,
    flooding,
    receiving,
    silent,
)

CLOCK = SystemClock()
LOOSE = ReceiverRules(allow_private=True, allow_http=True)
LIMIT_S = 0.5
ENDLESS_HEADERS = dripping(b"HTTP/1.1 200 OK\r\nx: y\r\n", 0.005)
INNER = ("127.0.0.1", "10.1.2.3", "169.254.169.254", "100.64.0.1", "::ffff:127.0.0.1", "::1")


def sender(rules: ReceiverRules = LOOSE, resolve: Resolve = at_loopback, timeout_s: float = 20) -> Sender:
    return Sender(rules, CLOCK, timeout_s=timeout_s, resolve=resolve)


def post(url: str, **options: object) -> Sent:
    return sender(**options).post(url, b'{"a":1}', {"content-type": "application/json", "webhook-id": "msg_1"})  # type: ignore[arg-type]


@pytest.mark.feature("R4")
def test_an_announcement_arrives_whole_under_the_name_of_its_receiver() -> None:
    with receiving() as receiver:
        sent = post(receiver.url())

    assert sent == Sent(204)
    (heard,) = receiver.heard
    assert (heard.method, heard.target, heard.body) == ("POST", "/hook?token=sesame", b'{"a":1}')
    assert heard.headers["host"] == f"receiver.test:{receiver.port}"
    assert heard.headers["webhook-id"] == "msg_1"
    assert heard.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    ("reply", "sent"),
    [
        (b"HTTP/1.1 200 OK\r\n\r\nthanks", Sent(200)),
        (b"HTTP/1.1 500 Oh\r\n\r\n", Sent(500, "it answered 500")),
        (b"HTTP/1.1 429 Slow\r\n\r\n", Sent(429, "it answered 429")),
        (b"HTTP/1.1 410 Gone\r\n\r\n", Sent(410, "the receiver is gone for good", is_final=True)),
        (b"", Sent(None, "its reply is not HTTP")),
        (b"SSH-2.0-OpenSSH_9.2 secret-banner\r\n", Sent(None, "its reply is not HTTP")),
        (b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 500, Sent(None, "its reply is not HTTP")),
        (b"HTTP/1.1 200 OK\r\nx: " + b"y" * 100_000, Sent(None, "its reply is not HTTP")),
    ],
    ids=["taken", "error", "throttled", "gone", "closed at once", "no HTTP", "too many headers", "too long a header"],
)
@pytest.mark.feature("R4")
def test_the_status_decides_and_nothing_of_the_reply_is_repeated(reply: bytes, sent: Sent) -> None:
    with receiving(answering(reply)) as receiver:
        assert post(receiver.url()) == sent


@pytest.mark.feature("R4")
def test_a_redirect_is_not_followed() -> None:
    with receiving() as elsewhere:
        location = elsewhere.url(host="127.0.0.1").encode()
        with receiving(answering(b"HTTP/1.1 307 T\r\nLocation: " + location + b"\r\n\r\n")) as receiver:
            assert post(receiver.url()) == Sent(307, "it redirects; redirects are not followed")

    assert (len(receiver.heard), elsewhere.connections) == (1, 0)


@pytest.mark.feature("R4")
@pytest.mark.parametrize(
    "manner",
    [silent, dripping(b"HTTP/1.1 200 OK"), dripping(b"HTTP/1.1 100 Continue\r\n\r\n", 0.001)],
    ids=["says nothing", "drips its status", "says go on without end"],
)
def test_a_receiver_that_takes_its_time_is_cut_off_at_the_deadline(manner: object) -> None:
    with receiving(manner) as receiver:  # type: ignore[arg-type]
        began_ms = CLOCK.monotonic_ms()
        sent = post(receiver.url(), timeout_s=LIMIT_S)
        took_ms = CLOCK.monotonic_ms() - began_ms

    assert sent == Sent(None, "no status within 0.5 s")
    assert 400 <= took_ms < 5_000


@pytest.mark.feature("R4")
def test_headers_without_an_end_hold_nobody_and_nothing_of_them_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with receiving(ENDLESS_HEADERS) as receiver:
        began_ms = CLOCK.monotonic_ms()
        assert post(receiver.url(), timeout_s=LIMIT_S) == Sent(200)

    assert CLOCK.monotonic_ms() - began_ms < 5_000
    assert caplog.text == ""


@pytest.mark.feature("R4")
def test_a_tls_handshake_that_drips_is_cut_off_too() -> None:
    with receiving(dripping(b"\x16\x03\x03\x40\x00"), is_deaf=True) as receiver:
        began_ms = CLOCK.monotonic_ms()
        sent = post(receiver.url(scheme="https"), timeout_s=LIMIT_S)

    assert sent == Sent(None, "no status within 0.5 s")
    assert CLOCK.monotonic_ms() - began_ms < 5_000


@pytest.mark.feature("R4")
def test_a_body_without_an_end_is_not_read() -> None:
    with receiving(flooding) as receiver:
        assert post(receiver.url()) == Sent(200)


@pytest.mark.feature("R4")
def test_a_resolver_that_hangs_is_not_waited_for() -> None:
    go_on = threading.Event()

    def hang(_host: str, _port: int) -> Sequence[Address]:
        go_on.wait(30)
        return []

    sent = post("http://receiver.test:8000/", resolve=hang, timeout_s=LIMIT_S)
    go_on.set()

    assert sent == Sent(None, "no status within 0.5 s")


@pytest.mark.feature("R4")
def test_a_port_where_nobody_listens_and_a_name_that_nobody_knows_may_be_tried_again() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    assert post(f"http://receiver.test:{port}/") == Sent(None, "Connection refused")

    def unknown(_host: str, _port: int) -> Sequence[Address]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    assert post("http://receiver.test/", resolve=unknown) == Sent(None, "its name cannot be resolved")


@pytest.mark.feature("R4")
@pytest.mark.parametrize("address", INNER)
def test_a_name_that_means_an_inner_address_is_not_connected_to(address: str) -> None:
    with receiving() as receiver:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        places = [Address(socket.AF_INET, "8.8.8.8", 443), Address(family, address, receiver.port)]
        sent = post(receiver.url(scheme="https"), rules=ReceiverRules(), resolve=lambda _host, _port: places)

    assert sent.is_final
    assert sent.error.startswith("receiver.test is at an address that is not")
    assert receiver.connections == 0


@pytest.mark.feature("R4")
def test_a_name_is_resolved_once_so_what_was_checked_is_what_is_connected_to() -> None:
    answers = []

    def rebinding(_host: str, port: int) -> Sequence[Address]:
        answers.append(port)
        assert len(answers) == 1, "it was asked again"
        return [Address(socket.AF_INET, "127.0.0.1", port)]

    with receiving() as receiver:
        # Whoever resolved the name itself would fail: nobody but us knows receiver.test.
        assert post(receiver.url(), resolve=rebinding) == Sent(204)


@pytest.mark.feature("R4")
def test_a_silent_address_leaves_time_for_the_next_one() -> None:
    with socket.socket() as closed, receiving() as receiver:
        closed.bind(("127.0.0.1", 0))
        dead = Address(socket.AF_INET, "127.0.0.1", closed.getsockname()[1])
        live = Address(socket.AF_INET, "127.0.0.1", receiver.port)
        assert post(receiver.url(), resolve=lambda _host, _port: [dead, live]) == Sent(204)


@pytest.mark.feature("R4")
def test_the_rules_hold_for_urls_that_were_taken_before_they_were_tightened() -> None:
    with receiving() as receiver:
        sent = post(receiver.url(), rules=ReceiverRules(allow_private=True))

    assert sent == Sent(None, "the URL must be an https:// URL", is_final=True)
    assert receiver.connections == 0


@pytest.mark.feature("R4")
def test_a_certificate_must_be_trusted_and_of_that_name(monkeypatch: pytest.MonkeyPatch) -> None:
    with receiving(is_secure=True) as receiver:
        stranger = post(receiver.url(scheme="https"))
        monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
        trusted = post(receiver.url(scheme="https"))
        misnamed = post(receiver.url(host="other.test", scheme="https"))

    assert stranger.error.startswith("its certificate is refused: self")
    assert trusted == Sent(204)
    assert misnamed.error.startswith("its certificate is refused")
    assert len(receiver.heard) == 1
