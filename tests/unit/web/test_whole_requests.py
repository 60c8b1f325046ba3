"""The bridge between the event loop and the threads, spoken to as a server speaks to it."""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import pytest

from web import whole_requests
from web.long_polls import AGAIN_S, WaitingRoom
from web.whole_requests import LostBody, SlowBody, WholeRequests

SCOPE = {
    "type": "http",
    "method": "POST",
    "path": "/x",
    "raw_path": b"/x%20y?q",
    "query_string": b"q=1",
    "http_version": "1.1",
    "scheme": "http",
    "client": ("10.0.0.1", 1),
    "server": ("h", 80),
    "headers": [(b"host", b"h"), (b"x-a", b"1"), (b"x-a", b"2")],
}


def told(data: bytes, *, more: bool = False) -> dict[str, Any]:
    return {"type": "http.request", "body": data, "more_body": more}


GONE = {"type": "http.disconnect"}


class Caller:
    """A client that says one thing after the other, and then nothing any more."""

    def __init__(self, *messages: dict[str, Any]) -> None:
        self.messages = list(messages)
        self.heard: list[dict[str, Any]] = []

    async def receive(self) -> dict[str, Any]:
        if not self.messages:
            await asyncio.Event().wait()
        return self.messages.pop(0)

    async def send(self, message: Any) -> None:
        self.heard.append(message)

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.heard)


def play(app: Any, caller: Caller, body_max_bytes: int = 100, **scope: Any) -> Caller:
    room = WaitingRoom(seats=1, seats_per_address=1)
    whole = WholeRequests(app, threads=2, body_max_bytes=body_max_bytes, room=room)
    asyncio.run(whole({**SCOPE, **scope}, caller.receive, caller.send))
    return caller


def echo(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    start_response("200 OK", [("X-Path", environ["PATH_INFO"]), ("X-A", environ["HTTP_X_A"])])
    return [environ["wsgi.input"].read()]


def test_a_request_comes_whole_and_its_answer_goes_back() -> None:
    caller = play(echo, Caller(told(b"one ", more=True), told(b"two")))
    assert caller.body == b"one two"
    assert caller.heard[0]["status"] == 200
    assert caller.heard[0]["headers"] == [(b"x-path", b"/x y"), (b"x-a", b"1,2")]


def test_an_application_is_not_called_for_a_client_that_went_away() -> None:
    assert play(echo, Caller(told(b"one", more=True), GONE)).heard == []


@pytest.mark.parametrize(
    ("caller", "fault"),
    [
        (Caller(told(b"one", more=True)), SlowBody),
        (Caller(told(b"x" * 101, more=True)), OSError),
    ],
)
def test_a_body_that_is_not_whole_cannot_be_taken_for_one(
    monkeypatch: pytest.MonkeyPatch, caller: Caller, fault: type[Exception]
) -> None:
    monkeypatch.setattr(whole_requests, "BODY_GRACE_S", 0.05)
    monkeypatch.setattr(whole_requests, "_LINGER_S", 0.05)
    raised: list[Exception] = []

    def read(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        for size in (-1, 1_000):
            try:
                while environ["wsgi.input"].read(size):
                    pass
            except OSError as exc:
                raised.append(exc)
        start_response("408 Request Timeout", [])
        return [b"late"]

    assert play(read, caller).body == b"late"
    assert [type(exc) for exc in raised] == [fault, fault]


@pytest.mark.parametrize("length", [100, 101], ids=["while its body is waited for", "after it was refused"])
def test_a_client_that_goes_on_sending_is_left_although_timeouts_get_lost(
    monkeypatch: pytest.MonkeyPatch, length: int
) -> None:
    monkeypatch.setattr(whole_requests, "BODY_GRACE_S", 0.05)
    monkeypatch.setattr(whole_requests, "_LINGER_S", 0.05)

    class Tireless(Caller):
        async def receive(self) -> dict[str, Any]:
            # As `asyncio.wait_for` of Python 3.11, when a piece comes together with the cancellation.
            with suppress(asyncio.CancelledError, TimeoutError):
                await asyncio.wait_for(asyncio.Event().wait(), 0.2)
            return await super().receive()

    def refuse(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        start_response("408 Request Timeout", [])
        return [b"late"]

    caller = Tireless(*[told(b"x", more=True)] * 20, GONE)
    assert play(refuse, caller, headers=[(b"content-length", b"%d" % length)]).body == b"late"
    assert len(caller.messages) > 10


def test_a_body_without_room_on_the_disk_is_not_taken_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    class FullDisk:
        def __init__(self, *_: Any) -> None: ...
        def __enter__(self) -> "FullDisk":
            return self

        def __exit__(self, *_: object) -> None: ...
        def seek(self, place: int) -> None: ...
        def read(self, size: int) -> bytes:
            return b""

        def write(self, data: bytes) -> None:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(whole_requests.tempfile, "SpooledTemporaryFile", FullDisk)
    monkeypatch.setattr(whole_requests, "_LINGER_S", 0.05)

    def read(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        with pytest.raises(LostBody):
            environ["wsgi.input"].read()
        start_response("503 Service Unavailable", [])
        return []

    assert play(read, Caller(told(b"x"))).heard[0]["status"] == 503


def test_an_application_that_wants_to_be_asked_again_is_until_the_client_goes() -> None:
    class Leaving(Caller):
        looks = 0

        async def receive(self) -> dict[str, Any]:
            if self.messages:
                return self.messages.pop(0)
            self.loop, self.goes = asyncio.get_running_loop(), asyncio.Event()
            await self.goes.wait()
            return GONE

        def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
            self.looks += 1
            if self.looks == 3:
                self.loop.call_soon_threadsafe(self.goes.set)
            environ[AGAIN_S] = 0.01
            start_response("200 OK", [])
            return [b""]

    caller = Leaving(told(b""))
    assert play(caller, caller).heard == []
    assert caller.looks >= 3


def test_a_body_that_no_route_wanted_is_no_client_that_went_away() -> None:
    calls = []

    def patient(environ: dict[str, Any], start: Any) -> list[bytes]:
        calls.append(1)
        if len(calls) < 3:
            environ[AGAIN_S] = 0.01
        start("200 OK", [])
        return [b"done"]

    caller = play(patient, Caller(told(b""), told(b"surplus", more=True), told(b"surplus")))

    assert (len(calls), caller.body) == (3, b"done")


def test_a_stream_is_closed_when_its_client_reads_too_slowly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole_requests, "_SEND_S", 0.05)
    closed: list[bool] = []

    class Stream:
        def __iter__(self) -> "Stream":
            return self

        def __next__(self) -> bytes:
            return b"part"

        def close(self) -> None:
            closed.append(True)

    class Stuck(Caller):
        async def send(self, message: Any) -> None:
            if len(self.heard) == 3:
                await asyncio.Event().wait()
            self.heard.append(message)

    def stream(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        start_response("200 OK", [])
        return Stream()

    assert play(stream, Stuck(told(b""))).body == b"partpart"
    assert closed == [True]


def test_seats_are_counted_for_each_address_and_given_back() -> None:
    room = WaitingRoom(seats=2, seats_per_address=1)
    first, second, third = ({"REMOTE_ADDR": address} for address in ("a", "a", "b"))
    assert [room.enter(environ) for environ in (first, first, second, third)] == [True, True, False, True]
    assert not room.enter({"REMOTE_ADDR": "c"})
    room.leave(first)
    assert room.enter(second)
    room.is_closing = lambda: True
    assert not room.enter(second)
