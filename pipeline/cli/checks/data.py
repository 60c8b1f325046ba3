"""Database, storage and lists of words: whether they can be reached, are whole, and take what is written."""

from contextlib import closing

from models.base import Database, connect
from models.health import missing_indexes, server_version
from models.migrate import pending, unknown
from models.sites import LOCAL_SITE
from pipeline.cli.checks.finding import Check, fine, wrong
from pipeline.cli.wiring import lists_of
from pipeline.settings import Settings
from pipeline.storage import open_store

#: The oldest versions fairlane runs on: what later ones brought is used (RETURNING; and 13 is the oldest still tested).
_OLDEST = {"SQLite": (3, 35), "PostgreSQL": (13,)}
#: Names told at most.
_TOLD_MAX = 5


def look_at_database(settings: Settings) -> list[Check]:
    database = connect(settings.effective_database_url)
    steps, newer = pending(database), unknown(database)
    if newer:
        cure = "install that version on this host, too: docs/howto/upgrade.md"
        return [wrong("database", f"made by a newer fairlane: it has {', '.join(newer)}", cure)]
    if steps:
        found = f"reachable, {len(steps)} migrations to be done: {_some(steps)}"
        return [wrong("database", found, "run `fairlane migrate`")]
    return [_version(database), _layout(database)]


def look_at_storage(settings: Settings) -> list[Check]:
    open_store(settings.effective_storage_url).check()
    return [fine("storage", "writable")]


def look_at_words(settings: Settings) -> list[Check]:
    if pending(connect(settings.effective_database_url)):  # looking into it would make a file
        return [wrong("words", "not known: see the database", "run `fairlane migrate`")]
    with closing(lists_of(settings)) as lists:
        detector = lists.detector(LOCAL_SITE, "")
    found = ", ".join(f"{source.name} ({len(source.lexicon)} words)" for source in detector.sources)
    return [fine("words", found or "no list; requests may bring their own words")]


def _version(database: Database) -> Check:
    name, version = server_version(database)
    found = f"reachable, up to date, {name} {'.'.join(map(str, version))}"
    if version < _OLDEST[name]:
        oldest = ".".join(map(str, _OLDEST[name]))
        return wrong("database", found, f"upgrade {name} to {oldest} or later")
    return fine("database", found)


def _layout(database: Database) -> Check:
    missing = missing_indexes(database)
    if not missing:
        return fine("database layout", "all tables and indexes are there")
    cure = (
        "somebody dropped them: make them again as models/migrations/ does (search for the name there), or restore the "
        "database (docs/howto/backup.md)"
    )
    return wrong("database layout", f"missing: {_some(missing)}", cure)


def _some(names: list[str]) -> str:
    others = len(names) - _TOLD_MAX
    return ", ".join(names[:_TOLD_MAX]) + (f" and {others} more" if others > 0 else "")
