"""A scenario, read from TOML, strictly: who submits what, how many slots serve it, which bounds must come out."""

import dataclasses
import difflib
import json
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from pipeline.errors import ConfigurationError
from pipeline.queue.types import Lane

_STRICT = ConfigDict(extra="forbid")
_FOLDER = Path(__file__).parent / "scenarios"

Count = Annotated[int, Field(ge=1, le=1_000_000)]
Seconds = Annotated[float, Field(ge=0, le=1_000_000)]
Weight = Annotated[float, Field(ge=0.001, le=1000)]
CostMs = Annotated[int, Field(ge=1, le=3_600_000)]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,30}$")]

#: What can be measured, and its unit; `measures.py` has one function each.
Measure = Literal[
    "wait_p50_s",
    "wait_p95_s",
    "wait_p99_s",
    "wait_max_s",
    "wait_beyond_residual_s",
    "wait_rounds",
    "wait_slope_s",
    "share",
    "share_error",
    "jain",
    "gap",
    "makespan_over_fifo_s",
    "idle_while_waiting_s",
]


@dataclass(frozen=True, config=_STRICT)
class Arrival:
    """When the tasks of a group come.

    Args:
        kind: `burst`: `tasks` per device at `from_s`, and again every `period_s` if given; `top_up`: every device has
            `backlog` tasks waiting at all times; `steady`: one task per device and `period_s`, spread evenly with
            jitter over devices and time.
        mints: every task of `steady` comes from a device never seen before.
    """

    kind: Literal["burst", "top_up", "steady"]
    tasks: Count = 1
    backlog: Count = 1
    period_s: Annotated[float, Field(gt=0)] | None = None
    from_s: Seconds = 0.0
    to_s: Seconds | None = None
    mints: bool = False


@dataclass(frozen=True, config=_STRICT)
class Group:
    """Devices that behave alike.

    Args:
        owns_sites: every device is a site of its own.
        cost_ms: worker-ms of a task, or the least and the most of it, evenly spread.
    """

    name: Name
    arrival: Arrival
    devices: Count = 1
    site: Name = "local"
    owns_sites: bool = False
    weight: Weight = 1.0
    max_inflight: Count | None = None
    cost_ms: CostMs | tuple[CostMs, CostMs] = 1000
    size_class: Annotated[int, Field(ge=0, le=60)] = 0

    def site_of(self, mac: str) -> str:
        return f"{self.site}-{mac}" if self.owns_sites else self.site

    @property
    def costs_ms(self) -> tuple[int, int]:
        return self.cost_ms if isinstance(self.cost_ms, tuple) else (self.cost_ms, self.cost_ms)


@dataclass(frozen=True, config=_STRICT)
class Change:
    """What an operator does in the middle: the rules of a group's devices are replaced by these."""

    at_s: Seconds
    group: Name
    weight: Weight = 1.0
    max_inflight: Count | None = None
    is_paused: bool = False


@dataclass(frozen=True, config=_STRICT)
class Bound:
    """What must come out.

    Args:
        quantity: whose bound it is: a row of the table of bounds, in its words.
        groups: whose devices are measured; empty for all.
        window_s: measured in windows of this length, the worst counts.
        from_s, to_s: measured in between; a wait counts when its task was submitted there.
    """

    quantity: str
    measure: Measure
    groups: tuple[Name, ...] = ()
    at_most: float | None = None
    at_least: float | None = None
    window_s: Annotated[float, Field(gt=0)] | None = None
    from_s: Seconds = 0.0
    to_s: Seconds | None = None


@dataclass(frozen=True, config=_STRICT)
class Sweep:
    """One run for each pair of a number of devices and a depth of backlog of one group."""

    group: Name
    devices: tuple[Count, ...]
    backlog: tuple[Count, ...]


@dataclass(frozen=True, config=_STRICT)
class Scenario:
    """One experiment.

    Args:
        why: which promise it is about, and how a queue could break it.
        seconds: virtual time after which it ends; earlier when nothing is left to happen.
        claim_limit: tasks a worker asks for at once, its free slots at most.
        estimates_ms: size class -> what the lane is made to believe a task costs, all the time.
        fails_under_aging: the policy `aging` is expected to break a bound.
    """

    title: str
    why: str
    groups: Annotated[tuple[Group, ...], Field(min_length=1)]
    bounds: Annotated[tuple[Bound, ...], Field(min_length=1)]
    slots: Count
    seconds: Annotated[float, Field(gt=0, le=1_000_000)]
    lane: Lane = "ocr"
    seed: int = 1
    backend: Literal["scripts", "model"] = "scripts"
    claim_limit: Count = 1
    site_weights: dict[Name, Weight] = dataclasses.field(default_factory=dict)
    estimates_ms: dict[str, CostMs] = dataclasses.field(default_factory=dict)
    changes: tuple[Change, ...] = ()
    sweep: Sweep | None = None
    fails_under_aging: bool = False

    @property
    def end_ms(self) -> int:
        return round(self.seconds * 1000)

    def variants(self) -> list[tuple[str, "Scenario"]]:
        """Return the runs it stands for, each with its label."""
        if not self.sweep:
            return [("", self)]
        sweep = self.sweep
        return [
            (f"{sweep.group}: {devices} x {backlog}", self._with(sweep.group, devices, backlog))
            for devices in sweep.devices
            for backlog in sweep.backlog
        ]

    def _with(self, name: str, devices: int, backlog: int) -> "Scenario":
        def resized(group: Group) -> Group:
            if group.name != name:
                return group
            arrival = dataclasses.replace(group.arrival, backlog=backlog)
            return dataclasses.replace(group, devices=devices, arrival=arrival)

        return dataclasses.replace(self, groups=tuple(resized(group) for group in self.groups), sweep=None)


def scenario_names() -> list[str]:
    """Return the scenarios that come with fairlane."""
    return sorted(path.stem for path in _FOLDER.glob("*.toml"))


def load_scenario(name: str) -> Scenario:
    """Return a scenario.

    Args:
        name: one of `scenario_names`, or the path of a TOML file.
    Raises: ConfigurationError, naming each key that is wrong, and why.
    """
    path = Path(name)
    if path.suffix != ".toml":
        if name not in scenario_names():
            close = difflib.get_close_matches(name, scenario_names(), 1)
            hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(scenario_names())}"
            raise ConfigurationError(f"no scenario {name}; {hint} A file of your own must end in .toml")
        path = _FOLDER / f"{name}.toml"
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as exc:
        raise ConfigurationError(f"the scenario {path} cannot be read: {exc}") from exc
    return parse_scenario(text, path.name)


def parse_scenario(text: str, name: str) -> Scenario:
    """Return the scenario that the TOML text describes.

    Raises: ConfigurationError, naming each key that is wrong, and why.
    """
    try:
        raw = json.dumps(tomllib.loads(text), default=str)
        scenario = TypeAdapter(Scenario).validate_json(raw, strict=True)
    except tomllib.TOMLDecodeError as exc:
        raise ConfigurationError(f"{name}: not TOML: {exc}") from exc
    except ValidationError as exc:
        problems = [_problem(error["loc"], error) for error in exc.errors(include_url=False)]
        raise ConfigurationError(f"{name}: {'; '.join(dict.fromkeys(problems))}") from exc
    if problems := contradictions(scenario):
        raise ConfigurationError(f"{name}: {'; '.join(problems)}")
    return scenario


def _problem(where: tuple[int | str, ...], error: Any) -> str:
    key = ""
    for part in where:
        key += f"[{part}]" if isinstance(part, int) else f".{part}" if key else str(part)
    if error["type"] == "unexpected_keyword_argument":
        return f"{key}: no such key"
    return f"{key}: {error['msg'][:1].lower()}{error['msg'][1:]}"


def contradictions(scenario: Scenario) -> list[str]:
    """Say what cannot be meant, each with the reason."""
    names = [group.name for group in scenario.groups]
    problems = [f"groups: two are called {name}" for name in sorted({n for n in names if names.count(n) > 1})]
    for index, group in enumerate(scenario.groups):
        problems += [f"groups[{index}].{problem}" for problem in _group_problems(group)]
    for index, bound in enumerate(scenario.bounds):
        problems += [f"bounds[{index}].{problem}" for problem in _bound_problems(bound, scenario)]
    named = [(f"changes[{index}].group", change.group) for index, change in enumerate(scenario.changes)]
    if scenario.sweep:
        named.append(("sweep.group", scenario.sweep.group))
    problems += [f"{key}: no group is called {name}" for key, name in named if name not in names]
    return problems


def _group_problems(group: Group) -> list[str]:
    arrival, problems = group.arrival, []
    if arrival.kind == "steady" and arrival.period_s is None:
        problems.append("arrival.period_s: steady arrivals need one, else nothing says how often tasks come")
    if arrival.mints and arrival.kind != "steady":
        problems.append("arrival.mints: only steady arrivals can come from ever new devices")
    if arrival.to_s is not None and arrival.to_s <= arrival.from_s:
        problems.append("arrival.to_s: must be after from_s, or nothing ever comes")
    if group.costs_ms[0] > group.costs_ms[1]:
        problems.append("cost_ms: the least comes first, then the most")
    return problems


def _bound_problems(bound: Bound, scenario: Scenario) -> list[str]:
    names = {group.name for group in scenario.groups}
    problems = [f"groups: no group is called {name}" for name in bound.groups if name not in names]
    if bound.at_most is None and bound.at_least is None:
        problems.append("at_most: a bound needs this or at_least, else it cannot fail")
    if bound.measure == "wait_slope_s" and not (scenario.sweep and len(scenario.sweep.backlog) > 1):
        problems.append("measure: a slope needs a sweep over two depths of backlog")
    if (scenario.seconds if bound.to_s is None else bound.to_s) <= bound.from_s:
        problems.append("from_s: nothing is left to measure after it")
    return problems
