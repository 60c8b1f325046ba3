"""What lists of rows with ids are asked by: a filter in the query, where a page begins, and ids that must be known."""

from collections.abc import Collection, Sequence
from typing import Any, TypeVar
from urllib.parse import urlencode

import falcon

from pipeline.errors import FieldProblem, InvalidInput
from pipeline.submission import Rules
from web.errors import invalid_parameter, invalid_parameters
from web.operations import Parameter
from web.parameters import all_values, id_of, single
from web.schemas import Request, validated

_R = TypeVar("_R", bound=Request)


def filter_by_query(
    req: falcon.Request, filters: Sequence[Parameter], model: type[_R], rules: Rules, numbers: Collection[str] = ()
) -> _R:
    """Return what these query parameters say, as a `model` with fields of their names.

    Args:
        numbers: those that are whole numbers.
    Raises: HttpProblem 400 naming every parameter that is wrong.
    """
    fields: dict[str, Any] = {}
    for name in (parameter.name for parameter in filters):
        value = single(req, name)
        if value is not None:
            is_number = name in numbers and value.isascii() and value.isdecimal() and len(value) <= 16
            fields[name] = int(value) if is_number else value
    try:
        return validated(model, fields, rules)
    except InvalidInput as exc:
        named = [FieldProblem(problem.pointer.lstrip("/"), problem.detail) for problem in exc.problems]
        raise invalid_parameters(named) from exc


def page_before(req: falcon.Request, what: str) -> int | None:
    """The id before which the page begins; None for the first page.

    Args:
        what: the ids are of, for the refusal: `a delivery`.
    Raises: HttpProblem 400.
    """
    values = all_values(req, "before")
    if not values:
        return None
    found = id_of(values[0])
    if len(values) > 1 or found is None:
        raise invalid_parameter("before", f"must be one id of {what}")
    return found


def page_after(req: falcon.Request, path: str, limit: int, cursor: str) -> str:
    """The address of the next page: the same filters, as they were given, from a cursor on."""
    given: dict[str, Any] = {name: all_values(req, name)[0] for name in req.params if name != "cursor"}
    return f"{path}?{urlencode({**given, 'limit': limit, 'cursor': cursor})}"


def refuse_unknown(ids: Sequence[int], known: Collection[int], what: str) -> None:
    """Raise InvalidInput that names every one of `ids` that is not known."""
    unknown = [number for number, one in enumerate(ids) if one not in known]
    if unknown:
        raise InvalidInput([FieldProblem(f"/ids/{number}", f"no {what} has this id") for number in unknown])
