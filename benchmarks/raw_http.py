"""HTTP as bytes on a socket: clients that cost less than the servers that they load."""

import socket


def request(path: str, media_type: str, body: bytes) -> bytes:
    """A POST on a connection that stays."""
    head = (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {media_type}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def answer(connection: socket.socket) -> bytes:
    """The head of the next answer, which has a Content-Length; its body has been read, too."""
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
