"""Pictures: of the right size, with every group in its colour."""

from pathlib import Path

import pytest
from PIL import Image

from pipeline.errors import ConfigurationError
from pipeline.simulation.events import Trace
from pipeline.simulation.picture import draw_png, shares_over_time, terminal_picture
from pipeline.simulation.run import on_model, play
from pipeline.simulation.scenario import load_scenario


@pytest.fixture
def trace() -> Trace:
    return play(load_scenario("flood_closed"), "fair", on_model)


def test_shares_add_up_to_the_slots_while_all_are_busy(trace: Trace) -> None:
    shares = shares_over_time(trace, 10)

    assert [round(sum(step), 6) for step in zip(*shares.values(), strict=True)][:9] == [1.0] * 9


def test_the_png_shows_both_groups(trace: Trace, tmp_path: Path) -> None:
    draw_png(trace, "A title", tmp_path / "picture.png")

    with Image.open(tmp_path / "picture.png") as image:
        colours = {colour for _, colour in image.getcolors(1 << 24) or []}
        assert image.size == (1200, 900)
    assert {(0xD5, 0x5E, 0x00), (0x00, 0x72, 0xB2)} <= colours


def test_a_picture_that_cannot_be_written_is_a_configuration_error(trace: Trace, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be written"):
        draw_png(trace, "A title", tmp_path / "no" / "picture.png")


def test_the_terminal_picture_has_a_line_for_each_group(trace: Trace) -> None:
    head, flood, light = terminal_picture(trace)

    assert head.rstrip().endswith("wait p50 / p95 / max, s")
    assert flood.startswith("flood  ")
    assert light.split()[-1] == "0.99"
