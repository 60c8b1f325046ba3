"""Images on their way in: forms and JSON bodies as clients send them."""

import base64
import json
from typing import Any

import falcon.testing

from tests.support.pictures import corner_marked, encoded
from tests.support.service import MAC, Service

IMAGE_PATH = "/api/ocr/image"
PNG = encoded(corner_marked())
FORM = {"Content-Type": "multipart/form-data; boundary=BB"}
JSON = {"Content-Type": "application/json"}


def part(name: str, content: bytes | str, *headers: str) -> bytes:
    """One part of a form."""
    data = content.encode() if isinstance(content, str) else content
    head = "\r\n".join([f'Content-Disposition: form-data; name="{name}"', *headers])
    return b"--BB\r\n" + head.encode() + b"\r\n\r\n" + data + b"\r\n"


def form(*parts: bytes) -> bytes:
    """The body of a form."""
    return b"".join(parts) + b"--BB--\r\n"


IMAGE_PART = part("file", PNG, "Content-Type: image/png")
MAC_PART = part("mac", "AA:BB:CC:DD:EE:FF")
GOOD_FORM = form(MAC_PART, IMAGE_PART)


def json_body(**changes: Any) -> str:
    """The JSON of a good submission with some fields changed, or left out when they are `...`."""
    fields = {"mac": MAC, "image_base64": base64.b64encode(PNG).decode(), **changes}
    return json.dumps({name: value for name, value in fields.items() if value is not ...})


def post_image(
    service: Service, body: bytes | str, headers: dict[str, str] = FORM, query: str = "", **parts: Any
) -> falcon.testing.Result:
    return service.http(**parts).simulate_post(IMAGE_PATH, body=body, headers=headers, query_string=query)
