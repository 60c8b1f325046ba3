"""Clients that take their time: they cost a connection each, no thread, and not for long."""

import json
import select
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress

import psutil
import pytest

from pipeline.clock import SystemClock
from tests.support.processes import is_alive, wait_until
from tests.support.web_server import WebServer, post, problem, request, status

BODY = b'{"mac":"aabbccddeeff","text":"hello"}'
HEALTHY = post(f"Content-Length: {len(BODY)}", body=BODY)
#: More than the four threads that the server has.
MANY = 20
#: Seconds after which each slow connection must have been closed.
CLOSED_S = 15


class Crowd:
    """Connections that send a little a second, each until the server has closed it."""

    def __init__(self, connections: list[socket.socket], piece: bytes) -> None:
        self.connections, self._piece = connections, piece
        self.answers: list[bytes] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._send)
        self._thread.start()

    def _send(self) -> None:
        while not self._over.wait(1):
            for connection in self.connections:
                try:
                    connection.sendall(self._piece)
                except OSError:
                    continue

    def read_all(self) -> list[bytes]:
        """Everything that was said to each, once all are closed."""
        return [read(connection) for connection in self.connections]

    def stop(self) -> None:
        self._over.set()
        self._thread.join()


def send_all(connection: socket.socket, data: bytes) -> None:
    with suppress(OSError):
        connection.sendall(data)


def read(connection: socket.socket) -> bytes:
    connection.settimeout(CLOSED_S)
    answer = b""
    try:
        while more := connection.recv(65_536):
            answer += more
    except ConnectionResetError:
        pass
    return answer


@contextmanager
def crowd(server: WebServer, count: int, first: bytes, piece: bytes) -> Iterator[Crowd]:
    with ExitStack() as stack:
        connections = [stack.enter_context(socket.create_connection(("127.0.0.1", server.port))) for _ in range(count)]
        for connection in connections:
            connection.sendall(first)
        found = Crowd(connections, piece)
        stack.callback(found.stop)
        yield found


def slowest_ms(call: Callable[[], bytes], times: int) -> int:
    """How long the slowest of so many healthy requests took; all must be accepted."""
    clock, slowest = SystemClock(), 0
    for _ in range(times):
        began_ms = clock.monotonic_ms()
        assert status(call()) == 202
        slowest = max(slowest, clock.monotonic_ms() - began_ms)
    return slowest


@pytest.mark.feature("H2")
@pytest.mark.parametrize(
    ("first", "piece"),
    [
        (b"POST /api/ocr/text HTTP/1.1\r\nHost: x\r\n", b"X-A: b\r\n"),
        (b"P", b"O"),
        (post("Content-Length: 10000"), b" "),
        (post("Transfer-Encoding: chunked"), b"1\r\n \r\n"),
        (post("Content-Length: 10000", path="/api/ocr/image"), b" "),
    ],
    ids=["heads", "request lines", "bodies", "chunked bodies", "images"],
)
def test_slow_clients_do_not_stop_healthy_ones_and_are_told_so(server, first, piece):
    before = server.accepted()
    with crowd(server, MANY, first, piece) as slow:
        assert slowest_ms(lambda: server.say(HEALTHY), 20) < 1_000
        answers = slow.read_all()
    assert {status(answer) for answer in answers} == {408}
    assert all(problem(answer)["request_id"] for answer in answers)
    assert server.accepted() == before + 20


def test_five_hundred_silent_connections_do_not_stop_healthy_clients(server):
    with crowd(server, 500, b"", b""):
        assert slowest_ms(lambda: server.say(HEALTHY), 20) < 1_000


@pytest.mark.parametrize("first", [b"", post("Content-Length: 10000")], ids=["heads", "bodies"])
def test_a_server_full_of_slow_clients_cuts_off_the_slowest_for_a_new_one(server_of, first):
    server = server_of()
    (worker,) = psutil.Process(server.process.pid).children()
    limit = 300  # files, of which a third may be connections
    worker.rlimit(psutil.RLIMIT_NOFILE, (limit, limit))
    with crowd(server, limit, first, b"") as slow:
        assert slowest_ms(lambda: server.say(HEALTHY), 20) < 1_000
        assert read(slow.connections[0]) == b""


def test_a_body_of_countless_tiny_chunks_is_refused_before_it_costs_anybody(server):
    body = b"1\r\n \r\n" * 600_000 + b"0\r\n\r\n"
    with crowd(server, 2, b"", b"") as hostile:
        for connection in hostile.connections:
            threading.Thread(target=send_all, args=(connection, post("Transfer-Encoding: chunked", body=body))).start()
        assert slowest_ms(lambda: server.say(HEALTHY), 20) < 1_000


def test_waiting_clients_hold_no_threads(server_of):
    server = server_of(web_threads=2, long_poll_max_seconds=20)
    task_id = problem_free(server.say(HEALTHY))["task_id"]
    poll = request(f"GET /api/ocr/tasks/{task_id}?wait=20 HTTP/1.1")
    with crowd(server, MANY, poll, b"") as waiting:
        assert slowest_ms(lambda: server.say(HEALTHY), 10) < 1_000
        assert status(server.say(request(f"DELETE /api/ocr/tasks/{task_id} HTTP/1.1"))) == 200
        assert {problem_free(answer)["state"] for answer in waiting.read_all()} == {"cancelled"}


def test_too_many_waiting_clients_of_one_address_are_answered_at_once(server_of):
    server = server_of(long_poll_max_seconds=20, long_polls_per_address=3)
    task_id = problem_free(server.say(HEALTHY))["task_id"]
    poll = request(f"GET /api/ocr/tasks/{task_id}?wait=20 HTTP/1.1")
    with crowd(server, 4, poll, b"") as waiting:
        wait_until(lambda: len(select.select(waiting.connections, [], [], 0)[0]) == 1)
        server.process.terminate()
        # A server that stops lets nobody wait.
        answers = waiting.read_all()
    assert {problem_free(answer)["state"] for answer in answers} == {"queued"}
    assert all(b"\r\nretry-after: 1\r\n" in answer.lower() for answer in answers)
    wait_until(lambda: not is_alive(server.process.pid), limit_s=10)


def test_a_client_that_reads_nothing_costs_no_thread(server):
    with crowd(server, MANY, request("GET /openapi.json HTTP/1.1") * 50, b""):
        assert slowest_ms(lambda: server.say(HEALTHY), 10) < 1_000


def problem_free(answer: bytes) -> dict[str, object]:
    head, _, body = answer.partition(b"\r\n\r\n")
    assert int(head.split(b" ", 2)[1]) < 300
    return dict(json.loads(body))
