"""The description of the interface itself."""

import json
from collections.abc import Mapping
from typing import Any, ClassVar

import falcon

from web.access import Access
from web.operations import Operation


class OpenApiResource:
    """`GET /openapi.json`."""

    operations: ClassVar[Mapping[str, Operation]] = {
        "GET": Operation(access=Access.OPEN, summary="This document", answers={200: ()}, files=(falcon.MEDIA_JSON,))
    }

    def __init__(self) -> None:
        self._data = b"{}"

    def describe(self, document: dict[str, Any]) -> None:
        """Serve this document from now on."""
        self._data = json.dumps(document).encode()

    def on_get(self, req: falcon.Request, resp: falcon.Response) -> None:
        resp.content_type = falcon.MEDIA_JSON
        resp.data = self._data
