"""A TCP proxy in front of a server, which can refuse, swallow, delay or answer by itself, and counts what it did."""

import asyncio
import socket
import threading
from contextlib import suppress
from typing import Literal

#: `pass` forwards. `refuse` closes at once. `swallow` hands requests on and drops every reply. `slow` waits with each
#: reply. `answer` answers each request by itself and hands nothing on.
Mode = Literal["pass", "refuse", "swallow", "slow", "answer"]

_CHUNK_BYTES = 65_536


class Proxy:
    """Forwards a port of the loopback to a server's; all is closed after `close`.

    Args:
        port: of the server, on the loopback.
    """

    def __init__(self, port: int) -> None:
        self._target = port
        self.mode: Mode = "pass"
        self.delay_s = 0.0
        self.answer = b""
        #: Connections refused, replies swallowed, delayed or made up since `set`.
        self.struck = 0
        self._open: set[asyncio.StreamWriter] = set()
        self._loop = asyncio.new_event_loop()
        self._end = asyncio.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._run, name=f"proxy-{port}", daemon=True)
        self._thread.start()

    def set(self, mode: Mode, *, delay_s: float = 0.0, answer: bytes = b"") -> None:
        """Behave like this from now on; connections that are open are closed, but for `slow` and `swallow`."""
        self.delay_s, self.answer = delay_s, answer
        if mode != "pass":
            self.struck = 0
        was, self.mode = self.mode, mode
        if mode in ("refuse", "answer") or was in ("swallow", "answer"):
            self.cut()

    def cut(self) -> None:
        """Close every open connection."""
        done = threading.Event()
        self._loop.call_soon_threadsafe(lambda: (self._close_all(), done.set()))
        done.wait(10)

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join()

    def _close_all(self) -> None:
        for writer in list(self._open):
            writer.transport.abort()

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._listen())

    async def _listen(self) -> None:
        async with await asyncio.start_server(self._serve, sock=self._listener):
            await self._end.wait()
            self._close_all()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.mode == "refuse":
            self.struck += 1
            writer.transport.abort()
            return
        self._open.add(writer)
        try:
            if self.mode == "answer":
                await self._answer(reader, writer)
            else:
                await self._forward(reader, writer)
        except (OSError, asyncio.CancelledError):
            pass  # either side may go at any time, and so may we
        finally:
            self._open.discard(writer)
            writer.transport.abort()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(_CHUNK_BYTES):
            self.struck += 1
            writer.write(self.answer)
            await writer.drain()
            writer.close()

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_server, to_server = await asyncio.open_connection("127.0.0.1", self._target)
        self._open.add(to_server)
        ways = [
            asyncio.ensure_future(self._pump(reader, to_server, is_reply=False)),
            asyncio.ensure_future(self._pump(from_server, writer, is_reply=True)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
                with suppress(asyncio.CancelledError, OSError):
                    await way
            self._open.discard(to_server)
            to_server.transport.abort()

    async def _pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, *, is_reply: bool) -> None:
        while data := await source.read(_CHUNK_BYTES):
            if is_reply and self.mode == "swallow":
                self.struck += 1
                continue
            if is_reply and self.mode == "slow":
                self.struck += 1
                await asyncio.sleep(self.delay_s)
            sink.write(data)
            await sink.drain()
