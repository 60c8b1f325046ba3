"""A runner that is killed leaves nothing behind."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.processes import is_alive, wait_until

#: A runner with two children, one of which takes its time to end; prints their pids.
RUNNER = """
import os, signal, sys
from pathlib import Path
from pipeline.runner.child import Child, Program
folder, has_death_signal = Path(sys.argv[1]), sys.argv[2] == "signal"
for name in ("a", "b"):
    command = (sys.executable, "-c", "import signal; signal.pause()")
    child = Child(Program(name, command, {}, folder / name, 1), has_death_signal=has_death_signal)
    print(child.pid, flush=True)
signal.pause()
"""


@pytest.mark.parametrize("way", ["signal", "lifeline"])
@pytest.mark.feature("S9")
def test_a_killed_runner_leaves_no_orphan(tmp_path: Path, way: str) -> None:
    with subprocess.Popen([sys.executable, "-c", RUNNER, str(tmp_path), way], stdout=subprocess.PIPE) as runner:
        assert runner.stdout is not None
        pids = [int(runner.stdout.readline()) for _ in range(2)]
        assert all(is_alive(pid) for pid in pids)
        runner.send_signal(signal.SIGKILL)
        runner.wait()
        for pid in pids:
            wait_until(lambda pid=pid: not is_alive(pid))
