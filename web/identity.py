"""Lets a request in: who sends it, may they do this, are they sending too much. Nothing else decides that.

It asks the resource that the router has found, not the path, so no spelling of a path leads around it.
"""

import logging
from typing import Any, cast
from urllib.parse import urlsplit

import falcon

from models.keys import KeyRow
from pipeline.clock import Clock
from pipeline.errors import BadSignature, CrossSite, Unauthenticated
from pipeline.network import is_loopback
from pipeline.queue import RequestLimits
from pipeline.settings import Settings
from web.access import Access
from web.caller import OPEN_CALLER, Caller, caller_with
from web.keyring import KeyRing
from web.limits import RequestGate, tell_limits
from web.operations import Resource
from web.signatures import SCHEME, SignatureCheck, parse

_log = logging.getLogger(__name__)

_CHALLENGE = 'Bearer realm="fairlane"'
#: What a proxy adds; a service without keys that is reached through one is open to whoever reaches the proxy.
_PROXY_HEADERS = ("Forwarded", "X-Forwarded-For", "X-Real-IP", "Via")
#: Methods that change nothing.
_HARMLESS = ("GET", "HEAD", "OPTIONS")
#: Where the environ, which no client writes, keeps the id of the key that has been let in.
_LET_IN = "fairlane.key_id"
#: How long a scraper is let in by what was known of its key before the database fell silent, ms: an outage is what
#: metrics are for. A key that is revoked during one opens nothing else.
_GRACE_MS = 3_600_000
#: Bytes of a signed body besides an image in base64.
_REST_MAX_BYTES = 8_000_000


class Identity:
    """The middleware that gives each request its caller, or refuses it."""

    def __init__(self, ring: KeyRing, limits: RequestLimits, clock: Clock, settings: Settings) -> None:
        self._ring = ring
        self._gate = RequestGate(limits, clock, settings)
        self._signatures = SignatureCheck(
            clock,
            window_s=settings.signature_window_seconds,
            body_max_bytes=settings.image_max_bytes * 4 // 3 + _REST_MAX_BYTES,
            note_nonce=lambda key_id, nonce, ttl_ms: limits.note_nonce(key_id, nonce, ttl_ms=ttl_ms),
        )

    def process_resource(
        self, req: falcon.Request, resp: falcon.Response, resource: object, params: dict[str, Any]
    ) -> None:
        access = access_of(cast(Resource, resource), req.method)
        if access is Access.OPEN:
            return
        try:
            caller = self._caller(req, grace_ms=_GRACE_MS if access is Access.MEASURE else 0)
        except Unauthenticated as exc:
            resp.set_header("WWW-Authenticate", _challenge(req, exc))
            raise
        req.context.caller = caller
        caller.insist(access)

    def process_response(
        self, req: falcon.Request, resp: falcon.Response, resource: object, req_succeeded: bool
    ) -> None:
        tell_limits(req, resp)

    def _caller(self, req: falcon.Request, *, grace_ms: int) -> Caller:
        if self._ring.is_open(grace_ms=grace_ms):
            _insist_on_this_machine(req)
            return OPEN_CALLER
        key = self._key_again(req) or self._key_at_first(req, grace_ms=grace_ms)
        return caller_with(key, lambda site, mac: self._gate.count_device(req, site, mac))

    def _key_at_first(self, req: falcon.Request, *, grace_ms: int) -> KeyRow:
        # The address first, so that whoever tries keys without end costs the database nothing.
        self._gate.count_address(req)
        key = self._key(req, grace_ms=grace_ms)
        self._gate.count_key(req, key.key_id)
        self._ring.note_use(key)
        req.env[_LET_IN] = key.key_id
        return key

    def _key_again(self, req: falcon.Request) -> KeyRow | None:
        """The key of a request that the server hands in once more, as it does while it polls: neither counted nor its
        nonce refused a second time, and yet refused once its key is no longer good."""
        key_id = req.env.get(_LET_IN)
        if key_id is None:
            return None
        key = self._ring.find(str(key_id))
        if key is None or not self._ring.is_good(key):
            raise Unauthenticated(f"no good key {key_id} any more")
        return key

    def _key(self, req: falcon.Request, *, grace_ms: int) -> KeyRow:
        scheme, _, credentials = (req.get_header("Authorization") or "").strip().partition(" ")
        if scheme.lower() == "bearer":
            key = self._ring.with_text(credentials.strip(), grace_ms=grace_ms)
            if key.signing_secret is not None:
                raise BadSignature(f"the requests of key {key.key_id} must be signed")
            return key
        if scheme.lower() == SCHEME.lower():
            return self._signing_key(req, credentials)
        raise Unauthenticated("no key was given")

    def _signing_key(self, req: falcon.Request, credentials: str) -> KeyRow:
        signed = parse(credentials)
        key = self._ring.find(signed.key_id)
        is_good = key is not None and self._ring.is_good(key)
        self._signatures.insist(req, signed, key.signing_secret if key and is_good else None)
        return cast(KeyRow, key)


def access_of(resource: Resource, method: str) -> Access:
    """What the operation declares; OPTIONS and methods that there are not need any key where something needs one."""
    operation = resource.operations.get("GET" if method == "HEAD" else method)
    if operation is not None:
        return operation.access
    is_all_open = all(operation.access is Access.OPEN for operation in resource.operations.values())
    return Access.OPEN if is_all_open else Access.OWN


def _insist_on_this_machine(req: falcon.Request) -> None:
    """Without keys only programs of this machine are served: no other hosts, whatever the server is bound to, nobody
    behind a proxy, and no web page of elsewhere in a browser here, not even one whose name leads to this machine."""
    # Not `req.remote_addr`, which takes a server that does not say for loopback.
    if not is_loopback(req.env.get("REMOTE_ADDR", "")) or any(req.get_header(name) for name in _PROXY_HEADERS):
        raise Unauthenticated("without keys only this machine is served")
    host = req.get_header("Host")
    if host and not _is_here(f"//{host}"):
        raise Unauthenticated("without keys nobody is served who calls this machine by another name")
    origin = req.get_header("Origin")
    if (origin is not None and not _is_here(origin)) or _changes_from_elsewhere(req):
        raise CrossSite("without keys no web page of elsewhere is served")


def _changes_from_elsewhere(req: falcon.Request) -> bool:
    # A link that leads here from elsewhere is followed with this header, too, and does no harm.
    return req.method not in _HARMLESS and (req.get_header("Sec-Fetch-Site") or "").strip().lower() == "cross-site"


def _is_here(url: str) -> bool:
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return False
    return is_loopback(host) or host.endswith(".localhost")


def _challenge(req: falcon.Request, exc: Unauthenticated) -> str:
    if isinstance(exc, BadSignature) or type(exc) is not Unauthenticated:
        return f'{SCHEME} realm="fairlane"'
    return f'{_CHALLENGE}, error="invalid_token"' if req.get_header("Authorization") else _CHALLENGE
