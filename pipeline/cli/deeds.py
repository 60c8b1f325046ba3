"""What commands change is recorded in the audit, under the name of the user who typed them."""

import os
import pwd
from collections.abc import Iterator
from contextlib import contextmanager

from models.audit import AuditTrail, Deed


@contextmanager
def recorded(trail: AuditTrail, action: str, target: str, *, site: str | None = None) -> Iterator[None]:
    """Record the block before it begins, and how it came out; without the record it does not begin.

    Args:
        site: whose data; None: every site's.
    """
    line_id = trail.begin(Deed(f"cli:{user_name()}", site, action, target))
    try:
        yield
    except BaseException:
        trail.end(line_id, "failed")
        raise
    trail.end(line_id, "done")


def user_name() -> str:
    """The user as the system knows it, whatever the environment says."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())
