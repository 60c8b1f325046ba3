"""load_scenario, parse_scenario: what is wrong is named, with the reason."""

from pathlib import Path

import pytest

from pipeline.errors import ConfigurationError
from pipeline.simulation.scenario import load_scenario, parse_scenario, scenario_names

GOOD = """
title = "Two"
why = "Both get half."
slots = 2
seconds = 10

[[groups]]
name = "left"
arrival = {kind = "top_up", backlog = 3}

[[groups]]
name = "right"
cost_ms = [10, 20]
arrival = {kind = "steady", period_s = 2}

[[bounds]]
quantity = "half"
measure = "share"
groups = ["left"]
at_most = 0.5
"""


@pytest.mark.parametrize("name", scenario_names())
def test_a_scenario_that_comes_with_fairlane_is_well_formed(name: str) -> None:
    scenario = load_scenario(name)

    assert scenario.why
    assert scenario.bounds


def test_a_scenario_is_read_with_its_defaults() -> None:
    scenario = parse_scenario(GOOD, "two.toml")

    assert [group.costs_ms for group in scenario.groups] == [(1000, 1000), (10, 20)]
    assert (scenario.lane, scenario.backend, scenario.end_ms) == ("ocr", "scripts", 10_000)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("slots = 2", "slots = 2\nslot = 3", "slot: no such key"),
        ("slots = 2", 'slots = "2"', "slots: input should be a valid integer"),
        ("slots = 2", "slots = 0", "slots: input should be greater than or equal to 1"),
        ("slots = 2", "", "slots: "),
        ("backlog = 3", "backlogs = 3", "groups[0].arrival.backlogs: no such key"),
        ("[10, 20]", "[20, 10]", "groups[1].cost_ms: the least comes first"),
        (", period_s = 2", "", "groups[1].arrival.period_s: steady arrivals need one"),
        ('"top_up", backlog = 3', '"top_up", mints = true', "groups[0].arrival.mints: only steady"),
        ("period_s = 2", "period_s = 2, from_s = 5, to_s = 5", "groups[1].arrival.to_s: must be after from_s"),
        ('name = "right"', 'name = "left"', "groups: two are called left"),
        ('groups = ["left"]', 'groups = ["lift"]', "bounds[0].groups: no group is called lift"),
        ("at_most = 0.5", "", "bounds[0].at_most: a bound needs"),
        ("at_most = 0.5", "at_most = 0.5\nfrom_s = 10", "bounds[0].from_s: nothing is left"),
        ('measure = "share"', 'measure = "wait_slope_s"', "bounds[0].measure: a slope needs a sweep"),
        ("title", "= title", "not TOML"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_key_and_reason(old: str, new: str, message: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        parse_scenario(GOOD.replace(old, new, 1), "two.toml")

    assert str(refused.value).startswith("two.toml: ")
    assert message in str(refused.value)


def test_a_change_of_an_unknown_group_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"changes\[0\]\.group: no group is called middle"):
        parse_scenario(GOOD + '[[changes]]\nat_s = 1\ngroup = "middle"\n', "two.toml")


def test_a_sweep_stands_for_every_pair() -> None:
    swept = parse_scenario(GOOD + '[sweep]\ngroup = "left"\ndevices = [1, 9]\nbacklog = [2, 5]\n', "two.toml")

    variants = dict(swept.variants())

    assert list(variants) == ["left: 1 x 2", "left: 1 x 5", "left: 9 x 2", "left: 9 x 5"]
    assert variants["left: 9 x 5"].groups[0].devices == 9
    assert variants["left: 9 x 5"].groups[0].arrival.backlog == 5


def test_a_name_that_is_nearly_right_is_suggested() -> None:
    with pytest.raises(ConfigurationError, match="did you mean flood_closed"):
        load_scenario("flood_close")


def test_a_file_that_is_not_there_is_a_configuration_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read"):
        load_scenario(str(tmp_path / "none.toml"))
