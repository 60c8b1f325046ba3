"""A host whose processor somebody else wants: it rests, the other host takes all, and it comes back by itself."""

import json

import pytest

from pipeline.cli import run
from pipeline.settings import environment_of
from pipeline.workers.sampler import CPU_OVER
from tests.hosts.conftest import Fleet
from tests.support.hosts import burning
from tests.support.processes import wait_until

MARKS = {"worker_cpu_high_watermark": 75, "worker_cpu_low_watermark": 60}


@pytest.mark.hosts
@pytest.mark.feature("S4")
@pytest.mark.feature("M1")
@pytest.mark.timeout(400)
@pytest.mark.parametrize("fleet", [MARKS], indirect=True)
def test_host_under_foreign_load_claims_nothing_and_resumes_when_it_ends(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in environment_of(fleet.settings).items():
        monkeypatch.setenv(name, value)
    wait_until(lambda: fleet.workers()["b"].state == "working", 120)

    with burning(fleet.hosts["a"].cpu):
        wait_until(lambda: fleet.workers()["a"].holds == [CPU_OVER], 60)
        during = fleet.submit_many(20, b"take a fifth")
        wait_until(lambda: fleet.are_done(during), 120)
        wait_until(lambda: lane_of(fleet).get("held_hosts") == ["a"])
        assert run(["worker", "list", "-o", "json"]) == 0
        assert fleet.ended_by("b") == set(during)

    listed = {worker["hostname"]: worker for worker in json.loads(capsys.readouterr().out)}
    assert (listed["a"]["state"], listed["a"]["holds"]) == ("held", [CPU_OVER])
    assert (listed["b"]["state"], listed["b"]["effective_concurrency"]) == ("working", 1)
    wait_until(lambda: fleet.workers()["a"].state == "working", 120)
    after = fleet.submit_many(20, b"take a fifth")
    wait_until(lambda: fleet.are_done(after), 120)
    assert fleet.ended_by("a"), "the calm host does nothing"
    assert fleet.ended_by("a") | fleet.ended_by("b") == {*during, *after}
    assert {fleet.attempts_of(task_id) for task_id in [*during, *after]} == {1}
    fleet.assert_books_balance()


def lane_of(fleet: Fleet) -> dict[str, object]:
    """What the last snapshot says of the lane."""
    return dict((fleet.inspector.watermark() or {}).get("lanes", {}).get("ocr", {}))
