"""Another version of fairlane beside this one, on the same queue, database and store."""

import shutil
import subprocess
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path

import psutil

from pipeline.runner.procfile import read_procfile
from tests.faults.harness.fault import Fault
from tests.faults.harness.house import OCR_WORKER, House, pause
from tests.support.parts import ROOT
from tests.support.processes import wait_until

_PREFIX = "FAIRLANE_"
#: Of both versions, by their names in the Procfile.
_RIVALS = ("scheduler", "text", "ocr")


def tree_of(version: str, into: Path) -> Path:
    """The tree of another version: a folder as it is, or a commit of this repository, written below `into`.

    Raises: ValueError, which says why there is none.
    """
    if Path(version).is_dir():
        shutil.copytree(version, into, ignore=shutil.ignore_patterns(".git", ".venv*", "*_cache", "__pycache__"))
    else:
        packed = subprocess.run(["git", "-C", str(ROOT), "archive", version], capture_output=True, check=False)
        if packed.returncode:
            raise ValueError(f"no folder and no commit: {version}: {packed.stderr.decode(errors='replace').strip()}")
        into.mkdir()
        subprocess.run(["tar", "-x", "-C", str(into)], input=packed.stdout, check=True)
    # The light worker that reads by rote is of this version; all that it calls is of the other.
    here = into / "tests" / "faults" / "harness"
    shutil.rmtree(here, ignore_errors=True)
    shutil.copytree(ROOT / "tests" / "faults" / "harness", here)
    return into


@dataclass
class OtherVersion(Fault):
    """Scheduler and workers of another version work alone for a while, then beside those of this one.

    Args:
        tree: of that version.
    """

    tree: Path
    _ended: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.kind, self.hold_s = "versions", 8.0

    def inject(self, house: House) -> None:
        self._ended = 0
        environment = {**self._known(house), "PYTHONPATH": str(self.tree)}
        commands = read_procfile(self.tree / "Procfile")
        commands["ocr"] = (sys.executable, "-m", *OCR_WORKER)
        for name in _RIVALS:
            program = house.program(_beside(name))
            house.supervisor.start(replace(program, environment=environment, command=self._within(commands[name])))
        before = set(house.workers())
        wait_until(lambda: len(set(house.workers()) - before) >= 2, 90)
        for process in self._ours(house):
            process.suspend()

    def heal(self, house: House) -> None:
        for process in self._ours(house):
            process.resume()
        pause(5)
        house.supervisor.stop(map(_beside, _RIVALS))
        for name in _RIVALS:
            self._ended += house.log_file(_beside(name)).read_text(errors="replace").count('"task ended"')

    def trace(self, house: House) -> str:
        return f"{self._ended} tasks ended by the other version" if self._ended else ""

    def _ours(self, house: House) -> list[psutil.Process]:
        return [process for name in _RIVALS for process in house.tree(name)]

    def _within(self, command: tuple[str, ...]) -> tuple[str, ...]:
        """The same command, begun in the other tree, where it looks for code first."""
        return ("env", "-C", str(self.tree), *command)

    def _known(self, house: House) -> dict[str, str]:
        """The environment without the settings that the other version does not have: it would refuse them."""
        ask = "from pipeline.settings import Settings; print(*Settings.model_fields)"
        path = {"PYTHONPATH": str(self.tree)}
        told = subprocess.run([sys.executable, "-c", ask], cwd=self.tree, env=path, capture_output=True, check=True)
        names = {_PREFIX + name.upper() for name in told.stdout.decode().split()}
        return {
            name: value for name, value in house.environment.items() if not name.startswith(_PREFIX) or name in names
        }


def _beside(name: str) -> str:
    return f"{name}-other"
