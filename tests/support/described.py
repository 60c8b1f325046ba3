"""A client of the service that compares every answer it gets with the OpenAPI document."""

import re
from functools import cached_property
from typing import Any

import falcon.testing
import jsonschema_rs

_PROBLEM = "application/problem+json"


class DescribedClient(falcon.testing.TestClient):
    """falcon's client; an answer that the document does not describe fails the test."""

    @cached_property
    def document(self) -> "Document":
        return Document(super().simulate_request("GET", "/openapi.json").json)

    def simulate_request(self, *args: Any, **kwargs: Any) -> falcon.testing.Result:
        result = super().simulate_request(*args, **kwargs)
        method = args[0] if args else kwargs.get("method", "GET")
        path = args[1] if len(args) > 1 else kwargs.get("path", "/")
        self.document.check(method, path.partition("?")[0], result)
        return result


class Document:
    """The description of the interface, and whether an answer keeps to it."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document
        self._paths = {re.compile(re.sub(r"{\w+}", "[^/]+", path)): item for path, item in document["paths"].items()}
        self._validators: dict[str, Any] = {}

    def check(self, method: str, path: str, result: falcon.testing.Result) -> None:
        """Fail unless status, media type and body are what the document says."""
        item = next((item for pattern, item in self._paths.items() if pattern.fullmatch(path)), None)
        operation = item.get("get" if method == "HEAD" else method.lower()) if item else None
        if operation is None:
            assert result.status_code in (200, 304, 400, 401, 404, 405), (method, path, result.status_code)
            if result.status_code >= 400 and method != "HEAD":
                self._check_body("ProblemAnswer", result)
            return
        answer = operation["responses"].get(str(result.status_code))
        assert answer is not None, f"{method} {path} answers {result.status_code}, which is not described"
        content = answer.get("content", {})
        if method == "HEAD" or not content:
            assert result.content == b""
            return
        media_type = result.headers["Content-Type"]
        assert media_type in content, f"{method} {path} answers {media_type}, which is not described"
        if media_type in ("application/json", _PROBLEM):
            self._check(content[media_type]["schema"], result.json)

    def _check_body(self, model: str, result: falcon.testing.Result) -> None:
        assert result.headers["Content-Type"] == _PROBLEM
        self._check({"$ref": f"#/components/schemas/{model}"}, result.json)

    def _check(self, schema: dict[str, Any], body: Any) -> None:
        name = str(schema)
        if name not in self._validators:
            whole = {"components": self._document["components"], **schema}
            self._validators[name] = jsonschema_rs.Draft202012Validator(whole)
        self._validators[name].validate(body)
