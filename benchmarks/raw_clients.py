"""Clients that cost little: whole requests made beforehand, sent over connections that are kept."""

import json
import socket
import threading
from collections.abc import Callable, Iterable
from time import perf_counter

#: What one connection does: sends, and adds the seconds of each request to the list.
Send = Callable[[socket.socket, list[float]], None]
#: 192 characters, as somebody might write them.
TEXT = "a few words that somebody wrote " * 6


def request_of(path: str, media_type: str, body: bytes) -> bytes:
    """A POST, as it goes over the line."""
    head = (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {media_type}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def text_request(mac: str = "aabbccddeeff") -> bytes:
    """The submit of one text."""
    return request_of("/api/ocr/text", "application/json", json.dumps({"mac": mac, "text": TEXT}).encode())


def answer_of(connection: socket.socket) -> bytes:
    """The head of one answer, which has a Content-Length and has come whole."""
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(65_536)
        assert more, "the server hung up"
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    length = next(
        int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")
    )
    while len(body) < length:
        body += connection.recv(65_536)
    return head


def send_for(port: int, clients: int, seconds: float, request: bytes) -> list[float]:
    """The seconds of each request of clients that send one after the other; all must be accepted."""

    def send(connection: socket.socket, times: list[float]) -> None:
        ends = perf_counter() + seconds
        while (began := perf_counter()) < ends:
            _insist(connection, request)
            times.append(perf_counter() - began)

    return _side_by_side(port, clients, send)


def send_all(port: int, clients: int, requests: Iterable[bytes]) -> list[float]:
    """Send each request once, and return the seconds of each; all must be accepted."""
    left, lock = iter(list(requests)), threading.Lock()

    def send(connection: socket.socket, times: list[float]) -> None:
        while True:
            with lock:
                request = next(left, None)
            if request is None:
                return
            began = perf_counter()
            _insist(connection, request)
            times.append(perf_counter() - began)

    return _side_by_side(port, clients, send)


def _insist(connection: socket.socket, request: bytes) -> None:
    connection.sendall(request)
    head = answer_of(connection)
    assert b" 202 " in head[:20], head[:200]


def _side_by_side(port: int, clients: int, send: Send) -> list[float]:
    times: list[float] = []
    faults: list[BaseException] = []

    def run() -> None:
        try:
            with socket.create_connection(("127.0.0.1", port)) as connection:
                send(connection, times)
        except (AssertionError, OSError) as exc:
            faults.append(exc)

    threads = [threading.Thread(target=run) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults, faults[0]
    return times
