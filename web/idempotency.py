"""The header Idempotency-Key: the same key, device and content are one task, however often they are sent.

A key stands for a task id, made of the site, the device and the key alone, so that no table of keys is kept and any
process comes to the same one. A task_id in the request itself wins. Source: draft-ietf-httpapi-idempotency-key-header.
"""

import hashlib
import re
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import falcon

from pipeline.errors import TaskConflict
from pipeline.intake import Receipt
from pipeline.mac import normalize_mac
from pipeline.submission import ImageSubmission, TextSubmission
from web.errors import HttpProblem
from web.operations import Parameter

HEADER = "Idempotency-Key"
KEY_PARAMETER = Parameter(
    HEADER,
    "stands for a task_id: the same key, device and content are one task; other content is a 409",
    {"type": "string", "minLength": 1, "maxLength": 257},
    place="header",
)
REPLAYED = "Idempotency-Replayed"

#: A quoted string, as the draft has it, or the bare words that most clients send.
_KEY = re.compile(r'"([\x20\x21\x23-\x5b\x5d-\x7e]{1,255})"|([\x21\x23-\x5b\x5d-\x7e]{1,255})')
_S = TypeVar("_S", ImageSubmission, TextSubmission)


def with_key(req: falcon.Request, submission: _S, index: int = 0) -> _S:
    """The same submission under the id that its key stands for, if there is a key and no id.

    Args:
        index: of the task in its batch, each of which has an id of its own.
    Raises: HttpProblem 400.
    """
    key = key_of(req)
    if key is None or submission.task_id is not None:
        return submission
    parts = (submission.site, normalize_mac(submission.mac), key, str(index))
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    return replace(submission, task_id=f"key-{digest[:56]}")


def submit_once(req: falcon.Request, resp: falcon.Response, submit: Callable[[_S], Receipt], submission: _S) -> Receipt:
    """Submit it under its key, and say whether that had been done before.

    Raises: HttpProblem 400; 409 when the key came with other content; and what `submit` raises.
    """
    try:
        receipt = submit(with_key(req, submission))
    except TaskConflict as exc:
        if submission.task_id is None:
            detail = "The same key and device came with other content before; choose another key."
            raise HttpProblem(409, "idempotency-conflict", "The Idempotency-Key is taken", detail) from exc
        raise
    if receipt.is_duplicate:
        resp.set_header(REPLAYED, "true")
    return receipt


def key_of(req: falcon.Request) -> str | None:
    """The key of a request, if it has one.

    Raises: HttpProblem 400.
    """
    given = req.get_header(HEADER)
    if given is None:
        return None
    found = _KEY.fullmatch(given.strip())
    if found is None:
        detail = "It is 1 to 255 visible ASCII characters, in quotes or bare."
        raise HttpProblem(400, "invalid-idempotency-key", "The Idempotency-Key is not one", detail)
    return found[1] or found[2]
