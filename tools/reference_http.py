"""The page of the reference about HTTP, from the OpenAPI document that the service itself serves."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]

#: Run in a process of its own: wiring the service binds a database and starts threads.
_ASK = """
import json, falcon.testing
from models.base import connect
from models.migrate import migrate
from pipeline.settings import load_settings
migrate(connect(load_settings().effective_database_url))
from web.wsgi import app
print(json.dumps(falcon.testing.TestClient(app).simulate_get("/openapi.json", headers={"Host": "localhost"}).json))
"""
_METHODS = ("get", "post", "put", "patch", "delete")


@cache
def document() -> dict[str, Any]:
    """What `GET /openapi.json` answers on a fresh installation with default settings."""
    with tempfile.TemporaryDirectory(prefix="fairlane-reference-") as folder:
        environment = {"PATH": os.defpath, "PYTHONPATH": str(ROOT), "FAIRLANE_DATA_DIR": folder}
        asked = subprocess.run(
            [sys.executable, "-c", _ASK], cwd=folder, env=environment, capture_output=True, text=True, check=True
        )
    answer: dict[str, Any] = json.loads(asked.stdout.splitlines()[-1])
    return answer


def http_page() -> str:
    described = document()
    lines = [
        "# HTTP",
        "",
        "Served as OpenAPI 3.1 at `/openapi.json`, from which this page is made. Refusals are problem documents",
        "(RFC 9457). How keys are made and sent: [how to](../howto/keys.md).",
        "",
        "| route | does | who |",
        "| --- | --- | --- |",
    ]
    operations = list(_operations(described))
    for method, path, operation, _ in operations:
        link = f"[`{method} {path}`](#{_anchor(method, path)})"
        lines.append(f"| {link} | {_cell(operation['summary'])} | {_who(operation)} |")
    for method, path, operation, inherited in operations:
        lines += ["", f"## {method} {path}", "", f"{operation['summary']}.", "", *_details(operation, inherited)]
    lines += ["", "# Bodies", ""]
    for name, schema in sorted(described["components"]["schemas"].items()):
        lines += _model(name, schema)
    return "\n".join(lines).rstrip() + "\n"


def _operations(described: Mapping[str, Any]) -> Iterator[tuple[str, str, dict[str, Any], list[dict[str, Any]]]]:
    for path, item in described["paths"].items():
        for method in _METHODS:
            if method in item:
                yield method.upper(), path, item[method], item.get("parameters", [])


def _details(operation: Mapping[str, Any], inherited: list[dict[str, Any]]) -> Iterator[str]:
    for parameter in (*inherited, *operation.get("parameters", [])):
        told = parameter.get("description", "")
        yield f"* {parameter['in']} `{parameter['name']}`{f': {_cell(told)}' if told else ''}"
    for media_type, content in operation.get("requestBody", {}).get("content", {}).items():
        yield f"* body `{media_type}`{_named(content['schema'])}"
    for status, answer in operation["responses"].items():
        if int(status) < 400:
            bodies = answer.get("content", {}).items()
            kinds = ", ".join(f"`{media_type}`{_named(content.get('schema', {}))}" for media_type, content in bodies)
            yield f"* answer {status}{f': {kinds}' if kinds else ''}"
    yield f"* refusals {', '.join(sorted(status for status in operation['responses'] if int(status) >= 400))}"


def _model(name: str, schema: Mapping[str, Any]) -> Iterator[str]:
    yield f"## {name}"
    yield ""
    if told := schema.get("description"):
        yield from (_cell(" ".join(told.split())), "")
    properties = schema.get("properties", {})
    if not properties:
        return
    yield from ("| field | type | what |", "| --- | --- | --- |")
    required = schema.get("required", ())
    for field, about in properties.items():
        mark = "" if field in required else " (may be left out)"
        yield f"| `{field}`{mark} | {_type(about)} | {_cell(about.get('description', ''))} |"
    yield ""


def _type(schema: Mapping[str, Any]) -> str:
    """How a schema is spelled for people: `string or null`, `list of StepAnswer`."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return " or ".join(_type(one) for one in schema[key])
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return str(schema.get("type", "any"))


def _named(schema: Mapping[str, Any]) -> str:
    return f" ({_type(schema)})" if {"$ref", "oneOf", "anyOf"} & set(schema) else ""


def _who(operation: Mapping[str, Any]) -> str:
    return ", ".join(operation["x-roles"]) if "x-roles" in operation else "everybody"


def _anchor(method: str, path: str) -> str:
    """As GitHub makes it of the heading."""
    kept = "".join(char for char in f"{method} {path}".lower() if char.isalnum() or char in " -_")
    return kept.replace(" ", "-")


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
