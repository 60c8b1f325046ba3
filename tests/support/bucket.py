"""Just enough of S3 over HTTP for one bucket: put, get, head, copy, delete. It checks that requests are signed."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import unquote, urlsplit

_COPIED = b"<CopyObjectResult><ETag>&quot;0&quot;</ETag></CopyObjectResult>"


class Bucket(ThreadingHTTPServer):
    """The objects by their paths, `/<bucket>/<key>`; answers 503 while `is_down`."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Requests)
        self.objects: dict[str, bytes] = {}
        self.name = "bucket"
        self.is_down = False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


@contextmanager
def served_bucket() -> Iterator[Bucket]:
    """A bucket that answers inside the block."""
    with Bucket() as bucket:
        thread = Thread(target=bucket.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield bucket
        bucket.shutdown()
        thread.join()


class _Requests(BaseHTTPRequestHandler):
    server: Bucket
    protocol_version = "HTTP/1.1"

    def do_PUT(self) -> None:
        data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        source = self.headers.get("x-amz-copy-source")
        if source is None:
            self._answer_if_there(True, {self._path: data})
        else:
            source = "/" + unquote(source).lstrip("/")
            found = source in self.server.objects
            self._answer_if_there(found, {self._path: self.server.objects.get(source, b"")}, _COPIED)

    def do_GET(self) -> None:
        self._answer_if_there(self._path in self.server.objects, {}, self.server.objects.get(self._path, b""))

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_POST(self) -> None:
        # DeleteObjects: what the client sends for one key too.
        wished = self.rfile.read(int(self.headers["Content-Length"])).decode()
        keys = re.findall("<Key>(.*?)</Key>", wished)
        for key in keys if not self.server.is_down else ():
            self.server.objects.pop(f"{self._path}/{key}", None)
        deleted = "".join(f"<Deleted><Key>{key}</Key></Deleted>" for key in keys)
        self._answer_if_there(True, {}, f"<DeleteResult>{deleted}</DeleteResult>".encode())

    @property
    def _path(self) -> str:
        return unquote(urlsplit(self.path).path)

    def _answer_if_there(self, is_there: bool, stored: dict[str, bytes], body: bytes = b"") -> None:
        if self.server.is_down:
            self._answer(503, b"<Error><Code>SlowDown</Code></Error>")
        elif not self.headers.get("Authorization", "").startswith("AWS4-HMAC-SHA256 Credential=id/"):
            self._answer(403, b"<Error><Code>AccessDenied</Code></Error>")
        elif not f"{self._path}/".startswith(f"/{self.server.name}/"):
            self._answer(404, b"<Error><Code>NoSuchBucket</Code></Error>")
        elif not is_there:
            self._answer(404, b"<Error><Code>NoSuchKey</Code></Error>")
        else:
            self.server.objects.update(stored)
            self._answer(200, body)

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("ETag", '"0"')
        self.send_header("Last-Modified", "Thu, 09 Oct 2025 08:53:20 GMT")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing: the test says what went wrong."""
