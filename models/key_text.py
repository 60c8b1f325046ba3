"""What an API key looks like: `fl_<id>_<secret>`. The id is public and names the key in lists and logs."""

import hashlib
import hmac
import re
import secrets
from typing import NamedTuple

_KEY = re.compile(r"fl_(?P<id>[0-9a-f]{16})_[0-9a-f]{64}", re.ASCII)
_ID_BYTES = 8
#: 256 bits, so that a slow password hash would add nothing but its 156 ms (docs/why/dependencies.md).
_SECRET_BYTES = 32
_SIGNING_LABEL = b"fairlane request signing v1"


class MadeKey(NamedTuple):
    """A key that nobody has yet; `text` is all that its owner needs, and is stored nowhere."""

    key_id: str
    text: str


def make_key() -> MadeKey:
    """Return a new random key."""
    key_id = secrets.token_hex(_ID_BYTES)
    return MadeKey(key_id, f"fl_{key_id}_{secrets.token_hex(_SECRET_BYTES)}")


def key_id_of(text: str) -> str | None:
    """The public id in a key; None when it has not the form of one."""
    found = _KEY.fullmatch(text)
    return found["id"] if found else None


def hash_key(text: str) -> str:
    """The SHA-256 under which a key is stored, 64 hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def signing_secret(text: str) -> str:
    """What both sides sign requests with: made from the key, which cannot be made from it; 64 hexadecimal digits."""
    return hmac.new(text.encode(), _SIGNING_LABEL, hashlib.sha256).hexdigest()
