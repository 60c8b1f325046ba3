"""`fairlane simulate --live`: every real-time bound is measured and printed. What the numbers are is for the command to
say: no test depends on how fast a machine is.
"""

import json
import math
from functools import partial

import pytest

from pipeline.cli import run
from pipeline.queue import Rules
from pipeline.queue.connection import connect
from pipeline.simulation.live import TINY, measure_live
from pipeline.simulation.live.bare import FORMS, Bench
from pipeline.simulation.live.killed import GRACE_S
from pipeline.simulation.live.statistics import ServerStatistics
from pipeline.simulation.server import ScriptedQueue, private_valkey

QUANTITIES = {
    "commands per claim",
    "commands per claim, several sites",
    "growth with devices",
    "enqueue, one Redis core",
    "claim+complete, one Redis core",
    "submit -> start with an idle worker, p50",
    "submit -> start with an idle worker, p99",
    "freed slot -> next task started, p50",
    "killed worker -> its task runs again, p99",
}


def test_each_bound_is_measured_with_real_workers_and_a_killed_one() -> None:
    with private_valkey() as url:
        outcomes = list(measure_live(url, TINY, "fair"))

    bounds = [bound for outcome in outcomes for bound in outcome.bounds]
    assert {bound.quantity for bound in bounds} == QUANTITIES
    assert all(math.isfinite(bound.measured) and bound.measured >= 0 for bound in bounds)
    killed = next(outcome for outcome in outcomes if outcome.name == "live killed worker")
    assert killed.samples == 4
    assert killed.bounds[0].measured < TINY.lease_s + GRACE_S, "a task did not run again at all"


def test_live_rows_are_printed_and_decide_the_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("pipeline.cli.simulate.Plan", lambda: TINY)

    code = run(["simulate", "--live", "-o", "json"])

    outcomes = json.loads(capsys.readouterr().out)
    assert {bound["quantity"] for outcome in outcomes for bound in outcome["bounds"]} == QUANTITIES
    assert {outcome["backend"] for outcome in outcomes} == {"live"}
    assert code == (0 if all(outcome["is_kept"] for outcome in outcomes) else 1)


def test_a_name_and_live_contradict_each_other() -> None:
    assert run(["simulate", "flood_closed", "--live"]) == 2


def test_a_recording_holds_what_scripts_carry_out_with_every_argument_as_it_was() -> None:
    with private_valkey() as url, connect(url) as client:
        odd = b'a "b" \\ \x00\xff\n'
        script = "redis.call('SET', KEYS[1], ARGV[1]); redis.call('APPEND', KEYS[1], ''); return 1"
        with ServerStatistics(client).recording() as recorded:
            client.set("outside", "not recorded")
            for _ in range(2):
                client.eval(script, 1, "key", odd)

    assert recorded == [[[b"SET", b"key", odd], [b"APPEND", b"key", b""]]] * 2


def test_commands_are_counted_without_those_that_measure() -> None:
    with private_valkey() as url, connect(url) as client:
        call = partial(client.eval, "redis.call('SET', KEYS[1], '1'); return redis.call('GET', KEYS[1])", 1, "key")

        counted = ServerStatistics(client).commands_of(call)

    assert counted == {"set": 1, "get": 1}


def test_the_bare_commands_leave_what_the_scripts_leave() -> None:
    left = []
    with private_valkey() as url:
        queue = ScriptedQueue(url, Rules(max_total=10**9), None)
        bench = Bench(queue, 5)
        recorded = bench.record()
        for form in FORMS:
            bench.take_turn(form, recorded)
            seats = queue.server.zrange(queue.keys.schedule("text", "local"), 0, -1)
            states = [queue.server.hget(queue.keys.task(f"first{number}"), "state") for number in range(5)]
            left.append((sorted(queue.server.keys()), sorted(seats), states))

    assert left[0] == left[1] == left[2]
    assert left[0][2] == [b"done"] * 5
