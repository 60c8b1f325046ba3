"""Where a page begins, in a form that nobody is tempted to make up."""

import base64
import binascii
import re

import falcon

from web.errors import invalid_cursor
from web.parameters import single


def cursor_saying(said: str) -> str:
    """A cursor that says this."""
    return base64.urlsafe_b64encode(said.encode()).decode()


def said_by_cursor(req: falcon.Request, pattern: "re.Pattern[str]") -> "re.Match[str] | None":
    """What the cursor of the query says, which is of this pattern; None for the first page.

    Raises: HttpProblem 400 for a cursor that we did not make.
    """
    given = single(req, "cursor")
    if given is None:
        return None
    try:
        found = pattern.fullmatch(base64.b64decode(given, altchars=b"-_", validate=True).decode("ascii"))
    except (binascii.Error, ValueError) as exc:
        raise invalid_cursor() from exc
    if found is None:
        raise invalid_cursor()
    return found
