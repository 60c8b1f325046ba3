"""Speaks to a running fairlane over HTTP; its refusals come back as the errors they were."""

import http.client
import json
import secrets
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import quote, urlsplit

from pipeline.errors import (
    BadImage,
    FairlaneError,
    FieldProblem,
    Forbidden,
    ImageTooLarge,
    InvalidInput,
    MalformedInput,
    Overload,
    Permanent,
    Retryable,
    TaskConflict,
    TaskNotFound,
    Unauthenticated,
    UnsupportedType,
)
from pipeline.network import is_loopback

#: How long an answer may take, besides what `?wait=` asks for; seconds.
_ANSWER_S = 30.0

#: How often a refusal is waited out before it is given back, and how long one wait may be at most; seconds.
PATIENCE_TRIES = 20
_PATIENCE_MAX_S = 60.0

_R = TypeVar("_R")
_PERMANENT: dict[int, type[Permanent]] = {
    400: MalformedInput,
    401: Unauthenticated,
    403: Forbidden,
    404: TaskNotFound,
    409: TaskConflict,
    413: ImageTooLarge,
    415: UnsupportedType,
}


class Api:
    """A client; used from any thread.

    Args:
        base_url: http(s)://host[:port], without a path.
        key: the API key it sends; empty: none.

    Every method raises `Retryable` when nobody answers, `Overload` when the service or the device is full, and the
    branch of `Permanent` that the status says.
    """

    def __init__(self, base_url: str, key: str = "") -> None:
        self.base_url = base_url.rstrip("/")
        self._identity = {"Authorization": f"Bearer {key}"} if key else {}
        # The environment may name a proxy; it cannot reach our loopback.
        proxies: dict[str, str] | None = {} if is_loopback(urlsplit(base_url).hostname or "") else None
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler(proxies), _NoRedirects())

    def submit_image(self, name: str, data: bytes, mac: str, words: Sequence[str] = ()) -> dict[str, Any]:
        """Send an image; return what the service says of the accepted task."""
        # One part for all the words, a line each: a form may have 64 parts.
        fields = [("mac", mac)] + ([("words", "\n".join(words))] if words else [])
        boundary = secrets.token_hex(16)
        body = _multipart(boundary, fields, name, data)
        return self._ask("/api/ocr/image", body, {"Content-Type": f"multipart/form-data; boundary={boundary}"})

    def submit_text(self, text: str, mac: str, words: Sequence[str] = ()) -> dict[str, Any]:
        """Send a text; return what the service says of the accepted task."""
        # ASCII only, so that half a surrogate pair in an argument is refused by the service and not by us.
        body = json.dumps({"mac": mac, "text": text, "words": list(words)}).encode("ascii")
        return self._ask("/api/ocr/text", body, {"Content-Type": "application/json"})

    def task(self, task_id: str, *, wait_s: int = 0) -> dict[str, Any]:
        """Return a task, after `wait_s` seconds at most if it has not ended by then."""
        return self._ask(f"/api/ocr/tasks/{quote(task_id, safe='')}?wait={wait_s}", wait_s=wait_s)

    def _ask(
        self, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None, wait_s: int = 0
    ) -> dict[str, Any]:
        request = urllib.request.Request(self.base_url + path, data=body, headers={**(headers or {}), **self._identity})  # noqa: S310
        try:
            with self._opener.open(request, timeout=_ANSWER_S + wait_s) as answer:
                return dict(json.load(answer))
        except urllib.error.HTTPError as exc:
            with exc:
                raise error_of(exc.code, exc.read(), exc.headers.get("Retry-After")) from exc
        except (OSError, http.client.HTTPException, ValueError) as exc:
            reason = getattr(exc, "reason", exc)
            raise Retryable(f"no answer from {self.base_url} ({reason}); is fairlane running there?") from exc


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follows none: the key would be sent to wherever the answer points."""

    def redirect_request(self, *_: Any) -> None:
        return None


def patiently(call: Callable[[], _R], stop: threading.Event, *, tries: int = PATIENCE_TRIES) -> _R:
    """Return `call()`, called again after each `Overload` as late as it says, `tries` times at most.

    Raises: the last Overload; KeyboardInterrupt when `stop` is set meanwhile.
    """
    for _ in range(tries - 1):
        try:
            return call()
        except Overload as exc:
            if stop.wait(min(exc.retry_after_ms / 1000, _PATIENCE_MAX_S)):
                raise KeyboardInterrupt from exc
    return call()


def error_of(status: int, body: bytes, retry_after: str | None) -> FairlaneError:
    """Turn an answer that is a refusal into the error it tells of."""
    problem = _problem_of(body)
    detail = str(problem.get("detail") or problem.get("title") or f"HTTP {status}")
    if status in (429, 503):
        after_s = int(retry_after) if retry_after and retry_after.isascii() and retry_after.isdigit() else 1
        return Overload(detail, retry_after_ms=max(1, after_s) * 1000)
    if status == 422:
        return _invalid(problem, detail)
    if status in _PERMANENT:
        return _PERMANENT[status](detail)
    if 400 <= status < 500:
        return Permanent(f"HTTP {status}: {detail}")
    return Retryable(f"HTTP {status}: {detail}")


def _invalid(problem: Mapping[str, Any], detail: str) -> FairlaneError:
    faults = [fault for fault in problem.get("errors") or [] if isinstance(fault, dict)]
    if not faults:
        return BadImage(detail)
    return InvalidInput([FieldProblem(str(fault.get("pointer")), str(fault.get("detail"))) for fault in faults])


def _problem_of(body: bytes) -> dict[str, Any]:
    try:
        problem = json.loads(body)
    except ValueError:
        return {}
    return problem if isinstance(problem, dict) else {}


def _multipart(boundary: str, fields: Sequence[tuple[str, str]], file_name: str, data: bytes) -> bytes:
    # Quotes and line ends in a name would break the header; as browsers write them.
    name = file_name.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")
    parts = [f'Content-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'.encode() for key, value in fields]
    head = f'Content-Disposition: form-data; name="file"; filename="{name}"\r\n'
    head += "Content-Type: application/octet-stream\r\n\r\n"
    parts.append(head.encode("utf-8", errors="replace") + data + b"\r\n")
    mark = f"--{boundary}\r\n".encode()
    return b"".join(mark + part for part in parts) + f"--{boundary}--\r\n".encode()
