"""A device reports what it detected itself."""

from collections.abc import Mapping
from typing import ClassVar

import falcon

from models.reports import DetectorReports, NewReport
from pipeline.intake import rules_of
from pipeline.mac import normalize_mac
from pipeline.settings import Settings
from web.access import Access
from web.answers import ReportAnswer
from web.bodies import read_json
from web.caller import caller_of
from web.operations import Operation
from web.replies import reply
from web.schemas import Report, validated

_BODY_MAX_BYTES = 4_000_000


class ReportsResource:
    """`POST /api/decter`: the spelling of the system that fairlane replaces."""

    operations: ClassVar[Mapping[str, Operation]] = {
        "POST": Operation(
            access=Access.SUBMIT,
            summary="Report a detection that a device made itself",
            requests={"application/json": (Report,)},
            answers={200: (ReportAnswer,), 201: (ReportAnswer,)},
            refusals=(411, 413, 415, 422, 503),
        )
    }

    def __init__(self, reports: DetectorReports, settings: Settings) -> None:
        self._reports = reports
        self._rules = rules_of(settings)

    def on_post(self, req: falcon.Request, resp: falcon.Response) -> None:
        report = validated(Report, read_json(req, _BODY_MAX_BYTES), self._rules)
        mac = normalize_mac(report.mac)
        is_new = self._reports.store(
            NewReport(
                site=caller_of(req).site_for(mac),
                mac=mac,
                detection_id=report.detection_id,
                type=report.type,
                label=report.label,
                text=report.text,
                score=report.score,
                words=tuple(report.words),
                occurred_ms=report.occurred_ms,
            )
        )
        answer = ReportAnswer(mac=mac, detection_id=report.detection_id, is_new=is_new)
        reply(resp, answer, status=201 if is_new else 200)
