"""The settings of announcements; a part of `Settings`."""

import base64
import binascii
import re
from typing import Literal, Self

from pydantic import BaseModel, Field, SecretStr, field_validator, model_validator

from pipeline.receivers import ReceiverRules

#: How a secret begins. Source: Standard Webhooks 1.0.
SECRET_PREFIX = "whsec_"  # noqa: S105 - the mark of a secret, not one
#: Bytes of a secret, and how many may be valid at once.
_SECRET_BYTES = range(24, 65)
_SECRETS_MAX = 5


class WebhookSettings(BaseModel):
    """Whom hits are announced to, and how."""

    webhook_url: str = Field(
        "", repr=False, description="https:// URL to which hits are announced; empty: only callback_url"
    )
    webhook_secrets: SecretStr = Field(
        SecretStr(""), description="whsec_..., signs announcements; several, by commas, while one replaces another"
    )
    webhook_events: Literal["hits", "ends"] = Field("hits", description="announce tasks with hits, or every end")
    webhook_allow_private: bool = Field(default=False, description="announce to private and loopback addresses, too")
    webhook_allow_http: bool = Field(default=False, description="announce without TLS, too")
    webhook_timeout_seconds: float = Field(10.0, ge=0.1, le=60, description="seconds that one announcement may take")
    webhook_ttl_seconds: int = Field(172_800, ge=60, description="seconds after which an announcement is given up")

    @field_validator("webhook_secrets")
    @classmethod
    def _check_secrets(cls, value: SecretStr) -> SecretStr:
        decoded_secrets(value.get_secret_value())
        return value

    @property
    def webhook_keys(self) -> list[bytes]:
        """What announcements are signed with."""
        return decoded_secrets(self.webhook_secrets.get_secret_value())

    @property
    def receiver_rules(self) -> ReceiverRules:
        return ReceiverRules(self.webhook_allow_private, self.webhook_allow_http)

    @model_validator(mode="after")
    def _check_receiver(self) -> Self:
        if self.webhook_url:
            if fault := self.receiver_rules.url_fault(self.webhook_url):
                raise ValueError(f"FAIRLANE_WEBHOOK_URL: {fault}")
            if not self.webhook_keys:
                raise ValueError("FAIRLANE_WEBHOOK_URL: set FAIRLANE_WEBHOOK_SECRETS, so that its receiver can tell us")
        return self


def decoded_secrets(value: str) -> list[bytes]:
    """The keys that a list of secrets stands for, in its order; the fault of a wrong one never repeats it.

    Raises: ValueError.
    """
    spellings = [spelling for spelling in re.split(r"[,\s]+", value) if spelling]
    if len(spellings) > _SECRETS_MAX:
        raise ValueError(f"at most {_SECRETS_MAX} secrets may be valid at once")
    return [_decoded(spelling, number) for number, spelling in enumerate(spellings, start=1)]


def _decoded(spelling: str, number: int) -> bytes:
    try:
        key = base64.b64decode(spelling.removeprefix(SECRET_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not spelling.startswith(SECRET_PREFIX) or len(key) not in _SECRET_BYTES:
        raise ValueError(f"secret {number} must be whsec_ and the base64 of 24 to 64 random bytes") from None
    return key
