"""Whatever stands in an Authorization header, it is a credential or refused; nothing else happens."""

import contextlib

from hypothesis import example, given
from hypothesis import strategies as st

from models.key_text import key_id_of
from pipeline.errors import BadSignature
from web.signatures import Signed, parse, string_to_sign

FIELD = st.from_regex(r"[a-z0-9_]{1,12}=\"?[0-9A-Za-z_-]{0,70}\"?", fullmatch=True)
HEADERS = st.text(st.characters(max_codepoint=255), max_size=300)


@given(HEADERS | st.lists(FIELD, max_size=8).map(", ".join))
@example("key_id=" + "0" * 16 + ", timestamp=1, nonce=" + "n" * 16 + ", body_sha256=" + "0" * 64 + ", signature=")
def test_credentials_are_read_or_refused(credentials: str) -> None:
    with contextlib.suppress(BadSignature):
        signed = parse(credentials)
        assert len(signed.key_id) == 16
        assert all("\n" not in field and field.isascii() for field in signed)


@given(HEADERS)
def test_what_has_an_id_has_the_form_of_a_key(text: str) -> None:
    key_id = key_id_of(text)
    assert key_id is None or (text.startswith(f"fl_{key_id}_") and len(text) == 84)


@given(HEADERS, HEADERS)
def test_two_requests_never_have_one_string_to_sign(first: str, second: str) -> None:
    """A target cannot hold a line end: no server lets one through."""
    signed = Signed("0" * 16, "1", "n" * 16, "0" * 64, "0" * 64)
    targets = [target.replace("\n", "").replace("\r", "") for target in (first, second)]
    messages = [string_to_sign("GET", target, signed) for target in targets]
    assert (messages[0] == messages[1]) == (targets[0] == targets[1])
