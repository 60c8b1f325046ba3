"""Reports of devices: stored at once, each once."""

from dataclasses import replace

import pytest

from models.base import Database
from models.devices import Device
from models.reports import DetectorReport, DetectorReports, NewReport
from models.sites import Site
from tests.support.clock import FakeClock
from tests.support.records import everything

REPORT = NewReport("local", "aabbccddeeff", "d-1", "ocr", "chat", "a\x00b", 0.75, ("one", "two"), 1_760_000_000_000)


@pytest.mark.feature("R5")
def test_a_report_is_kept_as_it_came_and_its_device_with_it(database: Database, clock: FakeClock) -> None:
    assert DetectorReports(database, clock).store(REPORT)

    kept = DetectorReport.get()
    assert (kept.site, kept.mac, kept.detection_id) == ("local", "aabbccddeeff", "d-1")
    assert (kept.type, kept.label, kept.text, kept.score) == ("ocr", "chat", "a\ufffdb", 0.75)
    assert (kept.words, kept.occurred_ms) == (["one", "two"], 1_760_000_000_000)
    assert kept.created_ms == clock.now_ms()
    assert Device.get().mac == "aabbccddeeff"


@pytest.mark.feature("R5")
def test_a_report_that_comes_again_changes_nothing(database: Database, clock: FakeClock) -> None:
    reports = DetectorReports(database, clock)
    reports.store(REPORT)
    before = everything()

    assert not reports.store(replace(REPORT, text="something else"))

    assert everything() == before


@pytest.mark.feature("R5")
def test_each_device_has_its_own_detection_ids(database: Database, clock: FakeClock) -> None:
    reports = DetectorReports(database, clock)
    Site.insert(site="north", created_ms=1).returning(Site.site).execute()

    assert reports.store(REPORT)
    assert reports.store(replace(REPORT, mac="112233445566"))
    assert reports.store(replace(REPORT, site="north"))
    assert reports.store(replace(REPORT, detection_id="d-2"))
