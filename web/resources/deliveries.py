"""Deliveries of announcements: listed, shown, made again."""

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar
from urllib.parse import urlencode

import falcon

from models.deliveries import Deliveries
from pipeline.errors import DeliveryNotFound
from pipeline.intake import rules_of
from pipeline.settings import Settings
from web.access import Access
from web.auditing import name_target
from web.bodies import read_json
from web.caller import caller_of
from web.deliveries import (
    FILTERS,
    DeliveredAgainAnswer,
    DeliveriesAnswer,
    DeliveryAnswer,
    DeliveryReplayRequest,
    FullDeliveryAnswer,
    chosen_by_query,
    fields_of,
)
from web.errors import invalid_parameter
from web.filters import page_before, refuse_unknown
from web.operations import Operation, Parameter
from web.parameters import id_of, whole_number
from web.replies import reply
from web.schemas import validated

PATH = "/api/deliveries"
_PAGE = 50
_PAGE_MAX = 200
_BODY_MAX_BYTES = 100_000


class DeliveriesResource:
    """`/api/deliveries`."""

    operations: ClassVar[Mapping[str, Operation]] = {
        "GET": Operation(
            access=Access.READ,
            summary="Deliveries of announcements, newest first",
            parameters=(
                *FILTERS,
                Parameter("before", "only those with a smaller id: where the next page begins", {"type": "integer"}),
                Parameter("limit", "deliveries of one page", {"type": "integer", "minimum": 1, "maximum": _PAGE_MAX}),
            ),
            answers={200: (DeliveriesAnswer,)},
            refusals=(503,),
        )
    }

    def __init__(self, deliveries: Deliveries, settings: Settings) -> None:
        self._deliveries = deliveries
        self._rules = rules_of(settings)

    def on_get(self, req: falcon.Request, resp: falcon.Response) -> None:
        chosen = replace(chosen_by_query(req, self._rules), within=caller_of(req).scope)
        limit = whole_number(req, "limit", default=_PAGE)
        if not 1 <= limit <= _PAGE_MAX:
            raise invalid_parameter("limit", f"must be 1 to {_PAGE_MAX}")
        # One more than asked for, to know whether there is a next page.
        found = self._deliveries.page(chosen, before=page_before(req, "a delivery"), limit=limit + 1)
        page = found[:limit]
        further = {**chosen.named(), "limit": limit, "before": page[-1].id} if len(found) > limit else None
        answers = [DeliveryAnswer(**fields_of(delivery)) for delivery in page]
        reply(resp, DeliveriesAnswer(deliveries=answers, next=f"{PATH}?{urlencode(further)}" if further else None))


class DeliveryResource:
    """`/api/deliveries/{delivery_id}`."""

    operations: ClassVar[Mapping[str, Operation]] = {
        "GET": Operation(
            access=Access.READ,
            summary="One delivery, in full",
            answers={200: (FullDeliveryAnswer,)},
            refusals=(404, 503),
        )
    }

    def __init__(self, deliveries: Deliveries) -> None:
        self._deliveries = deliveries

    def on_get(self, req: falcon.Request, resp: falcon.Response, delivery_id: str) -> None:
        scope = caller_of(req).scope
        delivery = self._deliveries.get(found, scope) if (found := id_of(delivery_id)) is not None else None
        if delivery is None:
            raise DeliveryNotFound("no delivery has this id")
        reply(resp, FullDeliveryAnswer(**fields_of(delivery)))


class DeliveryReplayResource:
    """`POST /api/deliveries/replay`."""

    operations: ClassVar[Mapping[str, Operation]] = {
        "POST": Operation(
            access=Access.ACT,
            summary="Make deliveries again, by id, by filter or all that failed; or count them",
            requests={"application/json": (DeliveryReplayRequest,)},
            answers={200: (DeliveredAgainAnswer,), 202: (DeliveredAgainAnswer,)},
            refusals=(411, 413, 415, 422, 503),
        )
    }

    def __init__(self, deliveries: Deliveries, settings: Settings) -> None:
        self._deliveries = deliveries
        self._rules = rules_of(settings)

    def on_post(self, req: falcon.Request, resp: falcon.Response) -> None:
        request = validated(DeliveryReplayRequest, read_json(req, _BODY_MAX_BYTES), self._rules)
        chosen = replace(request.chosen(), within=caller_of(req).scope)
        name_target(req, {**chosen.named(), "dry_run": request.dry_run})
        if chosen.ids is not None:
            refuse_unknown(chosen.ids, self._deliveries.known(chosen.ids, chosen.within), "delivery")
        if request.dry_run:
            count = self._deliveries.count_replayable(chosen)
            reply(resp, DeliveredAgainAnswer(deliveries=count, dry_run=True))
        else:
            reply(resp, DeliveredAgainAnswer(deliveries=self._deliveries.replay(chosen), dry_run=False), status=202)
