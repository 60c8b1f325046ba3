"""Receivers of announcements: a server on a real port whose manners a test decides."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from pipeline.webhooks.sending import Address

#: A key and the certificate of `receiver.test` signed with it, good until 2126; it protects nothing.
CERTIFICATE = Path(__file__).parents[1] / "data" / "receiver.pem"

OK = b"HTTP/1.1 204 No Content\r\n\r\n"

Manner = Callable[[socket.socket, threading.Event], None]


@dataclass
class Heard:
    """One request."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Receiver:
    """A server on a port of the loopback.

    Args:
        manner: what it does with a connection once it has read the request.
    """

    port: int
    manner: Manner
    heard: list[Heard] = field(default_factory=list)
    connections: int = 0

    def url(self, host: str = "receiver.test", path: str = "/hook?token=sesame", scheme: str = "http") -> str:
        return f"{scheme}://{host}:{self.port}{path}"


def thanking(sock: socket.socket, _: threading.Event) -> None:
    """Take it."""
    sock.sendall(OK)


def answering(reply: bytes) -> Manner:
    """Send this and close."""
    return lambda sock, _: sock.sendall(reply)


def dripping(data: bytes, pause_s: float = 0.05) -> Manner:
    """Send it a byte at a time, over and over."""

    def drip(sock: socket.socket, stopped: threading.Event) -> None:
        while True:
            for byte in data:
                sock.sendall(bytes([byte]))
                if stopped.wait(pause_s):
                    return

    return drip


def silent(_: socket.socket, stopped: threading.Event) -> None:
    """Say nothing."""
    stopped.wait()


def flooding(sock: socket.socket, stopped: threading.Event) -> None:
    """Answer with a body without an end."""
    sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n")
    while not stopped.is_set():
        sock.sendall(b"x" * 65536)


def at_loopback(_host: str, port: int) -> Sequence[Address]:
    """A resolver to whom every host is here."""
    return [Address(socket.AF_INET, "127.0.0.1", port)]


@contextmanager
def receiving(manner: Manner = thanking, *, is_secure: bool = False, is_deaf: bool = False) -> Iterator[Receiver]:
    """Serve on a free port inside the block.

    Args:
        is_secure: as `receiver.test`, by TLS.
        is_deaf: do not read the request first.
    """
    stopped = threading.Event()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    with socket.create_server(("127.0.0.1", 0)) as server:
        receiver = Receiver(server.getsockname()[1], manner)
        threads: list[threading.Thread] = []

        def serve(sock: socket.socket) -> None:
            with suppress(OSError, ValueError), sock:
                secured = context.wrap_socket(sock, server_side=True) if is_secure else sock
                with secured:
                    if not is_deaf:
                        receiver.heard.append(_read(secured))
                    receiver.manner(secured, stopped)

        def accept() -> None:
            while True:
                try:
                    sock, _ = server.accept()
                except OSError:
                    return
                receiver.connections += 1
                threads.append(threading.Thread(target=serve, args=(sock,)))
                threads[-1].start()

        accepting = threading.Thread(target=accept)
        accepting.start()
        try:
            yield receiver
        finally:
            stopped.set()
            server.shutdown(socket.SHUT_RDWR)
            for thread in (accepting, *threads):
                thread.join()


def _read(sock: socket.socket) -> Heard:
    with sock.makefile("rb") as stream:
        method, target, _ = stream.readline().decode().split(" ", 2)
        headers = {}
        while line := stream.readline().strip():
            name, _, value = line.decode().partition(":")
            headers[name.lower()] = value.strip()
        return Heard(method, target, headers, stream.read(int(headers.get("content-length", "0"))))
