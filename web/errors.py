"""Every error as RFC 9457 problem details: which status, type and words belong to it is decided here only.

Texts that arise inside fairlane's parts may name hosts, paths or statements, so they go to the log; what the client
reads is written here, save where an error was made for it: `InvalidInput`, `BadImage`, `TaskConflict`.
"""

import http
import json
import math
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import falcon

from pipeline import device_errors, errors

PROBLEM_JSON = "application/problem+json"

#: Problems listed in one answer, at most.
_LISTED_MAX = 100
#: Seconds after which a client may try again when a part of the service did not answer.
_RETRY_AFTER_S = 5


class HttpProblem(falcon.HTTPError):
    """A refusal that only exists in HTTP; `slug` names it under `/problems/`."""

    def __init__(
        self, status: int, slug: str, title: str, detail: str, problems: Sequence[errors.FieldProblem] = ()
    ) -> None:
        super().__init__(status, title=title, description=detail)
        self.slug = slug
        self.detail = detail
        self.problems = tuple(problems)


def malformed_json(detail: str) -> HttpProblem:
    return HttpProblem(400, "invalid-json", "The body is not valid JSON", detail)


def malformed_multipart(detail: str) -> HttpProblem:
    return HttpProblem(400, "invalid-multipart", "The body is not a valid multipart form", detail)


def incomplete_body() -> HttpProblem:
    return HttpProblem(400, "incomplete-body", "The body is incomplete", "The connection ended before the body did.")


def slow_body() -> HttpProblem:
    detail = "The body came too slowly; send it at once, or over a faster line."
    return HttpProblem(408, "body-too-slow", "The body came too slowly", detail)


def length_required() -> HttpProblem:
    detail = "This server cannot read a chunked body; send Content-Length."
    return HttpProblem(411, "length-required", "Content-Length is missing", detail)


def body_too_large(max_bytes: int) -> HttpProblem:
    return HttpProblem(413, "body-too-large", "The body is too large", f"At most {max_bytes} bytes are read here.")


def unsupported_media_type(*accepted: str) -> HttpProblem:
    detail = f"Send {' or '.join(accepted)}."
    return HttpProblem(415, "unsupported-media-type", "The content type is not accepted here", detail)


def unknown_parameters(known: Sequence[str]) -> HttpProblem:
    detail = f"Known here: {', '.join(known)}." if known else "None are known here."
    return HttpProblem(400, "unknown-parameter", "A query parameter is not known", detail)


def invalid_parameter(name: str, detail: str) -> HttpProblem:
    return invalid_parameters([errors.FieldProblem(name, detail)])


def invalid_parameters(problems: Sequence[errors.FieldProblem]) -> HttpProblem:
    return HttpProblem(400, "invalid-parameter", "A query parameter is not valid", "See errors.", problems)


def invalid_cursor() -> HttpProblem:
    return HttpProblem(400, "invalid-cursor", "The cursor is not one", "Take it from `next` of the page before.")


def image_gone() -> HttpProblem:
    return HttpProblem(404, "image-gone", "There is no image", "It was deleted, or the task came with a text.")


def confirmation_required(count: int) -> HttpProblem:
    detail = f"{count} dead letters are meant; confirm={count} in the body says that so many may be."
    return HttpProblem(422, "confirmation-required", "So many must be confirmed", detail)


def no_watermark() -> HttpProblem:
    return HttpProblem(503, "no-watermark", "There is no watermark", "No scheduler has published one of late.")


def not_ready(reasons: Sequence[errors.FieldProblem]) -> HttpProblem:
    return HttpProblem(503, "not-ready", "The service is not ready", "See errors.", reasons)


class Meaning(NamedTuple):
    """What one class of errors says in HTTP; an empty detail is filled in from the error, which is fit to be shown."""

    status: int
    slug: str
    title: str
    detail: str = ""


_UNREACHABLE = "dependency-unavailable"
_LATER = "Nothing was stored; try again later."
_MEANINGS: dict[type[errors.FairlaneError], Meaning] = {
    errors.QueueUnavailable: Meaning(503, _UNREACHABLE, "The queue does not answer", _LATER),
    errors.DatabaseUnavailable: Meaning(503, _UNREACHABLE, "The database does not answer", _LATER),
    errors.StorageUnavailable: Meaning(503, _UNREACHABLE, "The object store does not answer", _LATER),
    errors.ListUnavailable: Meaning(503, "list-unavailable", "A list of words cannot be loaded", "The log says why."),
    errors.Retryable: Meaning(503, _UNREACHABLE, "A part of the service does not answer", _LATER),
    errors.InvalidMac: Meaning(422, "invalid-mac", "The MAC address is not one", "See errors."),
    errors.ListRefused: Meaning(422, "list-refused", "The list has errors, or warnings without force", "See errors."),
    errors.InvalidInput: Meaning(422, "validation-failed", "The request is not valid", "See errors."),
    errors.MalformedInput: Meaning(400, "malformed-input", "The request cannot be read"),
    errors.UnsupportedType: Meaning(415, "unsupported-image-type", "Not an image of a kind that is read here"),
    errors.ImageTooLarge: Meaning(422, "image-too-large", "The image is too large"),
    # The reason comes from an image library and may hold anything; it is logged.
    errors.BadImage: Meaning(422, "invalid-image", "The image cannot be read", "The file is empty or damaged."),
    errors.TaskNotFound: Meaning(404, "not-found", "There is no such task", "No task has this id."),
    errors.DeliveryNotFound: Meaning(404, "not-found", "There is no such delivery", "None has this id."),
    errors.DeadLetterNotFound: Meaning(404, "not-found", "There is no such dead letter", "None has this id."),
    device_errors.DeviceNotFound: Meaning(404, "not-found", "There is no such device", "None has this MAC."),
    device_errors.DeviceAmbiguous: Meaning(
        400, "device-ambiguous", "Several sites have this device", "Say whose with site=."
    ),
    errors.ListNotFound: Meaning(404, "not-found", "There is no such list or version", "None has this id."),
    errors.BadSignature: Meaning(
        401, "bad-signature", "The signature is not good", "Sign this very request, with the secret of this key."
    ),
    errors.StaleSignature: Meaning(
        401, "stale-signature", "The signature is not fresh", "Set the clock, and use each nonce once."
    ),
    errors.Unauthenticated: Meaning(401, "unauthenticated", "No valid API key", "Send Authorization: Bearer <key>."),
    errors.NotYourDevice: Meaning(
        403, "device-mismatch", "Not a device of this key", "This API key does not speak for this device."
    ),
    errors.CrossSite: Meaning(
        403,
        "cross-site-request",
        "A web page of elsewhere asks",
        "Without keys only what runs here is served.",
    ),
    errors.Forbidden: Meaning(403, "forbidden", "Not allowed with this API key", "Its role or site is not enough."),
    errors.RateLimited: Meaning(429, "quota-exceeded", "Too many requests", "See RateLimit and Retry-After."),
    errors.TaskConflict: Meaning(409, "task-conflict", "The task id is taken", "Choose another task_id, or none."),
    errors.TaskEnded: Meaning(409, "task-ended", "The task has ended", "A task that has ended cannot be changed."),
    errors.QueueFull: Meaning(503, "queue-full", "The service is full", _LATER),
    errors.DeviceBacklogFull: Meaning(429, "device-backlog-full", "The device has too many tasks pending", _LATER),
    errors.WouldExpire: Meaning(429, "would-expire", "The task would expire before its turn", _LATER),
    errors.Overload: Meaning(503, "overloaded", "The service is overloaded", _LATER),
}
_BUG = Meaning(500, "internal", "Something went wrong here", "The request id leads to the log entry.")

#: Words for what falcon or the server itself refuses; their own may repeat parts of the request.
_PLAIN_DETAILS = {
    400: "The request is malformed.",
    404: "There is nothing at this address.",
    405: "The Allow header names the methods that work here.",
    408: "The head of the request came too slowly.",
    414: "The request line is too long.",
    431: "The headers are too many or too long.",
    501: "This transfer coding is not spoken here.",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """One refusal as the client will see it; `code` is for the log."""

    status: int
    type: str
    title: str
    detail: str
    code: str
    faults: tuple[errors.FieldProblem, ...] = ()
    retry_after_s: int | None = None
    headers: dict[str, str] = field(default_factory=dict)

    def body(self, request_id: str) -> dict[str, Any]:
        """The members of the problem document; `instance` is this very request."""
        document: dict[str, Any] = {
            "type": self.type,
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            "instance": uuid.UUID(request_id).urn,
            "request_id": request_id,
        }
        if self.faults:
            document["errors"] = [{"pointer": p.pointer, "detail": p.detail} for p in self.faults[:_LISTED_MAX]]
        if self.retry_after_s is not None:
            document["retry_after"] = self.retry_after_s
        return document


def problem_of(exc: Exception, *, at: str = "") -> Problem:
    """The one answer to an error of any kind.

    Args:
        at: JSON pointer of what was wrong inside the body, for errors that do not know it.
    """
    if isinstance(exc, HttpProblem):
        retry_after_s = _RETRY_AFTER_S if exc.status_code == 503 else None
        return Problem(
            status=exc.status_code,
            type=f"/problems/{exc.slug}",
            title=exc.title or "",
            detail=exc.detail,
            code=exc.slug,
            faults=exc.problems,
            retry_after_s=retry_after_s,
        )
    if isinstance(exc, falcon.HTTPError):
        return _plain_problem(exc)
    if isinstance(exc, errors.FairlaneError):
        return _own_problem(exc, at)
    return _problem(_BUG, "internal", _BUG.detail)


def set_problem(resp: falcon.Response, problem: Problem, request_id: str) -> None:
    """Make the problem the response."""
    resp.status = problem.status
    resp.content_type = PROBLEM_JSON
    # ASCII only: half a surrogate pair, should one get here, has no UTF-8.
    resp.data = json.dumps(problem.body(request_id), ensure_ascii=True).encode()
    for name, value in problem.headers.items():
        resp.set_header(name, value)
    if problem.retry_after_s is not None:
        resp.set_header("Retry-After", str(problem.retry_after_s))


def wire_problem(status: int) -> Problem:
    """What is said of a request that was refused by its status alone."""
    phrase = http.HTTPStatus(status).phrase
    kind = "/problems/not-found" if status == 404 else "about:blank"
    return Problem(status, kind, phrase, _PLAIN_DETAILS.get(status, phrase + "."), code="http")


def _plain_problem(exc: falcon.HTTPError) -> Problem:
    allow = dict(exc.headers or {}).get("Allow")
    return replace(wire_problem(exc.status_code), headers={"Allow": allow} if allow is not None else {})


def _own_problem(exc: errors.FairlaneError, at: str) -> Problem:
    for cls in type(exc).__mro__:
        meaning = _MEANINGS.get(cls)
        if meaning:
            return _problem(meaning, exc.code, meaning.detail or str(exc), exc, at)
    return _problem(_BUG, exc.code, _BUG.detail)


def _problem(
    meaning: Meaning, code: str, detail: str, exc: errors.FairlaneError | None = None, at: str = ""
) -> Problem:
    retry_after_s = None
    if isinstance(exc, errors.Overload):
        retry_after_s = max(1, math.ceil(exc.retry_after_ms / 1000))
    elif isinstance(exc, errors.Retryable):
        retry_after_s = _RETRY_AFTER_S
    listed: tuple[errors.FieldProblem, ...] = ()
    if isinstance(exc, errors.InvalidInput):
        listed = exc.problems
    elif isinstance(exc, errors.TaskConflict):
        listed = (errors.FieldProblem(f"{at}/task_id", "belongs to other content"),)
    return Problem(
        status=meaning.status,
        type=f"/problems/{meaning.slug}",
        title=meaning.title,
        detail=detail,
        code=code,
        faults=listed,
        retry_after_s=retry_after_s,
    )
