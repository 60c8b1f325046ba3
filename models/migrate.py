"""The schema: brought up to date, and back, by numbered files in `migrations/`."""

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from playhouse.migrations import MigrationError, Runner

from models.base import Database, connection, sqlite_path
from models.pool import patience
from pipeline.errors import ConfigurationError, DatabaseUnavailable

_FOLDER = Path(__file__).with_name("migrations")

#: Names the advisory lock under which one process at a time migrates a PostgreSQL database: "fairlane" in ASCII.
_LOCK_KEY = int.from_bytes(b"fairlane", "big")

#: How long migrating, with the wait for another process that does it, may take, seconds.
_PATIENCE_S = 600


def migrate(database: Database, tell: Callable[[str], None] = lambda _: None) -> list[str]:
    """Bring the schema up to date, each step wholly or not at all; any number of processes may call this at once.

    Args:
        tell: called with the name of each step before it is done.
    Returns: the names of the migrations that were applied here, none when another was first.
    Raises: DatabaseUnavailable; ConfigurationError when a newer fairlane has migrated this database.
    """
    with _alone(database):
        runner = _runner(database)
        newer = sorted(set(runner.applied()) - {migration.name for migration in runner.migrations()})
        if newer:
            raise ConfigurationError(f"the database is of a newer fairlane: it has {', '.join(newer)}")
        applied: list[str] = []
        for step in [migration.name for migration in runner.status() if not migration.applied]:
            tell(step)
            applied += runner.up(step)
        return applied


def revert(database: Database, target: str | None = None) -> list[str]:
    """Take back the newest migration, or all down to and including `target`, with the data they brought.

    Raises: DatabaseUnavailable; ConfigurationError when `target` is not applied.
    """
    with _alone(database):
        try:
            reverted: list[str] = _runner(database).down(target)
        except MigrationError as exc:
            raise ConfigurationError(str(exc)) from exc
        return reverted


def pending(database: Database) -> list[str]:
    """The names of the migrations that the database lacks, in order.

    Raises: DatabaseUnavailable.
    """
    path = sqlite_path(database)
    if path and not path.exists():  # looking would create it
        return [migration.name for migration in _runner(database).migrations()]
    with connection(database):
        return [migration.name for migration in _runner(database).status() if not migration.applied]


def unknown(database: Database) -> list[str]:
    """The names of the migrations that the database has and this version does not know: a newer one made them.

    Raises: DatabaseUnavailable.
    """
    path = sqlite_path(database)
    if path and not path.exists():
        return []
    with connection(database):
        return [migration.name for migration in _runner(database).status() if migration.path is None]


def insist_on_migrations(database: Database) -> None:
    """Return when the database has the layout of this version.

    Raises: DatabaseUnavailable; ConfigurationError.
    """
    steps = pending(database)
    if steps:
        raise ConfigurationError(f"the database lacks {', '.join(steps)}; run `fairlane migrate`")


def _runner(database: Database) -> Runner:
    return Runner(database, str(_FOLDER))


@contextmanager
def _alone(database: Database) -> Iterator[None]:
    """Hold a connection, and be the only process that migrates."""
    path = sqlite_path(database)
    if path:
        with _locked_beside(path), connection(database):
            # Readers go on while one writes; the file remembers it, so this is the place to say it.
            _run(database, "PRAGMA journal_mode = wal")
            yield
    else:
        with connection(database), patience(_PATIENCE_S), _advisory_lock(database):
            yield


@contextmanager
def _locked_beside(path: Path) -> Iterator[None]:
    # SQLite's own lock would not do: the runner looks in one transaction and changes in the next.
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = path.with_name(path.name + ".migrate.lock").open("w")
    except OSError as exc:
        raise DatabaseUnavailable(f"{path.parent}: {exc.strerror}") from exc
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def _advisory_lock(database: Database) -> Iterator[None]:
    _run(database, "SELECT set_config('statement_timeout', %s, false)", (f"{_PATIENCE_S}s",))
    try:
        _run(database, "SELECT pg_advisory_lock(%s)", (_LOCK_KEY,))
        yield
    finally:
        # The session goes back to the pool: neither the lock nor the patience may stay on it. A broken one has neither.
        _run(database, "SELECT pg_advisory_unlock_all()")
        _run(database, "RESET statement_timeout")


def _run(database: Database, sql: str, parameters: tuple[object, ...] = ()) -> None:
    database.execute_sql(sql, parameters)  # type: ignore[no-untyped-call]
