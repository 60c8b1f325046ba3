"""`fairlane simulate`: the real scripts on a Valkey of its own, with verdicts."""

import json
from pathlib import Path

import pytest

from pipeline.cli import run
from pipeline.queue.connection import connect
from pipeline.simulation.server import private_valkey


@pytest.mark.parametrize("name", ["flood_closed", "lone_device"])
def test_the_scripts_keep_the_bounds(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulate", name, "-o", "json"]) == 0

    (outcome,) = json.loads(capsys.readouterr().out)
    assert outcome["backend"] == "scripts"
    assert all(bound["is_kept"] for bound in outcome["bounds"])


def test_aging_fails_beside_a_flood_as_expected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    png = tmp_path / "flood.png"

    assert run(["simulate", "flood_closed", "--policy", "aging", "--png", str(png)]) == 1

    assert "FAILED (expected under aging)" in capsys.readouterr().out
    assert png.stat().st_size > 0


def test_scripts_and_model_measure_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    measured = []
    for backend in ("scripts", "model"):
        assert run(["simulate", "flood_closed", "--backend", backend, "-o", "json"]) == 0
        (outcome,) = json.loads(capsys.readouterr().out)
        measured.append([bound["measured"] for bound in outcome["bounds"]])

    assert measured[0] == measured[1]


def test_without_a_name_the_scenarios_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulate"]) == 0

    assert "lone_device " in capsys.readouterr().out


def test_a_name_and_all_contradict_each_other() -> None:
    assert run(["simulate", "flood_closed", "--all"]) == 2


def test_a_private_valkey_ends_with_its_block() -> None:
    with private_valkey() as url:
        folder = Path(url.removeprefix("unix://")).parent
        client = connect(url)
        assert client.config_get("appendonly") == {"appendonly": "no"}
        client.close()

    assert not folder.exists()
