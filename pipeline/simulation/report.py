"""What is shown of outcomes: every bound beside what was measured, as tables or as plain data."""

from collections.abc import Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from pipeline.simulation.live.outcome import LiveBound, LiveOutcome
from pipeline.simulation.run import Outcome, Verdict
from pipeline.simulation.scenario import Bound


def bounds_table(outcomes: Sequence[Outcome], live: Sequence[LiveOutcome] = ()) -> Table:
    """Return one row for each bound of each scenario, then of each measurement in real time."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for column in ("scenario", "bound", "of", "limit", "measured", "verdict"):
        table.add_column(column, justify="right" if column in {"limit", "measured"} else "left", overflow="fold")
    for outcome in outcomes:
        for index, verdict in enumerate(outcome.verdicts):
            bound = verdict.bound
            table.add_row(
                _name(outcome) if index == 0 else "",
                bound.quantity,
                ", ".join(bound.groups) or "all",
                limit_of(bound),
                _measured(verdict),
                _word(verdict, outcome),
                end_section=index == len(outcome.verdicts) - 1,
            )
    for measured in live:
        for index, row in enumerate(measured.bounds):
            table.add_row(
                measured.name if index == 0 else "",
                row.quantity,
                row.of,
                f"<= {row.at_most:g}{row.unit}",
                _live_measured(row),
                _coloured("ok" if row.is_kept else "FAILED", is_kept=row.is_kept),
                end_section=index == len(measured.bounds) - 1,
            )
    return table


def limit_of(bound: Bound) -> str:
    """Spell the limit: `<= 1.1 s`, `0.49 .. 0.51`."""
    unit = _unit(bound)
    if bound.at_least is not None and bound.at_most is not None:
        return f"{bound.at_least:g} .. {bound.at_most:g}{unit}"
    return f"<= {bound.at_most:g}{unit}" if bound.at_most is not None else f">= {bound.at_least:g}{unit}"


def verdict_word(verdict: Verdict, outcome: Outcome) -> str:
    """Return `ok` or `FAILED`, and whether that was expected."""
    if verdict.is_kept:
        return "ok"
    return "FAILED (expected under aging)" if outcome.is_expected_to_fail else "FAILED"


def summary(outcomes: Sequence[Outcome], live: Sequence[LiveOutcome] = ()) -> str:
    """Return the last line: how many bounds are kept, and which scenarios or measurements break one."""
    kept = [verdict.is_kept for outcome in outcomes for verdict in outcome.verdicts]
    kept_live = [bound.is_kept for measured in live for bound in measured.bounds]
    parts = [f"{sum(kept)} of {len(kept)} bounds kept in {len(outcomes)} scenarios"] if outcomes or not live else []
    parts += [f"{sum(kept_live)} of {len(kept_live)} bounds kept in real time"] if live else []
    line = ", ".join(parts)
    broken = [outcome.name for outcome in outcomes if not outcome.is_kept]
    broken += [measured.name for measured in live if not measured.is_kept]
    return f"{line}; broken in {', '.join(broken)}" if broken else line


def as_data(outcome: Outcome) -> dict[str, Any]:
    """Return an outcome as plain data."""
    return {
        "scenario": outcome.name,
        "title": outcome.scenario.title,
        "policy": outcome.policy,
        "backend": outcome.backend,
        "tasks": sum(len(trace.runs) for trace in outcome.traces.values()),
        "took_ms": outcome.took_ms,
        "is_kept": outcome.is_kept,
        "is_expected_to_fail": outcome.is_expected_to_fail,
        "bounds": [
            {
                "quantity": verdict.bound.quantity,
                "measure": verdict.bound.measure,
                "groups": list(verdict.bound.groups),
                "at_least": verdict.bound.at_least,
                "at_most": verdict.bound.at_most,
                "measured": verdict.measured,
                "worst_run": verdict.label,
                "is_kept": verdict.is_kept,
            }
            for verdict in outcome.verdicts
        ],
    }


def _name(outcome: Outcome) -> str:
    return f"{outcome.name} ({outcome.policy}, {outcome.backend})"


def _unit(bound: Bound) -> str:
    return " s" if bound.measure.endswith("_s") else ""


def _measured(verdict: Verdict) -> str:
    # A zero that rounding made negative is a zero.
    value = f"{round(verdict.measured, 4) + 0.0:g}{_unit(verdict.bound)}"
    return f"{value} ({verdict.label})" if verdict.label else value


def _live_measured(bound: LiveBound) -> str:
    value = f"{bound.measured:.4g}{bound.unit}"
    return f"{value} ({bound.note})" if bound.note else value


def _word(verdict: Verdict, outcome: Outcome) -> Text:
    return _coloured(verdict_word(verdict, outcome), is_kept=verdict.is_kept)


def _coloured(word: str, *, is_kept: bool) -> Text:
    return Text(word, style="green" if is_kept else "bold red")
