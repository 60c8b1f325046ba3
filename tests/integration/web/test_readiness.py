"""`/readyz` is red when nothing is consumed though tasks wait, and never while there is a reason that is stated."""

import pytest

from pipeline.queue.types import DeviceRules
from pipeline.submission import TextSubmission
from tests.support.service import MAC, on_sqlite

WORKER = {"hostname": "h", "pid": "1", "queues": "text", "state": "working", "effective_concurrency": "2"}


def ready(service):
    """None, or why it is not."""
    result = service.http().simulate_get("/readyz")
    return None if result.status_code == 200 else [error["detail"] for error in result.json["errors"]]


@pytest.fixture
def waiting(service):
    """A service in which a task waits, beside a worker that is alive and claims nothing."""
    service.roster.enter("h:1", WORKER, ttl_ms=600_000)
    service.intake().submit_text(TextSubmission(mac=MAC, text="x"))
    return service


@pytest.mark.feature("H5")
def test_it_is_red_within_a_minute_when_a_live_worker_claims_nothing(waiting):
    assert ready(waiting) is None
    waiting.clock.advance(29_000)
    assert ready(waiting) is None
    waiting.clock.advance(2_000)

    assert ready(waiting) == ["tasks wait in lane text, of which no live worker has claimed any for 31 s"]
    (claim,) = waiting.queue.claim("text")
    assert ready(waiting) is None
    waiting.queue.complete(claim.task_id, claim.token, cost_ms=1)


@pytest.mark.feature("H5")
@on_sqlite
def test_it_is_red_at_the_first_look_of_a_new_process_when_others_have_seen_it(waiting):
    waiting.standstill.look()  # the scheduler, say
    waiting.clock.advance(40_000)

    assert ready(waiting) is not None


@pytest.mark.feature("H5")
@on_sqlite
def test_it_is_not_red_while_all_devices_are_paused(waiting):
    waiting.queue.set_device(MAC, DeviceRules(is_paused=True))
    assert ready(waiting) is None
    waiting.clock.advance(300_000)

    assert ready(waiting) is None
    waiting.queue.set_device(MAC, DeviceRules())
    assert ready(waiting) is None, "it may be served only now"


@pytest.mark.feature("H5")
@on_sqlite
def test_it_is_not_red_while_all_devices_are_in_a_backoff(waiting):
    (claim,) = waiting.queue.claim("text")
    waiting.queue.start(claim.task_id, claim.token)
    waiting.queue.defer(claim.task_id, claim.token, code="no_capable_worker")
    waiting.intake().submit_text(TextSubmission(mac=MAC, text="y"))
    assert ready(waiting) is None
    waiting.clock.advance(300_000)

    assert ready(waiting) is None


@pytest.mark.feature("H5")
@on_sqlite
@pytest.mark.parametrize(
    "told", [{"state": "held", "holds": "CPU over its watermark"}, {"holds": "text: memory over its watermark"}]
)
def test_it_is_not_red_while_the_only_host_is_over_a_watermark_and_says_so(waiting, told):
    waiting.roster.enter("h:1", {**WORKER, **told}, ttl_ms=600_000)
    assert ready(waiting) is None
    waiting.clock.advance(300_000)

    assert ready(waiting) is None


@pytest.mark.feature("H5")
@on_sqlite
def test_it_is_not_red_while_slots_are_busy_with_long_work(waiting):
    waiting.intake().submit_text(TextSubmission(mac=MAC, text="y"))
    waiting.queue.claim("text")
    assert ready(waiting) is None
    waiting.clock.advance(600_000)

    assert ready(waiting) is None


@on_sqlite
def test_announcements_that_wait_do_not_make_it_red(service):
    assert ready(service) is None
