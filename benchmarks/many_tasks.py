"""A database full of tasks, made by the database itself: what `bench_task_list` and `bench_dashboard` look at."""

import re
from typing import Any

from models.base import Database, sqlite_path

#: When the first task was accepted, epoch ms.
START_MS = 1_760_000_000_000

#: What a task is, by its number i. Sites are of very different sizes: every second task is of the first.
_FIELDS = {
    "task_id": "'t' || i",
    "lane": "CASE WHEN i % 3 = 0 THEN 'text' ELSE 'ocr' END",
    "mac": "'aabb' || substr('00000000' || ((i * 7919) % 10000), -8)",
    "site": "CASE WHEN i % 2 = 0 THEN 'local' ELSE 'site-' || ((i / 2) % 19) END",
    "state": "CASE WHEN i > {tasks} - 100 THEN 'queued' WHEN i % 1000 = 1 THEN 'failed' ELSE 'done' END",
    "token": "1",
    "attempts": "1",
    "content_hash": "'{zeros}'",
    "payload": "'{{}}'",
    "size_bytes": "1000",
    "detection_id": "'d' || i",
    "image_sha256": "substr('{zeros}' || i, -64)",
    "code": "''",
    "reason": "''",
    "created_ms": "{start} + i * 100",
    "ended_ms": "CASE WHEN i > {tasks} - 100 THEN NULL ELSE {start} + i * 100 + 900 END",
    "is_counted": "TRUE",
    "has_hit": "i % 50 = 7",
}
_FOUND = {
    "task_id": "'t' || i",
    "token": "1",
    "text": "'an invoice of the month, number ' || i",
    "suggestion": "CASE WHEN i % 50 = 7 THEN 'block' ELSE 'pass' END",
    "hit_count": "CASE WHEN i % 50 = 7 THEN 1 ELSE 0 END",
    "hits": "'[]'",
    "label": "''",
    "level": "0",
    "score": "0",
    "elapsed_ms": "0",
    "created_ms": "{start} + i * 100 + 900",
}
#: Sites and devices are those of the tasks.
_OWNERS = (
    "INSERT INTO site (site, created_ms) SELECT DISTINCT site, {start} FROM task WHERE true ON CONFLICT DO NOTHING",
    """INSERT INTO device (site, mac, first_seen_ms, last_seen_ms, weight, is_paused, paused_lanes, is_ruled)
    SELECT site, mac, min(created_ms), max(created_ms), 1, FALSE, '', FALSE FROM task GROUP BY site, mac""",
)


def fill(database: Database, tasks: int) -> None:
    """Put the tasks in, what was found in each, and whose they are."""
    is_sqlite = sqlite_path(database) is not None
    numbers = f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {tasks}) "
    source = "n" if is_sqlite else f"generate_series(1::bigint, {tasks}) AS n(i)"
    # Where SQLite counts from the end with a negative start, PostgreSQL has a function.
    ask: Any = database.execute_sql
    if not is_sqlite:
        ask("SET statement_timeout = 0")
    for name, fields in (("task", _FIELDS), ("detection", _FOUND)):
        values = ", ".join(fields.values()).format(tasks=tasks, start=START_MS, zeros="0" * 64)
        if not is_sqlite:
            values = re.sub(r"substr\((.+?), -(\d+)\)", r"right(\1, \2)", values)
            values = values.replace("%", "%%")
            values = re.sub(r"'(\{\}|\[\])'", r"'\1'::json", values)
        ask(f"{numbers if is_sqlite else ''}INSERT INTO {name} ({', '.join(fields)}) SELECT {values} FROM {source}")
    for statement in _OWNERS:
        ask(statement.format(start=START_MS))
    if not is_sqlite:
        ask("ANALYZE")
        ask("RESET statement_timeout")
