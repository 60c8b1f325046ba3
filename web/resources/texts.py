"""Submit a text, or up to a hundred of them."""

import logging
from collections.abc import Mapping
from typing import Any, ClassVar

import falcon

from pipeline import tracing
from pipeline.errors import FairlaneError, Retryable
from pipeline.intake import Intake, rules_of
from pipeline.settings import Settings
from pipeline.submission import TextSubmission
from web.access import Access
from web.answers import Accepted, BatchAnswer, BatchItem, ProblemAnswer
from web.bodies import read_json
from web.counting import note_refusal
from web.errors import problem_of
from web.idempotency import KEY_PARAMETER, key_of, submit_once, with_key
from web.middleware import request_id_of
from web.operations import Operation
from web.replies import reply
from web.resources.submissions import RETRY_AFTER_S, accepted, reply_accepted, with_site
from web.schemas import TextBatch, TextTask, validated

_log = logging.getLogger(__name__)

#: The span of one text of a batch.
SUBMIT = "submit"

#: Bytes of a body; a full batch of the longest texts must be sent in several.
_BODY_MAX_BYTES = 8_000_000
#: Bytes that one character may need: two JSON escapes for a pair of surrogates.
_CHAR_MAX_BYTES = 12


def body_max_bytes(settings: Settings) -> int:
    """Bytes of a body: a batch, or the longest text with its words."""
    return max(_BODY_MAX_BYTES, settings.text_max_chars * _CHAR_MAX_BYTES + 1_000_000)


class TextsResource:
    """`POST /api/ocr/text`."""

    operations: ClassVar[Mapping[str, Operation]] = {
        "POST": Operation(
            access=Access.SUBMIT,
            summary="Submit one text, or several as `tasks`, to be screened",
            requests={"application/json": (TextTask, TextBatch)},
            parameters=(KEY_PARAMETER,),
            answers={202: (Accepted, BatchAnswer)},
            refusals=(409, 411, 413, 415, 422, 429, 503),
        )
    }

    def __init__(self, intake: Intake, settings: Settings) -> None:
        self._intake = intake
        self._rules = rules_of(settings)
        self._body_max_bytes = body_max_bytes(settings)

    def on_post(self, req: falcon.Request, resp: falcon.Response) -> None:
        body = read_json(req, self._body_max_bytes)
        if isinstance(body, dict) and "tasks" in body:
            key_of(req)  # which is wrong for all of them, or for none
            batch = validated(TextBatch, body, self._rules)
            reply(resp, self._submit_all(req, batch.tasks), status=202)
            resp.set_header("Retry-After", str(RETRY_AFTER_S))
            return
        submission = self._submission(req, body)
        reply_accepted(resp, submit_once(req, resp, self._intake.submit_text, submission))

    def _submit_all(self, req: falcon.Request, tasks: list[Any]) -> BatchAnswer:
        results: list[BatchItem] = []
        unreachable: Retryable | None = None
        for index, task in enumerate(tasks):
            try:
                if unreachable:  # each further try would only wait for the same silence again
                    raise unreachable
                # A trace for each: one of a hundred tasks would last as long as the slowest and show none of them.
                with tracing.apart(SUBMIT):
                    submission = with_key(req, self._submission(req, task, at=f"/tasks/{index}"), index)
                    receipt = self._intake.submit_text(submission)
            except FairlaneError as exc:
                unreachable = exc if isinstance(exc, Retryable) else None
                note_refusal(req, exc)
                results.append(_refused(index, exc, request_id_of(req)))
            else:
                results.append(BatchItem(index=index, status=202, task=accepted(receipt)))
        count = sum(item.task is not None for item in results)
        return BatchAnswer(accepted=count, refused=len(results) - count, results=results)

    def _submission(self, req: falcon.Request, body: Any, *, at: str = "") -> TextSubmission:
        task = validated(TextTask, body, self._rules, at=at)
        submission = TextSubmission(
            mac=task.mac,
            text=task.text,
            words=tuple(task.words),
            task_id=task.task_id,
            detection_id=task.detection_id,
            callback_url=task.callback_url,
        )
        return with_site(req, submission)


def _refused(index: int, exc: FairlaneError, request_id: str) -> BatchItem:
    problem = problem_of(exc, at=f"/tasks/{index}")
    if problem.status >= 500:
        _log.warning("task of a batch refused", extra={"index": index, "code": problem.code, "reason": str(exc)})
    return BatchItem(index=index, status=problem.status, problem=ProblemAnswer(**problem.body(request_id)))
