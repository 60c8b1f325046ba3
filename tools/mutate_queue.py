"""Break the queue on purpose, one way at a time, and see whether a test notices: `python -m tools.mutate_queue`.

Each mutation is made in a copy of the tree; exit 1 when one survives. The last result is in docs/why/mutations.md.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
LUA = "pipeline/queue/lua"
TESTS = ["tests/integration/queue", "tests/properties"]


@dataclass(frozen=True, slots=True)
class Mutation:
    """One fault: `old` becomes `new` in `file`."""

    what: str
    file: str
    old: str
    new: str


MUTATIONS = [
    Mutation("reap drops the task instead of putting it back", "reap.lua", "    put_back(lane, device, task)\n", ""),
    Mutation(
        "put back at the tail",
        "lib/leave.lua",
        "text(task, 'order'), text(task, 'member')",
        "9e15, text(task, 'member')",
    ),
    Mutation(
        "the youngest task first",
        "lib/heads.lua",
        "redis.call('ZRANGE', line, 0, 1, 'WITHSCORES')",
        "redis.call('ZREVRANGE', line, 0, 1, 'WITHSCORES')",
    ),
    Mutation("complete forgets the token", "complete.lua", "if not holds(task, token)", "if text(task, 'state') == ''"),
    Mutation(
        "hand_back forgets the token", "hand_back.lua", "if not holds(task, token)", "if text(task, 'state') == ''"
    ),
    Mutation("tokens do not grow", "lib/lane.lua", "math.max(get(lane, 'token') + 1, now * 1000)", "1"),
    Mutation(
        "no clamp to V at activation",
        "lib/device.lua",
        "math.max(lane_get(device, 'tag'), floor))\n    lane_put(device, 'active'",
        "lane_get(device, 'tag'))\n    lane_put(device, 'active'",
    ),
    Mutation(
        "V does not follow the served device",
        "lib/turn.lua",
        "math.max(site_get(lane, 'v'), lane_get(device, 'tag'))",
        "site_get(lane, 'v')",
    ),
    Mutation("no clamp when a gate opens", "lib/device.lua", "      clamp_tag(lane, device)\n", ""),
    Mutation(
        "the actual cost is not charged", "lib/leave.lua", "  lane_add(device, 'tag', cost / weight_of(device))\n", ""
    ),
    Mutation("the site is not charged", "lib/leave.lua", "  site_add(lane, 'tag', cost / site_weight(lane))\n", ""),
    Mutation(
        "a lost lease is free",
        "reap.lua",
        "release(lane, device, task, now - get(task, 'claimed_ms'))",
        "release(lane, device, task, 0)",
    ),
    Mutation(
        "an end frees no pending",
        "lib/leave.lua",
        "add(lane, state, 1)\n  count_drain(lane, now)\n  add(device, 'pending_count', -1)\n",
        "add(lane, state, 1)\n  count_drain(lane, now)\n",
    ),
    Mutation("gates are ignored", "lib/device.lua", "if head and not gate then", "if head then"),
    Mutation(
        "a backoff is not written",
        "defer.lua",
        "  lane_put(device, 'unschedulable_until', math.max(due, lane_get(device, 'unschedulable_until')))\n",
        "",
    ),
    Mutation(
        "a deferred device is not remembered for resume",
        "lib/device.lua",
        "  if head and opens then fall_due",
        "  if false then fall_due",
    ),
    Mutation("enqueue counts twice", "lib/enter.lua", "  add(lane, 'accepted', 1)\n", "  add(lane, 'accepted', 2)\n"),
    Mutation("the same id enters twice", "enqueue.lua", "if known then return {'duplicate', known} end\n", ""),
    Mutation("nobody is woken", "lib/device.lua", "  redis.call('LPUSH', wake_key(lane_name), '1')\n", ""),
    Mutation(
        "a site's weight stays in phi",
        "lib/device.lua",
        "site_put(lane, 'phi', phi > 1e-9 and phi or 0)",
        "site_put(lane, 'phi', phi_before)",
    ),
    Mutation(
        "a site is not seated after an end",
        "lib/device.lua",
        "  seat_site(lane, first_device(lane.name, lane.site), policy)\n  if seated",
        "  if seated",
    ),
    Mutation("the TTL is ignored at a claim", "lib/heads.lua", "elseif entry.expires <= now then", "elseif false then"),
    Mutation(
        "expire ends what is being worked on",
        "expire.lua",
        "if state == 'queued' or state == 'delayed' then",
        "if state ~= 'done' then",
    ),
    Mutation("nobody rings for what falls due", "lib/device.lua", "  redis.call('LPUSH', bell_key(), '1')\n", ""),
    Mutation("a deferred task uses up the rate", "defer.lua", "return_credit(device, now)\n", ""),
    Mutation("a task handed back uses up the rate", "hand_back.lua", "return_credit(device, now)\n", ""),
    Mutation(
        "a lone site's score grows stale for good",
        "lib/site.lua",
        "    if get(lane, 'sites') == 2 then rescore_the_lonely(lane, policy) end\n",
        "",
    ),
    Mutation(
        "amend overrules a newer lease",
        "amend.lua",
        "if token ~= '' and text(task, 'token') ~= token or state",
        "if state",
    ),
    Mutation(
        "a false dead letter stays", "amend.lua", "  if is_buried(state) then withdraw_dead_letter(task_id) end\n", ""
    ),
    Mutation(
        "forget leaves the count of all tasks",
        "lib/leave.lua",
        "accepted', -1)\n  redis.call('DECR', global_pending_key())\n",
        "accepted', -1)\n",
    ),
    Mutation(
        "restored tokens begin below the ledger's",
        "restore.lua",
        "put(lane, 'token', math.max(get(lane, 'token'), last_token))\n",
        "",
    ),
    Mutation(
        "a closed door is opened by ending an own task",
        "lib/room.lua",
        "and verdict ~= 'closed' and evict_oldest()",
        "and evict_oldest()",
    ),
    Mutation("a replay leaves no gap for the ledger's fence", "replay.lua", "next_token(lane, now)\n", ""),
]


def main() -> None:
    survivors = 0
    print("| mutation | noticed by |\n| --- | --- |")
    for mutation in MUTATIONS:
        killer = _killer_of(mutation)
        survivors += killer is None
        print(f"| {mutation.what} | {f'`{killer}`' if killer else '**nobody**'} |", flush=True)
    sys.exit(1 if survivors else 0)


def _killer_of(mutation: Mutation) -> str | None:
    """The first test that fails with the mutation; None when all pass."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "tree"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".git", ".venv*", "fairlane-data", "docs", "*_cache"))
        path = copy / LUA / mutation.file
        text = path.read_text("utf-8")
        if text.count(mutation.old) != 1:
            raise SystemExit(f"{mutation.file}: {mutation.old!r} does not stand there once")
        path.write_text(text.replace(mutation.old, mutation.new), "utf-8")
        run = subprocess.run(
            [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *TESTS],
            cwd=copy,
            capture_output=True,
            text=True,
            check=False,
        )
    found = re.search(r"^(?:FAILED|ERROR) \S+?::(\w+)", run.stdout, re.MULTILINE)
    return found[1] if found else None


if __name__ == "__main__":
    main()
