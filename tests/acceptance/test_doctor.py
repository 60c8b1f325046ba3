"""`fairlane doctor` beside a running fairlane that is as it should be: nothing is wrong."""

import json

import pytest

from pipeline.cli import run
from pipeline.settings import environment_of
from tests.acceptance.conftest import Running


@pytest.mark.feature("H6")
def test_everything_is_green_while_everything_runs(
    fairlane: Running, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in environment_of(fairlane.settings).items():
        monkeypatch.setenv(name, value)

    code = run(["doctor", "-o", "json"])

    checks = json.loads(capsys.readouterr().out)["checks"]
    assert [check for check in checks if not check["is_fine"]] == []
    assert code == 0
