"""Read request bodies: bounded, whole or not at all, and strictly."""

import base64
import binascii
import json
import math
from collections.abc import Sequence
from typing import Any

import falcon

from pipeline.errors import FieldProblem, InvalidInput, StorageUnavailable
from web.errors import (
    body_too_large,
    incomplete_body,
    length_required,
    malformed_json,
    slow_body,
    unsupported_media_type,
)
from web.whole_requests import LostBody, SlowBody

_CHUNK_BYTES = 1 << 18


class Body:
    """The bytes of one request, at most `max_bytes`; asking for more than was announced, or less, is an error.

    Raises: HttpProblem before anything is read: 413 when the announced length is too large, 415 for a compressed body,
        411, 400; 408 while it is read.
    """

    def __init__(self, req: falcon.Request, max_bytes: int) -> None:
        if req.get_header("Content-Encoding", default="identity").lower() != "identity":
            raise unsupported_media_type("a body without Content-Encoding")
        self._stream = req.stream
        self._max_bytes = max_bytes
        self._length = req.content_length
        self._seen_bytes = 0
        if self._length is None:
            is_chunked = "chunked" in req.env.get("HTTP_TRANSFER_ENCODING", "").lower()
            # Without the server's word that the stream ends with the body, reading on might wait for ever.
            if is_chunked and not req.env.get("wsgi.input_terminated"):
                raise length_required()
            if not is_chunked:
                self._length = 0
        elif self._length > max_bytes:
            raise body_too_large(max_bytes)

    def read(self, size: int | None = -1, /) -> bytes:
        """Return up to `size` bytes, all that is left for -1, b"" at the end.

        Raises: HttpProblem 400 when the client went away before the end, 413.
        """
        if size is None or size < 0:
            return b"".join(iter(lambda: self.read(_CHUNK_BYTES), b""))
        if self._length is not None:
            size = min(size, self._length - self._seen_bytes)
        if size == 0:
            return b""
        data = self._read_from_server(size)
        self._seen_bytes += len(data)
        if not data and self._length is not None:
            raise incomplete_body()
        if self._seen_bytes > self._max_bytes:
            raise body_too_large(self._max_bytes)
        return data

    def _read_from_server(self, size: int) -> bytes:
        try:
            return bytes(self._stream.read(size))
        except SlowBody as exc:
            raise slow_body() from exc
        except LostBody as exc:
            raise StorageUnavailable(str(exc)) from exc
        except Exception as exc:
            # Each server raises its own kinds for a broken chunk, a reset or a time-out; to us they are one thing.
            raise incomplete_body() from exc


def read_json(req: falcon.Request, max_bytes: int, *, kinds: Sequence[str] = ("application/json",)) -> Any:
    """Return the parsed body of a JSON request.

    Args:
        kinds: media types that are read here.
    Raises: HttpProblem 415, 413, 411, 400.
    """
    media_type, parameters = media_type_of(req)
    if media_type not in kinds or parameters.get("charset", "utf-8").lower() not in ("utf-8", "utf8"):
        raise unsupported_media_type(*(f"{kind} in UTF-8" for kind in kinds))
    return parse_json(Body(req, max_bytes).read())


def media_type_of(req: falcon.Request) -> tuple[str, dict[str, str]]:
    """The media type in lower case and its parameters; "" when the header is missing."""
    media_type, parameters = falcon.parse_header(req.content_type or "")
    return media_type.strip().lower(), parameters


def parse_json(data: bytes) -> Any:
    """Parse exactly what RFC 8259 allows; Python's own parser takes NaN, duplicate names and numbers without bounds.

    Raises: HttpProblem 400, naming the place but never the content.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as exc:
        raise malformed_json(f"Byte {exc.start} is not UTF-8.") from exc
    if text.startswith("\ufeff"):
        raise malformed_json("It starts with a byte order mark.")
    try:
        return json.loads(
            text, object_pairs_hook=_unique_names, parse_constant=_refuse_constant, parse_float=_finite_number
        )
    except json.JSONDecodeError as exc:
        raise malformed_json(f"{exc.msg} at line {exc.lineno} column {exc.colno}.") from exc
    except RecursionError as exc:
        raise malformed_json("It is nested too deeply.") from exc
    except ValueError as exc:  # an integer of thousands of digits
        raise malformed_json("A number is too long.") from exc


def decode_base64(value: str, field: str, max_bytes: int) -> bytes:
    """Decode standard base64 without line breaks.

    Raises: InvalidInput naming `field`; HttpProblem 413 when it is longer than `max_bytes` would be.
    """
    if len(value) > 4 * math.ceil(max_bytes / 3):
        raise body_too_large(max_bytes)
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError) as exc:
        raise InvalidInput([FieldProblem(field, "is not base64 (RFC 4648, section 4, no line breaks)")]) from exc


def _unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise malformed_json("A name stands twice in one object.")
    return found


def _refuse_constant(name: str) -> Any:
    raise malformed_json(f"{name} is not JSON.")


def _finite_number(spelling: str) -> float:
    number = float(spelling)
    if not math.isfinite(number):
        raise malformed_json("A number is too large.")
    return number
