"""Signatures: those of the Standard Webhooks document, computed here by other means."""

import base64
import hashlib
import hmac
import re
from pathlib import Path
from typing import Any

import pytest

from pipeline.clock import SystemClock
from pipeline.webhook_settings import decoded_secrets
from pipeline.webhooks.signing import signed_headers

HOW_TO = Path(__file__).parents[3] / "docs" / "howto" / "webhooks.md"

#: The example of the libraries of Standard Webhooks.
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
OTHER = "whsec_" + base64.b64encode(bytes(range(32))).decode()


@pytest.mark.feature("R4")
def test_the_signature_is_that_of_the_published_example() -> None:
    body = b'{"test": 2432232314}'

    headers = signed_headers(decoded_secrets(SECRET), "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body)

    assert headers == {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }


@pytest.mark.feature("R4")
def test_while_a_secret_is_replaced_receivers_with_either_can_verify() -> None:
    body = '{"word":"刷单"}'.encode()

    signatures = signed_headers(decoded_secrets(f"{SECRET}, {OTHER}"), "msg_1", 7, body)["webhook-signature"].split()

    for secret, signature in zip((SECRET, OTHER), signatures, strict=True):
        key = base64.b64decode(secret.removeprefix("whsec_"))
        expected = hmac.new(key, b"msg_1.7." + body, hashlib.sha256).digest()
        assert signature == "v1," + base64.b64encode(expected).decode()


@pytest.mark.feature("R4")
def test_the_recipe_of_the_documentation_tells_genuine_from_forged() -> None:
    recipe = re.findall(r"```python\n(.*?)```", HOW_TO.read_text("utf-8"), re.DOTALL)[0]
    names: dict[str, Any] = {}
    exec(recipe, names)
    is_genuine, now_s, body = names["is_genuine"], SystemClock().now_ms() // 1000, b"{}"
    headers = dict(signed_headers(decoded_secrets(f"{OTHER},{SECRET}"), "msg_1", now_s, body))

    assert is_genuine(SECRET, headers, body)
    assert is_genuine(OTHER, headers, body)
    assert not is_genuine(SECRET, headers, b"{ }")
    assert not is_genuine(SECRET, {**headers, "webhook-id": "msg_2"}, body)
    assert not is_genuine("whsec_" + base64.b64encode(bytes(32)).decode(), headers, body)
    assert not is_genuine(SECRET, dict(signed_headers(decoded_secrets(SECRET), "msg_1", now_s - 301, body)), body)


@pytest.mark.parametrize(
    "secrets",
    ["sesame", "whsec_", "whsec_!!!", "whsec_" + base64.b64encode(b"short").decode(), SECRET + ",x", OTHER * 2],
)
def test_a_wrong_secret_is_refused_and_never_repeated(secrets: str) -> None:
    with pytest.raises(ValueError, match="secret") as refusal:
        decoded_secrets(secrets)
    assert secrets not in str(refusal.value).replace("whsec_ and", "")
    assert refusal.value.__cause__ is None


def test_six_secrets_at_once_are_too_many() -> None:
    with pytest.raises(ValueError, match="at most 5"):
        decoded_secrets(" ".join([OTHER] * 6))
