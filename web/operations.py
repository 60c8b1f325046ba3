"""What each resource says about its methods: the router's checks and the OpenAPI document read the same words."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, cast
from urllib.parse import parse_qsl

import falcon
from pydantic import BaseModel

from web.access import Access
from web.errors import invalid_parameter, unknown_parameters


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter.

    Args:
        schema: its JSON schema.
        place: query or header.
    """

    name: str
    description: str
    schema: Mapping[str, Any] = field(default_factory=lambda: {"type": "string"})
    place: str = "query"


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one resource.

    Args:
        requests: media type of the body -> its model, models to choose from, or a schema of its own.
        answers: status -> the models of the body, one of which it is; none: no body.
        files: media types, besides that of the models, in which the answer 200 may come.
        refusals: statuses of the problem documents that this method may give besides 400, 405, 500
            and those of access.
        access: who may do it; what says nothing is for nobody.
    """

    summary: str
    answers: Mapping[int, tuple[type[BaseModel], ...]]
    requests: Mapping[str, tuple[type[BaseModel], ...] | Mapping[str, Any]] = field(default_factory=dict)
    parameters: tuple[Parameter, ...] = ()
    refusals: tuple[int, ...] = ()
    files: tuple[str, ...] = ()
    access: Access = Access.NOBODY


class Resource(Protocol):
    """A falcon resource that describes itself: HTTP method in upper case -> operation."""

    operations: ClassVar[Mapping[str, Operation]]


class KnownParameters:
    """Refuses query parameters that the operation does not name: a typing error must not change what is asked for."""

    def process_resource(
        self, req: falcon.Request, resp: falcon.Response, resource: object, params: dict[str, Any]
    ) -> None:
        method = "GET" if req.method == "HEAD" else req.method
        operation = cast(Resource, resource).operations.get(method)
        if operation is None:  # OPTIONS
            return
        known = [parameter.name for parameter in operation.parameters if parameter.place == "query"]
        try:
            parse_qsl(req.query_string, keep_blank_values=True, errors="strict")
        except ValueError as exc:  # falcon would put U+FFFD where the bytes are not UTF-8
            raise invalid_parameter("", "the query must be UTF-8, percent-encoded") from exc
        if not set(req.params) <= set(known):
            raise unknown_parameters(known)
