"""Signatures of announcements, in the form of Standard Webhooks 1.0."""

import base64
import hashlib
import hmac
from collections.abc import Mapping, Sequence


def signed_headers(secrets: Sequence[bytes], message_id: str, timestamp_s: int, body: bytes) -> Mapping[str, str]:
    """The headers by which a receiver that knows one of the secrets can tell who speaks, and when.

    Args:
        secrets: keys, one signature for each: while a secret is replaced, receivers know the old one or the new one.
        message_id: the same at each attempt.
        timestamp_s: of this attempt, epoch seconds.
    """
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp_s),
        "webhook-signature": " ".join(_signature(secret, message_id, timestamp_s, body) for secret in secrets),
    }


def _signature(secret: bytes, message_id: str, timestamp_s: int, body: bytes) -> str:
    signed = b"%b.%d.%b" % (message_id.encode(), timestamp_s, body)
    return "v1," + base64.b64encode(hmac.digest(secret, signed, hashlib.sha256)).decode()
