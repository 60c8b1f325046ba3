"""A plain HTTP client: one request, one answer, or `OSError`."""

import http.client
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

#: Longer than any answer should take, and shorter than the outages here last, seconds.
_ANSWER_S = 20


class Answer(NamedTuple):
    """Status and body."""

    status: int
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def ask(
    where: tuple[str, int],
    method: str,
    path: str,
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
    timeout_s: float = _ANSWER_S,
) -> Answer:
    """Send one request on a connection of its own; `OSError` when there is no whole answer."""
    connection = http.client.HTTPConnection(*where, timeout=timeout_s)
    try:
        connection.request(method, path, body, dict(headers or {}))
        reply = connection.getresponse()
        return Answer(reply.status, reply.read())
    except http.client.HTTPException as exc:
        raise OSError(str(exc)) from exc
    finally:
        connection.close()


def post_json(where: tuple[str, int], path: str, body: Any, timeout_s: float = _ANSWER_S) -> Answer:
    headers = {"Content-Type": "application/json"}
    return ask(where, "POST", path, json.dumps(body).encode(), headers, timeout_s)
