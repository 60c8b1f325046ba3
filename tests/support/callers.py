"""HTTP clients that come with a key."""

import hashlib
import hmac
import itertools
from typing import Any

import falcon.testing

from models.base import bind, connect
from models.key_text import signing_secret
from models.keys import ApiKeys, KeyRow, WantedKey
from pipeline.clock import SystemClock
from tests.support.databases import close_all
from tests.support.service import Service

_nonces = itertools.count()


class Guest:
    """Somebody with a key of a service."""

    def __init__(self, service: Service, wanted: WantedKey, client: falcon.testing.TestClient | None = None) -> None:
        self.service = service
        self.key, self.text = service.api_keys.create(wanted)
        self.client = client or service.http()

    def ask(self, method: str, path: str, **options: Any) -> falcon.testing.Result:
        """Make a request with the key."""
        headers = {"Authorization": f"Bearer {self.text}", **options.pop("headers", {})}
        return self.client.simulate_request(method, path, headers=headers, **options)


def guest(service: Service, role: Any = "admin", site: str = "local", **options: Any) -> Guest:
    """Somebody with a new key; the rest as in `WantedKey`."""
    client = options.pop("client", None)
    return Guest(service, WantedKey("test", site, role, **options), client)


def made_key(database_url: str, **options: Any) -> str:
    """The text of a new key in a database that others use too; the rest as in `WantedKey`."""
    return made_keys(database_url, options)[0][1]


def made_keys(database_url: str, *wanted: dict[str, Any], is_revoked: bool = False) -> list[tuple[KeyRow, str]]:
    """New keys in a database that others use too, and their texts; the rest as in `WantedKey`."""
    database = connect(database_url)
    bind(database)
    keys = ApiKeys(database, SystemClock())
    defaults: dict[str, Any] = {"name": "test", "site": "local", "role": "device"}
    made = [keys.create(WantedKey(**{**defaults, **options})) for options in wanted]
    for key, _ in made if is_revoked else ():
        keys.revoke(key.key_id)
    close_all(database)
    return made


def signed_headers(
    key: KeyRow, text: str, method: str, target: str, body: bytes, now_ms: int, **changes: str
) -> dict[str, str]:
    """The headers of a signed request, as docs/howto/keys.md says; some fields replaced after signing."""
    fields = {
        "key_id": key.key_id,
        "timestamp": str(now_ms // 1000),
        "nonce": f"nonce-{next(_nonces):016d}",
        "body_sha256": hashlib.sha256(body).hexdigest(),
    }
    lines = ["FL1", method, target, fields["body_sha256"], fields["timestamp"], fields["nonce"]]
    secret = signing_secret(text).encode()
    fields["signature"] = hmac.new(secret, "\n".join(lines).encode(), hashlib.sha256).hexdigest()
    fields |= changes
    return {"Authorization": "Fairlane-HMAC " + ", ".join(f"{name}={value}" for name, value in fields.items())}
