"""`fairlane simulate`: the queue's own scripts on a virtual clock and in real time, and whether its bounds hold."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Literal

import click

from pipeline.cli.exits import FAILED, OK
from pipeline.cli.sanitize import clean
from pipeline.cli.terminal import OutputFormat, open_console, output_option, show_rows
from pipeline.errors import ConfigurationError
from pipeline.simulation.live import LiveOutcome, Plan, measure_live
from pipeline.simulation.order import Policy
from pipeline.simulation.picture import draw_png, terminal_picture
from pipeline.simulation.report import as_data, bounds_table, summary
from pipeline.simulation.run import OpenQueue, Outcome, on_model, on_scripts, run_scenario
from pipeline.simulation.scenario import load_scenario, scenario_names
from pipeline.simulation.server import private_valkey


@click.command("simulate")
@click.argument("name", metavar="[SCENARIO]", required=False)
@click.option("--all", "is_all", is_flag=True, help="Run every scenario that comes with fairlane, then --live.")
@click.option("--live", "is_live", is_flag=True, help="Measure commands, cost and waits in real time (two minutes).")
@click.option("--policy", type=click.Choice(["fair", "aging"]), default="fair", show_default=True)
@click.option(
    "--backend",
    type=click.Choice(["scripts", "model"]),
    help="The real scripts on a Valkey of its own, or the same order in memory. Default: what the scenario says.",
)
@click.option(
    "--png", type=click.Path(path_type=Path), help="Write a picture here; a folder when several runs are drawn."
)
@output_option
def command(
    *,
    name: str | None,
    is_all: bool,
    is_live: bool,
    policy: Policy,
    backend: Literal["scripts", "model"] | None,
    png: Path | None,
    output: OutputFormat,
) -> int:
    """Play a scenario on a virtual clock; exit with 1 if a bound of the queue does not hold.

    SCENARIO is a name of those that come with fairlane, or the path of a TOML file. Without one, they are listed.
    """
    if name and (is_all or is_live):
        raise click.UsageError("give a scenario, or --all, or --live, not both")
    if not (name or is_all or is_live):
        _list()
        return OK
    names = [name] if name else scenario_names() if is_all else []
    outcomes = list(_outcomes(names, policy, backend))
    live = list(_live(Plan(), policy)) if is_all or is_live else []
    if output != "table":
        show_rows([*map(as_data, outcomes), *(measured.as_data(policy) for measured in live)], output)
    else:
        _show(outcomes, live)
    if png:
        _draw(outcomes, png)
    are_kept = [outcome.is_kept for outcome in outcomes] + [measured.is_kept for measured in live]
    return OK if all(are_kept) else FAILED


def _list() -> None:
    width = max(map(len, scenario_names()))
    for name in scenario_names():
        click.echo(f"{name:{width}}  {load_scenario(name).title}")


def _outcomes(names: Sequence[str], policy: Policy, backend: str | None) -> Iterator[Outcome]:
    """Run the scenarios one after the other, on one server that starts when the first of them needs it."""
    scenarios = [(Path(name).stem, load_scenario(name)) for name in names]
    with ExitStack() as stack:
        scripts: OpenQueue | None = None
        for name, scenario in scenarios:
            chosen = backend or scenario.backend
            if chosen == "scripts" and scripts is None:
                scripts = on_scripts(stack.enter_context(private_valkey()))
            _say(f"{name} ...")
            open_queue = scripts if chosen == "scripts" and scripts else on_model
            yield run_scenario(name, scenario, policy, chosen, open_queue)


def _live(plan: Plan, policy: Policy) -> Iterator[LiveOutcome]:
    """Measure in real time, on a server of its own."""
    _say("live ...")
    with private_valkey() as url:
        for measured in measure_live(url, plan, policy):
            _say(f"{measured.name} took {measured.took_ms / 1000:.0f} s")
            yield measured


def _say(progress: str) -> None:
    if sys.stderr.isatty():
        click.echo(progress, err=True)


def _show(outcomes: Sequence[Outcome], live: Sequence[LiveOutcome]) -> None:
    console = open_console()
    if len(outcomes) == 1 and not live:
        outcome = outcomes[0]
        click.echo(f"{clean(outcome.scenario.title)}\n\n{clean(outcome.scenario.why)}\n")
        for label, trace in outcome.traces.items():
            for line in [f"[{label}]", *terminal_picture(trace)] if label else terminal_picture(trace):
                click.echo(clean(line))
            click.echo()
    console.print(bounds_table(outcomes, live))
    click.echo()
    click.echo(summary(outcomes, live))
    if live:
        # Whatever else the machine does is in the waits.
        click.echo(f"real time on {os.cpu_count()} cores with a load of {os.getloadavg()[0]:.1f}")


def _draw(outcomes: Sequence[Outcome], png: Path) -> None:
    drawn = [(outcome, label, trace) for outcome in outcomes for label, trace in outcome.traces.items()]
    if len(drawn) == 1:
        outcome, _, trace = drawn[0]
        draw_png(trace, f"{outcome.scenario.title} ({outcome.policy})", png)
        return
    try:
        png.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise ConfigurationError(
            f"--png must name a folder here, since several runs are drawn: {exc.strerror}"
        ) from exc
    for outcome, label, trace in drawn:
        suffix = "".join(f"-{word}" for word in label.replace(":", "").replace(" x ", "x").split())
        draw_png(trace, f"{outcome.scenario.title} ({outcome.policy}) {label}", png / f"{outcome.name}{suffix}.png")
