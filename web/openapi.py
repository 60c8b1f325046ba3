"""The OpenAPI 3.1 document, made from the routes and schemas that serve the requests."""

import re
from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from pipeline import __version__
from web.access import Access
from web.answers import ProblemAnswer
from web.errors import PROBLEM_JSON
from web.operations import Operation, Parameter, Resource
from web.schemas import TextTask
from web.signatures import SCHEME

_JSON = "application/json"
_REF = "#/components/schemas/{model}"
#: What any operation may answer.
_COMMON_REFUSALS = (400, 405, 500)
#: What any operation may answer that asks for a key.
_ACCESS_REFUSALS = (401, 403, 429, 503)
_SECURITY_SCHEMES = {
    "key": {"type": "http", "scheme": "bearer", "description": "an API key, fl_<id>_<secret>"},
    "signature": {"type": "http", "scheme": SCHEME, "description": "for keys whose requests must be signed"},
}
_PATH_PARAMETER = re.compile(r"{(\w+)}")

Routes = Sequence[tuple[str, Resource]]


def document(routes: Routes) -> dict[str, Any]:
    """Describe every route."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "fairlane", "version": __version__},
        "paths": {path: _path_item(path, resource) for path, resource in routes},
        "components": {"schemas": _schemas(routes), "securitySchemes": _SECURITY_SCHEMES},
    }


def _path_item(path: str, resource: Resource) -> dict[str, Any]:
    item: dict[str, Any] = {method.lower(): _operation(operation) for method, operation in resource.operations.items()}
    names = _PATH_PARAMETER.findall(path)
    if names:
        item["parameters"] = [
            {"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names
        ]
    return item


def _operation(operation: Operation) -> dict[str, Any]:
    described: dict[str, Any] = {
        "summary": operation.summary,
        "responses": {
            **{str(status): _answer(status, models, operation.files) for status, models in operation.answers.items()},
            **{str(status): _refusal(status) for status in sorted({*_COMMON_REFUSALS, *operation.refusals})},
        },
        "security": [],
    }
    if operation.access is not Access.OPEN:
        described["security"] = [{name: []} for name in _SECURITY_SCHEMES]
        described["x-roles"] = sorted(operation.access.roles)
        described["responses"] |= {str(status): _refusal(status) for status in _ACCESS_REFUSALS}
    if operation.parameters:
        described["parameters"] = [_parameter(parameter) for parameter in operation.parameters]
    if operation.requests:
        content = {media_type: {"schema": _request(request)} for media_type, request in operation.requests.items()}
        described["requestBody"] = {"required": True, "content": content}
    return described


def _parameter(parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "in": parameter.place,
        "required": False,
        "description": parameter.description,
        "schema": dict(parameter.schema),
    }


def _request(request: tuple[type[BaseModel], ...] | Mapping[str, Any]) -> dict[str, Any]:
    return _one_of(request) if isinstance(request, tuple) else dict(request)


def _answer(status: int, models: tuple[type[BaseModel], ...], files: tuple[str, ...]) -> dict[str, Any]:
    described: dict[str, Any] = {"description": HTTPStatus(status).phrase}
    content: dict[str, Any] = {_JSON: {"schema": _one_of(models)}} if models else {}
    if status == HTTPStatus.OK:
        content.update({media_type: {"schema": {}} for media_type in files})
    if content:
        described["content"] = content
    return described


def _refusal(status: int) -> dict[str, Any]:
    schema = _one_of((ProblemAnswer,))
    return {"description": HTTPStatus(status).phrase, "content": {PROBLEM_JSON: {"schema": schema}}}


def _one_of(models: tuple[type[BaseModel], ...]) -> dict[str, Any]:
    refs = [{"$ref": _REF.format(model=model.__name__)} for model in models]
    return refs[0] if len(refs) == 1 else {"oneOf": refs}


def _schemas(routes: Routes) -> dict[str, Any]:
    models: set[type[BaseModel]] = {ProblemAnswer, TextTask}
    for _, resource in routes:
        for operation in resource.operations.values():
            models.update(_models_of(operation))
    wanted: list[type[BaseModel]] = sorted(models, key=lambda model: model.__name__)
    _, found = models_json_schema([(model, "validation") for model in wanted], ref_template=_REF)
    return dict(found["$defs"])


def _models_of(operation: Operation) -> Iterator[type[BaseModel]]:
    for models in operation.answers.values():
        yield from models
    for request in operation.requests.values():
        if isinstance(request, tuple):
            yield from request
