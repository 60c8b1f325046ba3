"""The bridge from an event loop, which waits for clients at no cost, to the threads that do the work.

A thread is given to a request only once its body has arrived whole; between two looks of a long poll, and while a
client is slow to read, it is given back. So slow clients cost memory and a connection, and no thread.
"""

import asyncio
import logging
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO, Any, TypeVar

from web.environ import environ_of
from web.long_polls import AGAIN_S, ROOM, WaitingRoom

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
WsgiApp = Callable[..., Iterable[bytes]]

#: Seconds for which a body may be silent, and bytes a second by which it must go on, over any such time: a phone with
#: one bar sends more, and whoever sends a byte a second is cut off after about 10 s.
BODY_GRACE_S = 10.0
BODY_MIN_BYTES_PER_S = 4_096
#: Seconds for which a client that was answered before its body had come may go on sending it, so that it can read the
#: answer: closing at once would make the kernel reset the connection.
_LINGER_S = 2.0
#: Seconds that a client may take to accept the next part of an answer.
_SEND_S = 30.0
_PIECE_BYTES = 1 << 17
#: Pieces of one body taken before other clients have their turn.
_FAIR_SHARE = 64
#: Bytes of a body kept in memory; longer ones go to a temporary file.
_SPOOL_BYTES = 1 << 18

_log = logging.getLogger(__name__)
_T = TypeVar("_T")


class SlowBody(OSError):
    """Raised by reading a body that came too slowly."""


class LostBody(OSError):
    """Raised by reading a body that this machine had no room to keep."""


class Body:
    """A body that has arrived, and what reading beyond its last byte raises, if that was not its end."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.fault: OSError | None = None

    def read(self, size: int = -1, /) -> bytes:
        data = self._file.read(size)
        if self.fault and size != 0 and (size < 0 or not data):
            raise self.fault
        return data


@dataclass(slots=True)
class _Answer:
    """What the WSGI application said.

    Args:
        parts: the body; a list when it is all there.
    """

    status: int
    headers: list[tuple[bytes, bytes]]
    parts: Iterable[bytes]


@dataclass(slots=True)
class _Heard:
    """What `start_response` was told."""

    status: int = 500
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)

    def __call__(self, status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Callable[[bytes], None]:
        self.status = int(status[:3])
        self.headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]
        return _no_write


class WholeRequests:
    """An ASGI application around a WSGI one, safe from slow clients.

    Args:
        threads: requests that are worked on at once.
        body_max_bytes: of any body that a route takes; the rest of a longer one is not kept.
        room: where long polls wait.
    """

    def __init__(self, app: WsgiApp, *, threads: int, body_max_bytes: int, room: WaitingRoom) -> None:
        self._app = app
        self.room = room
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="web")
        self._body_max_bytes = body_max_bytes

    async def __call__(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":  # neither lifespan nor websocket is spoken here
            return
        with tempfile.SpooledTemporaryFile(_SPOOL_BYTES) as file:
            body = Body(file)
            if not await self._has_arrived(scope, receive, body, file):
                where = {"method": scope["method"], "path": scope["path"][:200], "client": _client(scope)}
                _log.info("client went away", extra=where)
                return
            file.seek(0)
            answer = await self._answer(environ_of(scope, body), receive)
            if answer:
                await self._send(answer, send)
                if body.fault or _length(scope) > self._body_max_bytes:
                    await _linger(receive)

    async def _has_arrived(self, scope: Mapping[str, Any], receive: Receive, body: Body, file: IO[bytes]) -> bool:
        """Read the body; False when the client has gone."""
        if _length(scope) > self._body_max_bytes:
            return True  # the route refuses it by its announced length
        loop = asyncio.get_running_loop()
        ends_s, size, messages = loop.time() + BODY_GRACE_S, 0, 0
        while size <= self._body_max_bytes:
            message = await _next_message(receive, ends_s)
            if message is None:
                body.fault = SlowBody("the body came too slowly")
                return True
            if message["type"] == "http.disconnect":
                return False
            messages += 1
            if messages % _FAIR_SHARE == 0:  # what is there already is given without a pause
                await asyncio.sleep(0)
            data = message.get("body", b"")
            size += len(data)
            ends_s = min(ends_s + len(data) / BODY_MIN_BYTES_PER_S, loop.time() + BODY_GRACE_S)
            try:
                file.write(data)
            except OSError as exc:
                _log.warning("no room for a body", extra={"reason": str(exc)})
                body.fault = LostBody("there was no room for the body")
                return True
            if not message.get("more_body", False):
                return True
        body.fault = OSError("the body is too long")
        return True

    async def _answer(self, environ: dict[str, Any], receive: Receive) -> _Answer | None:
        """The answer of the application, once it has one; None when the client went away in between."""
        environ[ROOM] = self.room
        gone: asyncio.Future[None] | None = None
        try:
            while True:
                answer = await self._in_thread(self._call, environ)
                again_s = environ.pop(AGAIN_S, None)
                if again_s is None:
                    return answer
                gone = gone or asyncio.ensure_future(_until_gone(receive))
                done, _ = await asyncio.wait({gone}, timeout=again_s)
                if done:
                    return None
        finally:
            self.room.leave(environ)
            if gone:
                gone.cancel()

    def _call(self, environ: dict[str, Any]) -> _Answer:
        heard = _Heard()
        parts = self._app(environ, heard)
        return _Answer(heard.status, heard.headers, parts)

    async def _send(self, answer: _Answer, send: Send) -> None:
        await send({"type": "http.response.start", "status": answer.status, "headers": answer.headers})
        try:
            async for part, is_more in self._parts(answer):
                async with asyncio.timeout(_SEND_S):
                    await send({"type": "http.response.body", "body": part, "more_body": is_more})
        except TimeoutError:
            _log.info("client reads too slowly")
        finally:
            close = getattr(answer.parts, "close", None)
            if close:
                await self._in_thread(close)

    async def _parts(self, answer: _Answer) -> AsyncIterator[tuple[bytes, bool]]:
        """The body in parts, each of which a slow client can accept in time, and whether there are more.

        Those of a stream are made in a thread, and what ends it is an empty one.
        """
        if isinstance(answer.parts, list):
            whole = b"".join(answer.parts)
            for start in range(0, max(1, len(whole)), _PIECE_BYTES):
                yield whole[start : start + _PIECE_BYTES], start + _PIECE_BYTES < len(whole)
            return
        parts = iter(answer.parts)
        while (part := await self._in_thread(_next, parts)) is not None:
            yield part, True
        yield b"", False

    async def _in_thread(self, call: Callable[..., _T], *arguments: Any) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, call, *arguments)


def _next(parts: Iterator[bytes]) -> bytes | None:
    return next(parts, None)


def _no_write(data: bytes) -> None:
    raise NotImplementedError("write() of PEP 3333 is not spoken here")


def _length(scope: Mapping[str, Any]) -> int:
    """The announced length of the body, which the server has checked; 0 for a chunked one."""
    return next((int(value) for name, value in scope["headers"] if name == b"content-length"), 0)


def _client(scope: Mapping[str, Any]) -> str:
    return str((scope.get("client") or ("", 0))[0])


async def _next_message(receive: Receive, ends_s: float) -> Message | None:
    """What the client says next, waited for until then at most, whatever it sends; None after that.

    The clock is asked too: `wait_for` of Python 3.11, on which gunicorn's `receive` waits, loses the cancellation of a
    timeout that meets a piece of the body. A loop around one timeout would never end for a client that goes on sending.
    """
    if asyncio.get_running_loop().time() >= ends_s:
        return None
    with suppress(TimeoutError):
        async with asyncio.timeout_at(ends_s):
            return await receive()
    return None


async def _until_gone(receive: Receive) -> None:
    # What comes of a body that no route wanted is not a client that went away.
    while (await receive())["type"] != "http.disconnect":
        pass


async def _linger(receive: Receive) -> None:
    ends_s = asyncio.get_running_loop().time() + _LINGER_S
    while (message := await _next_message(receive, ends_s)) and message["type"] == "http.request":
        pass
