"""Retention: what is old enough goes, what may still be needed stays, also its image; images of no task go too."""

import pytest

from models.base import Database
from models.dead_letter_rows import DeadLetter
from models.ledger import Ledger
from models.reports import DetectorReport, DetectorReports, NewReport
from models.results import Detection, OcrResult
from models.retention import Retention
from models.statistics import Period, Statistics
from models.tasks import Task, TaskStep
from models.totals import Totals
from pipeline.clock import SystemClock
from pipeline.scheduler.images import ImageAges, Images
from pipeline.scheduler.retention import DAY_MS, Ages, retain
from pipeline.scheduler.tally import tally
from pipeline.storage import ObjectStore, audit_key, image_key
from tests.support.clock import FakeClock
from tests.support.records import finished, new_task

KEPT = Ages(results=30, reports=30, dead_letters=90)


class Archive:
    """A ledger and a store that grow old."""

    def __init__(self, database: Database, store: ObjectStore) -> None:
        # The store has the clock of the machine.
        self.clock, self.database = FakeClock(SystemClock().now_ms()), database
        self.ledger, self.store, self.retention = Ledger(database, self.clock), store, Retention(database)
        self.statistics = Statistics(database, 0)
        self.images = self.walker(ImageAges(images=30, audit=60, orphans=7))

    def walker(self, ages: ImageAges) -> Images:
        return Images(self.store, self.retention.endings, self.clock, ages)

    def accept(self, task_id: str) -> str:
        """Store an image and accept its task; return the key."""
        now_ms = self.clock.now_ms()
        key = image_key(task_id, now_ms)
        self.store.put(key, b"picture")
        self.ledger.accept(new_task(task_id, created_ms=now_ms, payload={"object": key, "words": []}))
        return key

    def end(self, task_id: str, *, is_dead: bool = False) -> str:
        key = self.accept(task_id)
        self.ledger.start(task_id, 1, 1)
        if is_dead:
            self.ledger.end(task_id, 1, "dead", "worker_crash", "it crashed")
        else:
            self.ledger.finish(task_id, 1, finished())
        return key

    def retain(self, ages: Ages = KEPT) -> None:
        tally(self.statistics, Totals(self.database))
        retain(self.retention, self.clock, ages)

    def pass_days(self, days: float) -> None:
        self.clock.advance(round(days * DAY_MS))

    def tasks(self) -> set[str]:
        return {task.task_id for task in Task.select()}


@pytest.fixture
def archive(database: Database, store: ObjectStore) -> Archive:
    return Archive(database, store)


@pytest.mark.feature("R7")
def test_a_task_goes_with_its_results_once_it_is_old_and_an_open_one_never(archive: Archive) -> None:
    archive.end("old")
    archive.accept("open")
    archive.pass_days(1)
    archive.end("young")
    archive.pass_days(29.5)

    archive.retain()

    assert archive.tasks() == {"open", "young"}
    for table in (OcrResult, Detection, TaskStep):
        assert "old" not in {row.task_id for row in table.select()}


@pytest.mark.feature("R7")
def test_a_task_stays_for_as_long_as_its_dead_letter(archive: Archive) -> None:
    archive.end("dead", is_dead=True)
    archive.pass_days(60)
    archive.retain()
    assert archive.tasks() == {"dead"}

    archive.pass_days(31)
    archive.retain()

    assert archive.tasks() == set()
    assert not DeadLetter.select().exists()


@pytest.mark.feature("R7")
def test_what_is_not_counted_yet_is_not_deleted(archive: Archive) -> None:
    archive.end("old")
    archive.pass_days(31)

    retain(archive.retention, archive.clock, KEPT)
    assert archive.tasks() == {"old"}
    archive.retain()

    assert archive.tasks() == set()
    assert [count.tasks for count in archive.statistics.counts(_all_days(archive), (), limit=1)] == [1]


@pytest.mark.feature("R7")
def test_reports_of_devices_go_by_age(archive: Archive, database: Database) -> None:
    reports = DetectorReports(database, archive.clock)
    reports.store(report("old"))
    archive.pass_days(31)
    reports.store(report("young"))

    archive.retain()

    assert [report.detection_id for report in DetectorReport.select()] == ["young"]


@pytest.mark.feature("R7")
def test_an_age_of_nothing_keeps_everything_for_ever(archive: Archive) -> None:
    key = archive.end("a")
    archive.pass_days(10_000)

    archive.retain(Ages(0, 0, 0))
    archive.walker(ImageAges(0, 0, 0)).run()

    assert archive.tasks() == {"a"}
    assert archive.store.exists(key)


@pytest.mark.feature("R7")
def test_images_go_by_age_but_not_those_that_a_task_may_still_need(archive: Archive) -> None:
    done, dead, waiting = archive.end("done"), archive.end("dead", is_dead=True), archive.accept("open")
    archive.pass_days(29)
    archive.images.run()
    assert archive.store.exists(done)

    archive.pass_days(2)
    archive.images.run()

    assert [archive.store.exists(key) for key in (done, dead, waiting)] == [False, True, True]


@pytest.mark.feature("R1")
def test_an_image_that_belongs_to_no_task_goes_after_a_week(archive: Archive) -> None:
    key = image_key("lost", archive.clock.now_ms())
    archive.store.put(key, b"a crash came before the row")
    archive.pass_days(6)
    archive.images.run()
    assert archive.store.exists(key)

    archive.pass_days(2)
    archive.images.run()

    assert not archive.store.exists(key)


@pytest.mark.feature("R7")
def test_the_copy_of_an_image_with_hits_has_an_age_of_its_own(archive: Archive) -> None:
    key = audit_key("gone", archive.clock.now_ms())
    archive.store.put(key, b"kept as proof")
    archive.pass_days(59)
    archive.images.run()
    assert archive.store.exists(key)

    archive.pass_days(2)
    archive.images.run()

    assert not archive.store.exists(key)


def test_a_walk_goes_on_where_the_last_round_stopped(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.scheduler.images._PAGES_A_ROUND", 1)
    monkeypatch.setattr("pipeline.storage._PAGE", 2)
    keys = [image_key(f"lost{number}", archive.clock.now_ms()) for number in range(5)]
    for key in keys:
        archive.store.put(key, b"x")
    archive.pass_days(8)

    left = []
    for _ in range(3):
        archive.images.run()
        left.append(sum(archive.store.exists(key) for key in keys))

    assert left == [3, 1, 0]


def report(detection_id: str) -> NewReport:
    return NewReport("local", "aabbccddeeff", detection_id, "", "", "", None, [], None)


def _all_days(archive: Archive) -> Period:
    return Period(0, archive.statistics.day_of(archive.clock.now_ms()))
