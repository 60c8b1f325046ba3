"""Query parameters, which `KnownParameters` has compared with the operation's list before any resource asks."""

import re
from collections.abc import Sequence
from typing import Any

import falcon

from web.errors import invalid_parameter

_ID = re.compile(r"[0-9]{1,15}", re.ASCII)
_WHOLE_NUMBER = re.compile(r"[0-9]{1,6}", re.ASCII)


def whole_number(req: falcon.Request, name: str, *, default: int) -> int:
    """Return a parameter that counts something.

    Raises: HttpProblem 400.
    """
    values = all_values(req, name)
    if not values:
        return default
    if len(values) > 1 or not _WHOLE_NUMBER.fullmatch(values[0]):
        raise invalid_parameter(name, "must be one whole number, 0 or more")
    return int(values[0])


def id_of(text: str) -> int | None:
    """The id of a row that is spelled so; None for what spells none."""
    return int(text) if _ID.fullmatch(text) else None


def is_true(req: falcon.Request, name: str) -> bool:
    """Whether a parameter says `true`; a missing one does not.

    Raises: HttpProblem 400.
    """
    values = all_values(req, name)
    if values not in ([], ["true"], ["false"]):
        raise invalid_parameter(name, "must be true or false")
    return values == ["true"]


def single(req: falcon.Request, name: str) -> str | None:
    """The value of a parameter that may stand there once.

    Raises: HttpProblem 400.
    """
    values = all_values(req, name)
    if len(values) > 1:
        raise invalid_parameter(name, "stands there twice")
    return values[0] if values else None


def one_of(req: falcon.Request, name: str, allowed: Sequence[str]) -> Any:
    """The value of a parameter that must be one of these, None when it is not there.

    Raises: HttpProblem 400.
    """
    given = single(req, name)
    if given is not None and given not in allowed:
        raise invalid_parameter(name, f"must be one of: {', '.join(allowed)}")
    return given


def all_values(req: falcon.Request, name: str) -> list[str]:
    """Every value that stands under the name, in order."""
    found = req.params.get(name, [])
    return list(found) if isinstance(found, list) else [found]
