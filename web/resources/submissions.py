"""What the answers to all submits have in common."""

from dataclasses import replace
from typing import TypeVar

import falcon

from pipeline.intake import Receipt
from pipeline.mac import normalize_mac
from pipeline.submission import ImageSubmission, TextSubmission
from web.answers import Accepted
from web.caller import caller_of
from web.replies import reply

_S = TypeVar("_S", ImageSubmission, TextSubmission)

#: Seconds after which asking for the state may be worth it: a text is often done by then.
RETRY_AFTER_S = 1


def task_path(task_id: str) -> str:
    return f"/api/ocr/tasks/{task_id}"


def accepted(receipt: Receipt) -> Accepted:
    return Accepted(
        task_id=receipt.task_id,
        state=receipt.state.value,
        is_duplicate=receipt.is_duplicate,
        mac=receipt.mac,
        lane=receipt.lane,
        position=receipt.position,
    )


def with_site(req: falcon.Request, submission: _S) -> _S:
    """The same submission, in the site of the caller, who must speak for the device.

    Raises: NotYourDevice, RateLimited.
    """
    return replace(submission, site=caller_of(req).site_for(normalize_mac(submission.mac)))


def reply_accepted(resp: falcon.Response, receipt: Receipt) -> None:
    """202, and where to look."""
    reply(resp, accepted(receipt), status=202)
    resp.location = task_path(receipt.task_id)
    resp.set_header("Retry-After", str(RETRY_AFTER_S))
