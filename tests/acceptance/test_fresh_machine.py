"""A clone with nothing installed: one command runs the main job, another one the tests."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.support.documents import ROOT

pytestmark = [pytest.mark.docs, pytest.mark.feature("H7")]

#: Needs a Valkey and a PostgreSQL, which make brings along; the others are there to be run by themselves.
_SOME_TESTS = "tests/integration/models/test_fencing.py"


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """What of this folder git knows, elsewhere; people keep such things in folders like this one."""
    folder = tmp_path_factory.mktemp("fresh") / "我的 fairlane"
    known = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True).stdout.decode()
    for name in filter(None, known.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    yield folder
    shutil.rmtree(folder)


def made(clone: Path, goal: str, **more: str) -> str:
    """What `make` said, with the Python below the one of these tests, and with none of their packages or settings."""
    around = os.environ.items()  # noqa: TID251  # where the machine's settings of pip are
    own = ("VIRTUAL_ENV", "FAIRLANE_", "PYTHON", "PYTEST_", "MAKE")
    environment = {name: value for name, value in around if not name.startswith(own)}
    python = os.path.realpath(sys.executable)
    ran = subprocess.run(
        ["make", goal, f"PYTHON={python}"],
        cwd=clone,
        env={**environment, "PATH": os.defpath, **more},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-5000:]
    return ran.stdout


@pytest.mark.timeout(900)
def test_make_demo_serves_three_devices_and_leaves_nothing_running(clone: Path) -> None:
    said = made(clone, "demo")

    rows = re.findall(r"^\s*[\w -]+? +[0-9a-f]{12} +(\d+) +(\d+) +(\d+) ", said, re.MULTILINE)
    assert len(rows) == 3, said[-3000:]
    assert all(tasks == done != "0" for tasks, done, _ in rows)
    assert any(hits != "0" for *_, hits in rows)
    assert "Read from one" in said
    assert not [process for process in psutil.process_iter(["cwd"]) if str(clone) in str(process.info["cwd"])]


@pytest.mark.timeout(900)
def test_make_test_brings_all_that_tests_need(clone: Path) -> None:
    said = made(clone, "test", PYTEST_ADDOPTS=_SOME_TESTS)

    assert re.search(r"^\d+ passed", said, re.MULTILINE), said[-3000:]
