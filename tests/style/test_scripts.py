"""The Lua scripts keep their promises: headers, bounds, one method and one key name each."""

import re
from pathlib import Path

import pytest

from pipeline.queue import FairQueue, History, Roster
from pipeline.queue.keys import Keys
from pipeline.queue.request_limits import RequestLimits
from pipeline.queue.scripts import expand, read_header, script_paths

SCRIPTS = script_paths()
FRAGMENTS = sorted((SCRIPTS[0].parent / "lib").glob("*.lua"))
#: Scripts that only look: the inspector calls them.
READ_ONLY = {"audit", "explain", "look", "next_due", "survey", "weigh"}
#: Scripts that bring in work, which a server without memory must refuse.
BRINGING = {"enqueue", "replay", "restore"}
#: Everything that changes something has a method of its name in one of these.
CALLERS = (FairQueue, History, RequestLimits, Roster)

each_script = pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)


def body_of(path: Path) -> str:
    return path.read_text().split("]]", 1)[1]


@each_script
def test_every_declared_argument_is_used_and_every_used_one_is_declared(path: Path) -> None:
    used = {int(index) for index in re.findall(r"ARGV\[(\d+)\]", body_of(path))}

    assert used == set(range(1, len(read_header(path).args) + 1))


@each_script
def test_arguments_get_the_names_of_the_header(path: Path) -> None:
    body = body_of(path)

    assert [name for name in read_header(path).args if not re.search(rf"\b{name}\b", body)] == []


@each_script
def test_replies_are_the_words_of_the_header(path: Path) -> None:
    body = body_of(path)
    literal = set(re.findall(r"(?:return|reply =) \{'(\w+)'", body))
    declared = set(read_header(path).words)

    assert literal <= declared
    assert [word for word in declared - literal if f"'{word}'" not in expand(path)] == []


@pytest.mark.parametrize("path", [*SCRIPTS, *FRAGMENTS], ids=lambda path: path.stem)
def test_scripts_stay_short_and_never_scan_or_swallow(path: Path) -> None:
    text = path.read_text()

    assert len(text.splitlines()) <= 110
    assert not re.search(r"\bpcall\b|'(KEYS|SCAN|FLUSHALL|FLUSHDB)'", text)


@each_script
def test_the_commands_of_a_script_touch_only_keys_it_declares(path: Path) -> None:
    builders = dict(re.findall(r"local function (\w+_key)\(.*?PREFIX \.\. (.+?) end", fragment("keys")))
    declared = re.search(r"BUILDS\n(.*?)\n(?:RETURNS|COST)", path.read_text(), re.DOTALL)
    assert declared
    patterns = declared[1].split()
    for name in set(re.findall(r"\b(\w+_key)\(", body_of(path))) & set(builders):
        assert pattern_of(builders[name]) in patterns, name


def test_every_script_has_its_method() -> None:
    assert {path.stem for path in SCRIPTS} - READ_ONLY <= {name for caller in CALLERS for name in dir(caller)}


@each_script
def test_a_full_server_refuses_new_work_and_nothing_else(path: Path) -> None:
    flag = "no-writes" if path.stem in READ_ONLY else "allow-oom"

    assert read_header(path).flags == (() if path.stem in BRINGING else (flag,))


def test_lua_and_python_build_the_same_key_names() -> None:
    keys = Keys("p:")
    examples = {
        "line": keys.line("{mac}", "{lane}"),
        "meta": keys.meta("{mac}"),
        "schedule": keys.schedule("{lane}", "{site}"),
        "sites": keys.sites("{lane}"),
        "oldest": keys.oldest("{lane}"),
        "oldest_of": keys.oldest_of("{lane}", "{site}"),
        "lane": keys.lane("{lane}"),
        "wake": keys.wake("{lane}"),
        "bell": keys.bell(),
        "leases": keys.leases("{lane}"),
        "task": keys.task("{task_id}"),
        "delayed": keys.delayed(),
        "backoff": keys.backoff(),
        "expiry": keys.expiry(),
        "global_pending": keys.global_pending(),
        "overloaded": keys.overloaded(),
        "paused": keys.paused(),
        "dead_letter": keys.dead_letter(),
        "history": keys.history("{lane}"),
        "limit": keys.limit("{bucket}"),
        "worker": keys.worker("{worker_id}"),
        "workers": keys.workers(),
        "watermark": keys.watermark(),
    }
    built = re.findall(r"local function (\w+)_key\(.*?PREFIX \.\. (.+?) end", fragment("keys"))

    assert {name: "p:" + pattern_of(expression) for name, expression in built} == examples


def pattern_of(expression: str) -> str:
    """`'mac:queue:' .. mac .. ':' .. lane` -> `mac:queue:{mac}:{lane}`."""
    parts = [part.strip() for part in expression.split("..")]
    return "".join(part.strip("'") if part.startswith("'") else "{" + part + "}" for part in parts)


def fragment(name: str) -> str:
    return next(path for path in FRAGMENTS if path.stem == name).read_text()
