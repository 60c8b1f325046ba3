"""Statements that Peewee puts into words once, and that are run again and again with other values.

PERF: making the words of one `UPDATE … RETURNING` anew took 0.7 ms of CPU, running it 0.1 ms (docs/why/performance.md).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import peewee

from models.base import Database
from models.pool import PatientPool
from models.text import storable_words


class _Place(NamedTuple):
    """Where a value goes that is given when the statement runs."""

    name: str
    is_json: bool


class Bound(NamedTuple):
    """A statement with its values."""

    words: str
    values: list[Any]


class Slot(peewee.Node):
    """Stands in a statement for a value that is given when it runs.

    Args:
        field: into whose column it goes, or with which it is compared.
    """

    def __init__(self, name: str, field: Any) -> None:
        self._place = _Place(name, isinstance(field, peewee.JSONField))

    def __sql__(self, ctx: Any) -> Any:
        # SQLite is to keep JSON as Peewee gives it elsewhere: as its own function writes it.
        is_wrapped = self._place.is_json and ctx.state.param == peewee.SqliteDatabase.param
        ctx.literal("json(" if is_wrapped else "")
        ctx.value(self._place, converter=False)
        return ctx.literal(")" if is_wrapped else "")


class Prepared:
    """One statement for both databases.

    Args:
        make: writes it with Peewee, with a `Slot` where each run has a value of its own.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._known: dict[type[Database], tuple[str, list[Any]]] = {}

    def bind(self, database: Database, values: Mapping[str, Any]) -> Bound:
        """The statement in the words of this database.

        Args:
            values: one for each slot; those of JSON columns as Python has them, which are made storable.
        """
        words, places = self._known.get(type(database)) or self._learn(database)
        return Bound(words, [_given(place, values) if type(place) is _Place else place for place in places])

    def rows(self, database: Database, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """Run it, and return what its RETURNING says, as the driver gives it."""
        return list(run(database, self.bind(database, values)).fetchall())

    def _learn(self, database: Any) -> tuple[str, list[Any]]:
        words, places = database.get_sql_context().sql(self._make()).query()
        self._known[type(database)] = known = (words, list(places))
        return known


def run(database: Any, statement: Bound) -> Any:
    """Run a statement; return the driver's cursor."""
    return database.execute_sql(*statement)


def run_last(database: Database, *statements: Bound) -> None:
    """Run the last statements of a transaction, whose answers nobody needs; on PostgreSQL in one round trip with its
    commit.
    """
    if isinstance(database, PatientPool):
        words = ";".join(statement.words for statement in statements)
        database.execute_last(words, [value for statement in statements for value in statement.values])
        return
    for statement in statements:
        run(database, statement)


def slots(fields: Mapping[str, Any]) -> dict[str, Slot]:
    """A slot for each column, of its name."""
    return {name: Slot(name, field) for name, field in fields.items()}


def slot_rows(fields: Mapping[str, Any], count: int) -> list[dict[str, Slot]]:
    """So many rows of slots, each with one for each column, for a statement of several rows."""
    return [{name: Slot(_numbered(name, number), field) for name, field in fields.items()} for number in range(count)]


def row_values(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The values for the slots of `slot_rows`."""
    return {_numbered(name, number): value for number, row in enumerate(rows) for name, value in row.items()}


def _numbered(name: str, number: int) -> str:
    return f"{name} {number}"


def _given(place: _Place, values: Mapping[str, Any]) -> Any:
    value = values[place.name]
    return storable_words(value) if place.is_json and value is not None else value
