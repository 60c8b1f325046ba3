"""Signed requests: the key stays with its owner; what comes is its id and a proof over this very request.

    Authorization: Fairlane-HMAC key_id=…, timestamp=…, nonce=…, body_sha256=…, signature=…

The signature is HMAC-SHA256 in hex, keyed with the text of `models.key_text.signing_secret`, over six lines: `FL1`, the
method, the path with its query as sent, body_sha256, timestamp, nonce. docs/howto/keys.md has recipes.
"""

import hashlib
import hmac
import io
import re
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import quote

import falcon

from pipeline.clock import Clock
from pipeline.errors import BadSignature, StaleSignature
from web.bodies import Body

SCHEME = "Fairlane-HMAC"

_FIELD = re.compile(r'\s*([a-z0-9_]+)="?([0-9A-Za-z_-]+)"?\s*', re.ASCII)
_FORMS = {
    "key_id": re.compile(r"[0-9a-f]{16}", re.ASCII),
    "timestamp": re.compile(r"[0-9]{1,12}", re.ASCII),
    "nonce": re.compile(r"[0-9A-Za-z_-]{16,64}", re.ASCII),
    "body_sha256": re.compile(r"[0-9a-f]{64}", re.ASCII),
    "signature": re.compile(r"[0-9a-f]{64}", re.ASCII),
}
_NO_SECRET = "0" * 64


class Signed(NamedTuple):
    """What a signed request says of itself."""

    key_id: str
    timestamp: str
    nonce: str
    body_sha256: str
    signature: str


def parse(credentials: str) -> Signed:
    """Return the fields behind the scheme.

    Raises: BadSignature.
    """
    fields: dict[str, str] = {}
    for part in credentials.split(","):
        found = _FIELD.fullmatch(part)
        if not found or found[1] in fields:
            raise BadSignature("the fields of the signature cannot be read")
        fields[found[1]] = found[2]
    if set(fields) != set(_FORMS) or not all(form.fullmatch(fields[name]) for name, form in _FORMS.items()):
        raise BadSignature(f"a signature has the fields {', '.join(_FORMS)}")
    return Signed(**fields)


def string_to_sign(method: str, target: str, signed: Signed) -> bytes:
    """What both sides put under the HMAC.

    Args:
        target: path and query, as sent.
    """
    return "\n".join(("FL1", method, target, signed.body_sha256, signed.timestamp, signed.nonce)).encode(
        "latin-1", "replace"
    )


class SignatureCheck:
    """Says whether a request is as its signer sent it, now, and for the first time.

    Args:
        window_s: how far the clocks may be apart.
        body_max_bytes: of a signed request.
        note_nonce: key id, nonce, ttl in ms -> whether it is new.
    """

    def __init__(
        self, clock: Clock, *, window_s: int, body_max_bytes: int, note_nonce: Callable[[str, str, int], bool]
    ) -> None:
        self._clock = clock
        self._window_ms = window_s * 1000
        self._body_max_bytes = body_max_bytes
        self._note_nonce = note_nonce

    def insist(self, req: falcon.Request, signed: Signed, secret: str | None) -> None:
        """Return when all is well; the body has been read by then, and can be read again.

        Args:
            secret: None when there is no such key, or it does not sign: takes as long as a wrong one.
        Raises: BadSignature, StaleSignature; QueueUnavailable, since without the nonces a replay would not be seen.
        """
        # A copy of the request that somebody recorded must not come in by another spelling of the same path.
        message = string_to_sign(req.method, _target(req), signed)
        ours = hmac.new((secret or _NO_SECRET).encode(), message, hashlib.sha256).hexdigest()
        if not hmac.compare_digest(ours, signed.signature) or secret is None:
            raise BadSignature("the signature is not that of this request")
        if abs(self._clock.now_ms() - int(signed.timestamp) * 1000) > self._window_ms:
            raise StaleSignature("the timestamp is too far from the time here")
        self._insist_on_body(req, signed)
        # Last, so that only what its signer sent takes up room; for as long as the timestamp could still be taken.
        if not self._note_nonce(signed.key_id, signed.nonce, 2 * self._window_ms + 1_000):
            raise StaleSignature("the nonce has been used before")

    def _insist_on_body(self, req: falcon.Request, signed: Signed) -> None:
        data = Body(req, self._body_max_bytes).read()
        if not hmac.compare_digest(hashlib.sha256(data).hexdigest(), signed.body_sha256):
            raise BadSignature("the body is not the one that was signed")
        req.stream = io.BytesIO(data)
        req.env["wsgi.input_terminated"] = True


def _target(req: falcon.Request) -> str:
    query = req.env.get("QUERY_STRING", "")
    raw = req.env.get("RAW_URI") or req.env.get("REQUEST_URI")
    # Some servers keep the path only decoded; then the usual way to write it has to do.
    target = str(raw or quote(req.env["PATH_INFO"].encode("latin-1"), safe="/:@!$&'()*+,;=~"))
    return f"{target}?{query}" if query and "?" not in target else target
