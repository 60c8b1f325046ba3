"""Every address of the HTTP interface, and what answers there."""

from web.operations import Resource
from web.parts import Parts
from web.resources.alarms import AlarmsResource
from web.resources.audit import AuditResource
from web.resources.dead_letters import DeadLetterResource, DeadLettersResource, ReplayResource
from web.resources.deliveries import DeliveriesResource, DeliveryReplayResource, DeliveryResource
from web.resources.devices import DeviceResource, DevicesResource
from web.resources.health import LivezResource, ReadyzResource
from web.resources.history import HistoryResource
from web.resources.images import ImagesResource
from web.resources.me import MeResource
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

Routes = list[tuple[str, Resource]]


def routes_of(parts: Parts) -> Routes:
    """The operations that the description tells of."""
    return [*_task_routes(parts), *_letter_routes(parts), *_house_routes(parts), *_word_routes(parts)]


def _task_routes(parts: Parts) -> Routes:
    task = TaskResource(parts.queue, parts.inspector, parts.roster, parts.ledger, parts.clock, parts.settings)
    return [
        ("/api/ocr/image", ImagesResource(parts.intake, parts.settings)),
        ("/api/ocr/text", TextsResource(parts.intake, parts.settings)),
        ("/api/ocr/tasks", TaskListResource(parts.tasks)),
        ("/api/ocr/tasks/{task_id}", task),
        ("/api/decter", ReportsResource(parts.reports, parts.settings)),
    ]


def _letter_routes(parts: Parts) -> Routes:
    letters, deliveries, settings = parts.dead_letters, parts.deliveries, parts.settings
    return [
        ("/api/dead-letters", DeadLettersResource(letters, settings)),
        ("/api/dead-letters/replay", ReplayResource(letters, settings)),
        ("/api/dead-letters/{letter_id}", DeadLetterResource(letters)),
        ("/api/deliveries", DeliveriesResource(deliveries, settings)),
        ("/api/deliveries/replay", DeliveryReplayResource(deliveries, settings)),
        ("/api/deliveries/{delivery_id}", DeliveryResource(deliveries)),
    ]


def _house_routes(parts: Parts) -> Routes:
    return [
        ("/api/alarms", AlarmsResource(parts)),
        ("/api/me", MeResource()),
        ("/api/devices", DevicesResource(parts.devices)),
        ("/api/devices/{mac}", DeviceResource(parts.devices, parts.settings)),
        ("/api/queue", LanesResource(parts.inspector)),
        ("/api/workers", WorkersResource(parts.roster, parts.clock)),
        ("/api/watermark", WatermarkResource(parts.inspector)),
        ("/api/scale", ScaleResource(parts.inspector)),
        ("/api/audit", AuditResource(parts.trail)),
        ("/api/stats", StatisticsResource(parts.statistics, parts.clock)),
        ("/api/history", HistoryResource(parts.measured.history)),
        ("/metrics", MetricsResource(parts.measured.gathering)),
        ("/livez", LivezResource()),
        (
            "/readyz",
            ReadyzResource(parts.inspector, parts.roster, parts.measured.standstill, parts.ledger, parts.store),
        ),
    ]


def _word_routes(parts: Parts) -> Routes:
    library, settings = parts.library, parts.settings
    return [
        ("/api/words", WordListsResource(library, settings)),
        ("/api/words/try", TryWordsResource(parts.lists, parts.clock, settings)),
        ("/api/words/{list_id}", WordListResource(library)),
        ("/api/words/{list_id}/versions/{version}", WordVersionResource(library)),
        ("/api/words/{list_id}/publish", PublishWordsResource(library, settings)),
        ("/api/words/{list_id}/rollback", RollbackWordsResource(library, settings)),
    ]
