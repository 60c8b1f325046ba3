"""Dead letters: listed, shown, asked to be replayed, dropped."""

import dataclasses
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar
from urllib.parse import urlencode

import falcon

from models.dead_letters import Chosen, DeadLetterRow, DeadLetters
from pipeline.errors import DeadLetterNotFound
from pipeline.intake import rules_of
from pipeline.settings import Settings
from web.access import Access
from web.auditing import name_target
from web.bodies import read_json
from web.caller import caller_of
from web.dead_letters import (
    FILTERS,
    UNCONFIRMED_MAX,
    DeadLetterAnswer,
    DeadLettersAnswer,
    FullDeadLetterAnswer,
    LettersAnswer,
    ReplayRequest,
    chosen_by_query,
)
from web.errors import confirmation_required, invalid_parameter
from web.filters import page_before, refuse_unknown
from web.operations import Operation, Parameter
from web.parameters import id_of, is_true, whole_number
from web.replies import reply
from web.schemas import validated

PATH = "/api/dead-letters"
_PAGE = 50
_PAGE_MAX = 200
_BODY_MAX_BYTES = 100_000
_BOOLEAN = {"type": "boolean"}
_DRY_RUN = Parameter("dry_run", "only count", _BOOLEAN)


class DeadLettersResource:
    """`/api/dead-letters`."""

    operations: ClassVar[Mapping[str, Operation]] = {
        "GET": Operation(
            access=Access.READ,
            summary="Dead letters, newest first",
            parameters=(
                *FILTERS,
                Parameter("before", "only letters with a smaller id: where the next page begins", {"type": "integer"}),
                Parameter("limit", "letters of one page", {"type": "integer", "minimum": 1, "maximum": _PAGE_MAX}),
            ),
            answers={200: (DeadLettersAnswer,)},
            refusals=(503,),
        ),
        "DELETE": Operation(
            access=Access.ACT,
            summary="Drop dead letters for good: at least one filter, or all=true",
            parameters=(*FILTERS, Parameter("all", "drop all of them", _BOOLEAN), _DRY_RUN),
            answers={200: (LettersAnswer,)},
            refusals=(503,),
        ),
    }

    def __init__(self, letters: DeadLetters, settings: Settings) -> None:
        self._letters = letters
        self._rules = rules_of(settings)

    def on_get(self, req: falcon.Request, resp: falcon.Response) -> None:
        chosen = replace(chosen_by_query(req, self._rules), within=caller_of(req).scope)
        limit = whole_number(req, "limit", default=_PAGE)
        if not 1 <= limit <= _PAGE_MAX:
            raise invalid_parameter("limit", f"must be 1 to {_PAGE_MAX}")
        # One more than asked for, to know whether there is a next page.
        found = self._letters.page(chosen, before=page_before(req, "a dead letter"), limit=limit + 1)
        page = found[:limit]
        further = {**chosen.named(), "limit": limit, "before": page[-1].id} if len(found) > limit else None
        total = self._letters.total(chosen)
        answer = DeadLettersAnswer(
            dead_letters=[DeadLetterAnswer(**dataclasses.asdict(letter)) for letter in page],
            next=f"{PATH}?{urlencode(further)}" if further else None,
            total=total.letters,
            total_is_least=total.is_least,
        )
        reply(resp, answer)

    def on_delete(self, req: falcon.Request, resp: falcon.Response) -> None:
        chosen, is_dry = chosen_by_query(req, self._rules), is_true(req, "dry_run")
        if is_true(req, "all") == (chosen != Chosen()):
            raise invalid_parameter("all", "name at least one filter, or all=true and none")
        chosen = replace(chosen, within=caller_of(req).scope)
        count = self._letters.count(chosen) if is_dry else self._letters.drop(chosen)
        reply(resp, LettersAnswer(letters=count, dry_run=is_dry))


class DeadLetterResource:
    """`/api/dead-letters/{letter_id}`."""

    operations: ClassVar[Mapping[str, Operation]] = {
        "GET": Operation(
            access=Access.READ,
            summary="One dead letter, in full",
            answers={200: (FullDeadLetterAnswer,)},
            refusals=(404, 503),
        ),
        "DELETE": Operation(
            access=Access.ACT, summary="Drop one for good", answers={200: (LettersAnswer,)}, refusals=(404, 503)
        ),
    }

    def __init__(self, letters: DeadLetters) -> None:
        self._letters = letters

    def on_get(self, req: falcon.Request, resp: falcon.Response, letter_id: str) -> None:
        reply(resp, FullDeadLetterAnswer(**dataclasses.asdict(self._letter(req, letter_id))))

    def on_delete(self, req: falcon.Request, resp: falcon.Response, letter_id: str) -> None:
        chosen = Chosen(ids=(self._letter(req, letter_id).id,), within=caller_of(req).scope)
        dropped = self._letters.drop(chosen)
        reply(resp, LettersAnswer(letters=dropped, dry_run=False))

    def _letter(self, req: falcon.Request, letter_id: str) -> DeadLetterRow:
        scope = caller_of(req).scope
        letter = self._letters.get(found, scope) if (found := id_of(letter_id)) is not None else None
        if letter is None:
            raise DeadLetterNotFound("no dead letter has this id")
        return letter


class ReplayResource:
    """`POST /api/dead-letters/replay`: the scheduler then replays them, so many a second."""

    operations: ClassVar[Mapping[str, Operation]] = {
        "POST": Operation(
            access=Access.ACT,
            summary="Ask for dead letters to be replayed, by id, by filter or all; or count them",
            requests={"application/json": (ReplayRequest,)},
            answers={200: (LettersAnswer,), 202: (LettersAnswer,)},
            refusals=(411, 413, 415, 422, 503),
        )
    }

    def __init__(self, letters: DeadLetters, settings: Settings) -> None:
        self._letters = letters
        self._rules = rules_of(settings)

    def on_post(self, req: falcon.Request, resp: falcon.Response) -> None:
        request = validated(ReplayRequest, read_json(req, _BODY_MAX_BYTES), self._rules)
        chosen = replace(request.chosen(), within=caller_of(req).scope)
        name_target(req, {**chosen.named(), "dry_run": request.dry_run})
        if chosen.ids is not None:
            refuse_unknown(chosen.ids, self._letters.known(chosen.ids, chosen.within), "dead letter")
        count = self._letters.count_replayable(chosen)
        if request.dry_run:
            reply(resp, LettersAnswer(letters=count, dry_run=True))
        elif count > max(UNCONFIRMED_MAX, request.confirm or 0):
            raise confirmation_required(count)
        else:
            reply(resp, LettersAnswer(letters=self._letters.ask_replay(chosen), dry_run=False), status=202)
