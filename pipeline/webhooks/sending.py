"""Send one announcement: to an address that was checked, within a time that nobody can stretch.

A name is resolved once and the connection goes to the address that was judged, so that a name whose meaning changes in
between (DNS rebinding) gains nothing; `Host`, SNI and the certificate go by the name all the same. Nothing of the reply
but its status counts: no redirect is followed and no body is read.
"""

import http.client
import os
import socket
import ssl
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import NamedTuple, TypeVar
from urllib.parse import SplitResult, urlsplit, urlunsplit

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError

from pipeline.clock import Clock
from pipeline.receivers import ReceiverRules, port_of

_T = TypeVar("_T")


class Address(NamedTuple):
    """Where a receiver may be."""

    family: int
    ip: str
    port: int


Resolve = Callable[[str, int], Sequence[Address]]


@dataclass(frozen=True, slots=True)
class Sent:
    """How one attempt went.

    Args:
        status: of the reply; None when there was none.
        error: what went wrong, in words without anything of the reply; empty when it was taken.
        is_final: a further attempt would go the same way.
    """

    status: int | None
    error: str = ""
    is_final: bool = False

    @property
    def is_taken(self) -> bool:
        return not self.error


class _Refused(Exception):
    """The target must not be connected to."""


class Sender:
    """Posts announcements; used by any thread.

    Args:
        timeout_s: for the whole attempt, from the question for the address to the status.
        resolve: the addresses of a host and port, best first; raises OSError.
    """

    def __init__(
        self, rules: ReceiverRules, clock: Clock, *, timeout_s: float, resolve: "Resolve | None" = None
    ) -> None:
        self._rules = rules
        self._clock = clock
        self._timeout_s = timeout_s
        self._resolve = resolve or addresses_of

    def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> Sent:
        """Make one attempt; whatever goes wrong is in the answer, nothing is raised."""
        # Again, since the rules may be stricter than when the URL was taken.
        if fault := self._rules.url_fault(url):
            return Sent(None, f"the URL {fault}", is_final=True)
        deadline = _Deadline(self._clock, self._timeout_s)
        try:
            return _judged(self._status(urlsplit(url), body, headers, deadline))
        except _Refused as exc:
            return Sent(None, str(exc), is_final=True)
        except (HTTPError, http.client.HTTPException, OSError, ValueError) as exc:
            return Sent(None, deadline.fault() or _in_words(exc))

    def _status(self, parts: SplitResult, body: bytes, headers: Mapping[str, str], deadline: "_Deadline") -> int:
        host, port = parts.hostname or "", port_of(parts)
        addresses = self._checked(host, port, deadline)
        # Trusted are the certificates that the system trusts; OpenSSL reads SSL_CERT_FILE for others.
        is_plain = parts.scheme == "http"
        connection = _Plain(host, port) if is_plain else _Secure(host, port, cert_reqs=ssl.CERT_REQUIRED)
        connection.dial = lambda: _connected(addresses, deadline)
        target = urlunsplit(("", "", parts.path or "/", parts.query, ""))
        try:
            connection.request("POST", target, body, headers, preload_content=False)
            # Not the method of urllib3, which may log the URL as it is, and quote the reply.
            return http.client.HTTPConnection.getresponse(connection).status
        finally:
            deadline.close()
            connection.close()

    def _checked(self, host: str, port: int, deadline: "_Deadline") -> Sequence[Address]:
        """The addresses of a host, all of which may be connected to: one that may not spoils them all."""
        addresses = deadline.call(lambda: self._resolve(host, port))
        for address in addresses:
            if fault := self._rules.address_fault(address.ip):
                raise _Refused(f"{host} is at an address that {fault}")
        if not addresses:
            raise OSError("the host has no address")
        return addresses


class _Dialling:
    """A connection to where `dial` says, whatever its host may mean; Host, SNI and certificate go by the host."""

    dial: Callable[[], socket.socket]

    def _new_conn(self) -> socket.socket:
        return self.dial()


class _Plain(_Dialling, HTTPConnection):
    pass


class _Secure(_Dialling, HTTPSConnection):
    pass


class _Deadline:
    """The end of one attempt: a limit for each read would let a receiver go on for ever, a byte at a time."""

    def __init__(self, clock: Clock, limit_s: float) -> None:
        self._clock = clock
        self._limit_s = limit_s
        self._ends_ms = clock.monotonic_ms() + round(limit_s * 1000)
        self._held: socket.socket | None = None
        self._timer: threading.Timer | None = None

    @property
    def left_s(self) -> float:
        return max(0.001, (self._ends_ms - self._clock.monotonic_ms()) / 1000)

    def fault(self) -> str | None:
        """Say that it has passed, None when it has not."""
        has_passed = self._clock.monotonic_ms() >= self._ends_ms
        return f"no status within {self._limit_s:g} s" if has_passed else None

    def call(self, ask: Callable[[], _T]) -> _T:
        """Return what `ask` returns or raise what it raises, within the deadline.

        NOTE: the system's resolver cannot be told to hurry; its thread ends when it does.
        """
        answer: Future[_T] = Future()

        def run() -> None:
            try:
                answer.set_result(ask())
            except (OSError, ValueError) as exc:
                answer.set_exception(exc)

        threading.Thread(target=run, name="resolve", daemon=True).start()
        return answer.result(self.left_s)

    def hold(self, sock: socket.socket) -> None:
        """Cut this connection off when the time comes, whatever is being waited for on it."""
        # A second handle on it: TLS takes the first one over.
        self._held = held = sock.dup()
        self._timer = threading.Timer(self.left_s, _cut_off, (held,))
        self._timer.daemon = True
        self._timer.start()

    def close(self) -> None:
        if self._timer:
            self._timer.cancel()
        if self._held:
            self._held.close()


def addresses_of(host: str, port: int) -> Sequence[Address]:
    """What the system says where a host is."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [Address(family, str(where[0]), port) for family, _, _, _, where in found]


def _connected(addresses: Sequence[Address], deadline: _Deadline) -> socket.socket:
    """A connection to the first of the addresses that answers."""
    for number, address in enumerate(addresses):
        sock = socket.socket(address.family, socket.SOCK_STREAM)
        try:
            # One that is silent leaves time for the others.
            sock.settimeout(deadline.left_s / (len(addresses) - number))
            sock.connect((address.ip, address.port))
        except OSError:
            sock.close()
            if number == len(addresses) - 1:
                raise
            continue
        sock.settimeout(deadline.left_s)
        deadline.hold(sock)
        return sock
    raise OSError("the host has no address")


def _cut_off(sock: socket.socket) -> None:
    with suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)


def _judged(status: int) -> Sent:
    if HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
        return Sent(status)
    if status == HTTPStatus.GONE:
        return Sent(status, "the receiver is gone for good", is_final=True)
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        return Sent(status, "it redirects; redirects are not followed")
    return Sent(status, f"it answered {status}")


def _in_words(exc: Exception) -> str:
    """What went wrong, without anything that the receiver said: an error may quote its reply."""
    match exc:
        case ssl.SSLCertVerificationError():
            return f"its certificate is refused: {exc.verify_message}"
        case ssl.SSLError():
            return "no TLS connection could be made"
        case socket.gaierror():
            return "its name cannot be resolved"
        case TimeoutError():
            return "it does not answer"
        case OSError() if exc.errno:
            return os.strerror(exc.errno)
    return "its reply is not HTTP"
