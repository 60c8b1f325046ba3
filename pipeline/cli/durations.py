"""Spans of time as people write them: 90s, 15m, 2h or 7d."""

import re
from datetime import UTC, datetime

import click

_SPAN = re.compile(r"(\d{1,6})([smhd])", re.ASCII)
_UNIT_MS = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


def span_ms(_ctx: click.Context, _param: click.Parameter, value: str | None) -> int | None:
    """Return a span in milliseconds; a click callback.

    Raises: click.BadParameter.
    """
    if value is None:
        return None
    span = _SPAN.fullmatch(value)
    if not span:
        raise click.BadParameter("write a number and its unit: 90s, 15m, 2h or 7d")
    return int(span[1]) * _UNIT_MS[span[2]]


def time_of(epoch_ms: int | None) -> str:
    """Spell a time for people, in UTC; empty when there is none."""
    if epoch_ms is None:
        return ""
    return datetime.fromtimestamp(epoch_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
