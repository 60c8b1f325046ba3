"""Scripts on a server: known as functions where it allows that, and doing the same where it does not."""

import logging
from collections.abc import Iterator
from typing import Any

import pytest
import redis

from pipeline.errors import QueueUnavailable
from pipeline.queue import FairQueue, Inspector, Rules, Standing, Task
from pipeline.queue.scripts import _loaded

TASK = Task("t", "text", "aa0000000001", 0)


@pytest.fixture
def bare(valkey: redis.Redis) -> redis.Redis:
    """A server that knows no function and no script."""
    valkey.function_flush()
    valkey.script_flush()
    return valkey


@pytest.fixture
def restricted(bare: redis.Redis, valkey_url: str) -> Iterator[redis.Redis]:
    """A user who may run scripts and neither define nor call functions."""
    bare.execute_command("ACL SETUSER restricted on nopass ~* +@all -function -fcall -fcall_ro")
    with redis.Redis.from_url(valkey_url, username="restricted", password="any") as client:
        yield client
    bare.execute_command("ACL DELUSER restricted")


def serve(queue: FairQueue) -> None:
    (claim,) = queue.claim("text")
    assert queue.start(claim.task_id, claim.token).attempt == 1
    queue.complete(claim.task_id, claim.token, cost_ms=1)


def counts(client: redis.Redis) -> dict[str, int]:
    return {name: stat["calls"] for name, stat in client.info("commandstats").items()}


def test_every_script_can_be_a_function(bare: redis.Redis) -> None:
    for script in _loaded():
        bare.function_load(script.library.decode())

    known = {library[1] for library in bare.function_list()}
    assert known == {script.function.encode() for script in _loaded()}


def test_a_function_is_defined_once_and_then_called(bare: redis.Redis) -> None:
    queue = FairQueue(bare, Rules())
    bare.config_resetstat()

    for number in range(5):
        queue.enqueue(Task(f"t{number}", "text", "aa0000000001", 0))

    stats = counts(bare)
    assert (stats["cmdstat_function|load"], stats["cmdstat_fcall"]) == (1, 6)
    assert not {"cmdstat_eval", "cmdstat_evalsha"} & set(stats)


def test_a_server_that_has_forgotten_its_functions_is_told_them_again(bare: redis.Redis) -> None:
    queue = FairQueue(bare, Rules())
    queue.enqueue(TASK)
    serve(queue)

    bare.function_flush()
    queue.restore([Standing(Task(f"t{number}", "text", "aa0000000001", 0)) for number in range(3)])

    serve(queue)


def test_a_user_who_may_not_use_functions_is_served_by_scripts(
    restricted: redis.Redis, caplog: pytest.LogCaptureFixture
) -> None:
    queue = FairQueue(restricted, Rules())

    with caplog.at_level(logging.WARNING):
        queue.enqueue(TASK)
        serve(queue)
        queue.restore([Standing(Task(f"t{number}", "text", "aa0000000001", 0)) for number in range(3)])

    assert all(books.balances for books in Inspector(restricted, Rules()).audit())
    assert [record.message for record in caplog.records].count(caplog.records[0].message) == 2  # queue, inspector
    assert "the server refuses functions" in caplog.text


def test_a_server_without_such_commands_is_served_by_scripts(
    bare: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = bare.execute_command

    def ask_of_old(*words: Any, **options: Any) -> Any:
        if words[0] in ("FCALL", "FUNCTION LOAD"):
            raise redis.ResponseError(f"unknown command '{words[0]}', with args beginning with: ")
        return ask(*words, **options)

    monkeypatch.setattr(bare, "execute_command", ask_of_old)
    queue = FairQueue(bare, Rules())

    queue.enqueue(TASK)

    serve(queue)


@pytest.mark.feature("Q7")
def test_a_full_server_that_knows_no_function_lets_work_end_and_takes_no_new(bare: redis.Redis) -> None:
    before = FairQueue(bare, Rules())
    before.enqueue(TASK)
    bare.function_flush()
    bare.config_set("maxmemory", 1)
    try:
        serve(FairQueue(bare, Rules()))
        with pytest.raises(QueueUnavailable, match="enqueue"):
            FairQueue(bare, Rules()).enqueue(Task("t2", "text", "aa0000000001", 0))
    finally:
        bare.config_set("maxmemory", 0)
