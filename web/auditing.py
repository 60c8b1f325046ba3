"""Writes a line of the audit for each request that changes something, before it does."""

import json
import logging
from typing import Any, cast

import falcon

from models.audit import AuditTrail, Deed
from pipeline.errors import DatabaseUnavailable
from web.access import Access
from web.caller import caller_of
from web.operations import Resource

_log = logging.getLogger(__name__)

_CHANGING = ("POST", "PUT", "PATCH", "DELETE")


class Auditing:
    """The middleware that records who changes what; a change that cannot be recorded is refused.

    What devices hand in is recorded by its own row, and by the line in the log that names the key.
    """

    def __init__(self, trail: AuditTrail) -> None:
        self._trail = trail

    def process_resource(
        self, req: falcon.Request, resp: falcon.Response, resource: object, params: dict[str, Any]
    ) -> None:
        operation = cast(Resource, resource).operations.get(req.method)
        if operation is None or not _is_deed(req.method, operation.access):
            return
        caller = caller_of(req)
        target = f"{req.path}?{req.query_string}" if req.query_string else req.path
        deed = Deed(caller.actor, caller.scope.site, f"{req.method} {req.uri_template}", target)
        req.context.audit_line = self._trail.begin(deed)

    def process_response(
        self, req: falcon.Request, resp: falcon.Response, resource: object, req_succeeded: bool
    ) -> None:
        line_id = req.context.get("audit_line")
        if line_id is None:
            return
        try:
            self._trail.end(line_id, str(resp.status_code), more=req.context.get("audit_target") or "")
        except DatabaseUnavailable:
            _log.warning("the outcome of a deed was not recorded", extra={"audit_line": line_id})


def name_target(req: falcon.Request, target: dict[str, Any]) -> None:
    """Say what the body of the request chose, for its line in the audit."""
    req.context.audit_target = json.dumps(target)


def _is_deed(method: str, access: Access) -> bool:
    if method not in _CHANGING:
        return False
    return access in (Access.ACT, Access.MANAGE) or method != "POST"
