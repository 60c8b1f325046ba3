"""The audit: written before the deed, completed after it."""

import pytest

from models.audit import AuditTrail, Deed
from models.base import Database
from tests.support.clock import FakeClock


@pytest.fixture
def trail(database: Database, clock: FakeClock) -> AuditTrail:
    return AuditTrail(database, clock)


def test_a_deed_is_recorded_before_it_has_an_outcome(trail: AuditTrail, clock: FakeClock) -> None:
    line_id = trail.begin(Deed("key:a", "north", "DELETE /x", "/x\x00\ud800"))
    (line,) = trail.page(site=None, before=None, limit=9)
    assert (line.id, line.at_ms, line.actor, line.site, line.outcome) == (
        line_id,
        clock.now_ms(),
        "key:a",
        "north",
        "",
    )
    assert line.target == "/x\ufffd\ufffd"
    trail.end(line_id, "200", more='{"mac": "x"}')
    (line,) = trail.page(site=None, before=None, limit=9)
    assert (line.outcome, line.target) == ("200", '/x\ufffd\ufffd {"mac": "x"}')


def test_the_outcome_of_a_line_that_is_gone_is_nobodys_fault(trail: AuditTrail) -> None:
    trail.end(7, "200")
    assert trail.page(site=None, before=None, limit=9) == []


def test_a_target_is_kept_to_a_bounded_length(trail: AuditTrail) -> None:
    line_id = trail.begin(Deed("a" * 500, None, "x" * 500, "y" * 100_000))
    trail.end(line_id, "1" * 50, more="z" * 100_000)
    (line,) = trail.page(site=None, before=None, limit=9)
    assert (len(line.actor), len(line.action), len(line.target), len(line.outcome)) == (128, 64, 2_000, 16)


def test_a_site_sees_what_was_done_to_it(trail: AuditTrail) -> None:
    for site in ("north", "south", None, "north"):
        trail.begin(Deed("key:a", site, "x"))
    assert len(trail.page(site="north", before=None, limit=9)) == 2
    newest, *_ = everything = trail.page(site=None, before=None, limit=9)
    assert [line.id for line in everything] == sorted((line.id for line in everything), reverse=True)
    assert len(trail.page(site=None, before=newest.id, limit=2)) == 2
