"""The HTTP interface: routes, and what surrounds them."""

import falcon

from models.audit import AuditTrail
from models.dead_letters import DeadLetters
from models.deliveries import Deliveries
from models.keys import ApiKeys
from models.ledger import Ledger
from models.reports import DetectorReports
from models.statistics import Statistics
from models.task_lists import TaskLists
from pipeline.clock import Clock
from pipeline.intake import Intake
from pipeline.lists.following import FollowedLists
from pipeline.lists.library import Library
from pipeline.queue import FairQueue, Inspector, RequestLimits, Roster
from pipeline.settings import Settings
from pipeline.storage import ObjectStore
from web.auditing import Auditing
from web.counting import RequestCounting
from web.identity import Identity
from web.keyring import KeyRing
from web.measured import Measured
from web.middleware import RequestLog, handle_error
from web.openapi import document
from web.operations import KnownParameters, Resource
from web.resources.audit import AuditResource
from web.resources.dead_letters import DeadLetterResource, DeadLettersResource, ReplayResource
from web.resources.deliveries import DeliveriesResource, DeliveryReplayResource, DeliveryResource
from web.resources.description import OpenApiResource
from web.resources.health import LivezResource, ReadyzResource
from web.resources.images import ImagesResource
from web.resources.metrics import MetricsResource
from web.resources.queue import LanesResource, WorkersResource
from web.resources.reports import ReportsResource
from web.resources.statistics import StatisticsResource
from web.resources.task_list import TaskListResource
from web.resources.tasks import TaskResource
from web.resources.texts import TextsResource
from web.resources.watermark import ScaleResource, WatermarkResource
from web.resources.word_lists import (
    PublishWordsResource,
    RollbackWordsResource,
    WordListResource,
    WordListsResource,
    WordVersionResource,
)
from web.resources.words import TryWordsResource
from web.router import HeadRouter

App = falcon.App[falcon.Request, falcon.Response]


def create_app(
    settings: Settings,
    *,
    intake: Intake,
    queue: FairQueue,
    inspector: Inspector,
    roster: Roster,
    ledger: Ledger,
    tasks: TaskLists,
    reports: DetectorReports,
    dead_letters: DeadLetters,
    deliveries: Deliveries,
    store: ObjectStore,
    library: Library,
    lists: FollowedLists,
    keys: ApiKeys,
    trail: AuditTrail,
    limits: RequestLimits,
    statistics: Statistics,
    measured: Measured,
    clock: Clock,
) -> App:
    """Return the WSGI application."""
    description = OpenApiResource()
    routes: list[tuple[str, Resource]] = [
        ("/api/ocr/image", ImagesResource(intake, settings)),
        ("/api/ocr/text", TextsResource(intake, settings)),
        ("/api/ocr/tasks", TaskListResource(tasks)),
        ("/api/ocr/tasks/{task_id}", TaskResource(queue, inspector, roster, ledger, clock, settings)),
        ("/api/decter", ReportsResource(reports, settings)),
        ("/api/dead-letters", DeadLettersResource(dead_letters, settings)),
        ("/api/dead-letters/replay", ReplayResource(dead_letters, settings)),
        ("/api/dead-letters/{letter_id}", DeadLetterResource(dead_letters)),
        *_routes_of(deliveries, settings),
        *_house_of(measured, inspector, roster, ledger, store),
        ("/api/queue", LanesResource(inspector)),
        ("/api/workers", WorkersResource(roster, clock)),
        ("/api/words", WordListsResource(library, settings)),
        ("/api/words/try", TryWordsResource(lists, clock, settings)),
        ("/api/words/{list_id}", WordListResource(library)),
        ("/api/words/{list_id}/versions/{version}", WordVersionResource(library)),
        ("/api/words/{list_id}/publish", PublishWordsResource(library, settings)),
        ("/api/words/{list_id}/rollback", RollbackWordsResource(library, settings)),
        ("/api/audit", AuditResource(trail)),
        ("/api/stats", StatisticsResource(statistics, clock)),
        ("/openapi.json", description),
    ]
    description.describe(document(routes))
    app: App = falcon.App(router=HeadRouter())
    app.add_middleware(RequestLog(clock))
    app.add_middleware(RequestCounting(measured.counters, clock))
    app.add_middleware(Identity(KeyRing(keys, clock), limits, clock, settings))
    app.add_middleware(KnownParameters())
    app.add_middleware(Auditing(trail))
    app.add_error_handler(Exception, handle_error)
    app.add_error_handler(falcon.HTTPError, handle_error)
    for path, resource in routes:
        app.add_route(path, resource)
    return app


def _house_of(
    measured: Measured, inspector: Inspector, roster: Roster, ledger: Ledger, store: ObjectStore
) -> list[tuple[str, Resource]]:
    return [
        ("/api/watermark", WatermarkResource(inspector)),
        ("/api/scale", ScaleResource(inspector)),
        ("/metrics", MetricsResource(measured.gathering)),
        ("/livez", LivezResource()),
        ("/readyz", ReadyzResource(inspector, roster, ledger, store)),
    ]


def _routes_of(deliveries: Deliveries, settings: Settings) -> list[tuple[str, Resource]]:
    return [
        ("/api/deliveries", DeliveriesResource(deliveries, settings)),
        ("/api/deliveries/replay", DeliveryReplayResource(deliveries, settings)),
        ("/api/deliveries/{delivery_id}", DeliveryResource(deliveries)),
    ]
