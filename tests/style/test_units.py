"""The systemd units run what the Procfile runs, stop it as its processes want to be stopped, and set known settings."""

import configparser
import re

import pytest

from pipeline.runner.procfile import read_procfile
from pipeline.settings import PREFIX, Settings
from tests.support.documents import ROOT

FOLDER = ROOT / "deploy" / "systemd"
UNITS = {path.stem.removeprefix("fairlane-"): path for path in sorted(FOLDER.glob("*.service"))}
PROGRAMS = "/opt/fairlane/.venv/bin/"


def service_of(name: str) -> dict[str, str]:
    parser = configparser.ConfigParser(strict=False, interpolation=None, comment_prefixes=("#",))
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read(UNITS[name], "utf-8")
    assert parser["Unit"]["PartOf"] == parser["Install"]["WantedBy"] == "fairlane.target"
    return dict(parser["Service"])


def test_each_process_of_the_procfile_has_its_unit() -> None:
    assert set(UNITS) == set(read_procfile(ROOT / "Procfile"))
    assert (FOLDER / "fairlane.target").exists()


@pytest.mark.parametrize("name", UNITS)
def test_a_unit_runs_the_command_of_the_procfile(name: str) -> None:
    commands = dict(re.findall(r"^(\w+): (.+)$", (ROOT / "Procfile").read_text("utf-8"), re.MULTILINE))

    assert service_of(name)["ExecStart"] == PROGRAMS + commands[name]


@pytest.mark.parametrize("name", UNITS)
def test_a_unit_signals_the_main_process_only_and_waits_for_what_runs(name: str) -> None:
    service = service_of(name)
    settings = Settings(_env_file=None)
    longest_s = settings.ocr_hard_limit_seconds if name in ("ocr", "text") else 75 if name == "web" else 10

    assert service["KillMode"] == "mixed"
    assert int(service["TimeoutStopSec"]) > longest_s
    assert (service["Restart"], service["User"], service["NoNewPrivileges"]) == ("always", "fairlane", "true")
    assert int(service["LimitNOFILE"]) >= 2200, "what web/connections.py takes"


def test_the_example_of_settings_names_known_ones() -> None:
    lines = (FOLDER / "fairlane.env.example").read_text("utf-8").splitlines()
    names = {line.partition("=")[0] for line in lines if line and not line.startswith("#")}
    known = {PREFIX + name.upper() for name in Settings.model_fields}

    assert {name for name in names if name.startswith(PREFIX)} <= known
