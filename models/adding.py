"""Adding to rows that hold sums, whether they are there already or not."""

from collections.abc import Mapping, Sequence
from typing import Any

from peewee import EXCLUDED

from models.base import BaseModel

Sums = Mapping[tuple[Any, ...], tuple[int, ...]]


def add_up(table: type[BaseModel], keys: Sequence[str], sums: Sums, names: Sequence[str]) -> None:
    """Add to the columns `names` of the rows that the columns `keys` name, inside the caller's transaction.

    The rows are written in the order of their keys, so that two processes never wait for each other's in a circle.
    """
    rows = [dict(zip((*keys, *names), (*key, *sums[key]), strict=True)) for key in sorted(sums)]
    if rows:
        columns = [getattr(table, name) for name in names]
        table.insert_many(rows).on_conflict(
            conflict_target=[getattr(table, name) for name in keys],
            update={column: column + getattr(EXCLUDED, column.name) for column in columns},
        ).execute()
