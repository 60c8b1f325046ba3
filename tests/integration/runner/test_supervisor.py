"""The supervisor, with small processes of its own making."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.clock import SystemClock
from pipeline.errors import ConfigurationError
from pipeline.runner.child import Program
from pipeline.runner.supervisor import FIRST_PAUSE_MS, STEADY_MS, Event, Supervisor
from tests.support.clock import FakeClock
from tests.support.processes import is_alive, wait_until

FOREVER = "import signal; signal.pause()"
#: Notes its SIGTERM in a file that all processes of a test share, then ends.
NOTES_ITS_END = """
import signal, sys
def end(*_):
    with open(sys.argv[1], "a") as file: file.write(sys.argv[2] + "\\n")
    sys.exit(0)
signal.signal(signal.SIGTERM, end)
print("ready", flush=True)
while True: signal.pause()
"""
STUBBORN_WITH_A_CHILD = """
import signal, subprocess, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
print(child.pid, flush=True)
while True: signal.pause()
"""


class Runner:
    """A supervisor with what it told."""

    def __init__(self, folder: Path, clock: SystemClock | FakeClock) -> None:
        self.folder = folder
        self.events: list[Event] = []
        self.supervisor = Supervisor(clock, self.events.append)

    def start(self, name: str, code: str, *arguments: str, drain_s: float = 10) -> None:
        command = (sys.executable, "-c", code, *arguments)
        self.supervisor.start(Program(name, command, {"PATH": os.defpath}, self.log(name), drain_s))
        wait_until(lambda: self.kinds(name))

    def log(self, name: str) -> Path:
        return self.folder / f"{name}.log"

    def wait_for_output(self, name: str) -> str:
        wait_until(lambda: self.log(name).read_text())
        return self.log(name).read_text()

    def pid(self, name: str) -> int:
        pid = self.supervisor.pid(name)
        assert pid is not None
        return pid

    def kinds(self, name: str) -> list[str]:
        return [event.kind for event in self.events if event.name == name]


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[Runner]:
    runner = Runner(tmp_path, SystemClock())
    yield runner
    runner.supervisor.close()


@pytest.fixture
def patient_runner(tmp_path: Path, clock: FakeClock) -> Iterator[Runner]:
    runner = Runner(tmp_path, clock)
    yield runner
    runner.supervisor.close()


@pytest.mark.feature("S9")
def test_a_killed_process_is_restarted_alone(runner: Runner) -> None:
    runner.start("ocr", FOREVER)
    runner.start("web", FOREVER)
    killed, other = runner.pid("ocr"), runner.pid("web")
    os.kill(killed, signal.SIGKILL)
    wait_until(lambda: runner.kinds("ocr") == ["started", "ended", "started"])
    assert runner.pid("ocr") != killed
    assert runner.pid("web") == other
    assert "killed by SIGKILL" in runner.events[-2].detail


def test_a_dead_process_takes_the_rest_of_its_session_with_it(runner: Runner) -> None:
    runner.start("ocr", STUBBORN_WITH_A_CHILD)
    grandchild = int(runner.wait_for_output("ocr"))
    os.kill(runner.pid("ocr"), signal.SIGKILL)
    wait_until(lambda: not is_alive(grandchild))


def test_a_process_that_keeps_dying_is_restarted_after_longer_and_longer_pauses(
    patient_runner: Runner, clock: FakeClock
) -> None:
    patient_runner.start("ocr", "")
    for pause in (FIRST_PAUSE_MS, 2 * FIRST_PAUSE_MS):
        wait_until(lambda: patient_runner.kinds("ocr")[-1] == "ended")
        assert f"starts again in {pause / 1000:g} s" in patient_runner.events[-1].detail
        clock.advance(pause)
        wait_until(lambda: patient_runner.kinds("ocr")[-1] == "started")


def test_a_process_that_lived_a_while_is_restarted_after_the_first_pause(
    patient_runner: Runner, clock: FakeClock
) -> None:
    patient_runner.start("ocr", "")
    wait_until(lambda: patient_runner.kinds("ocr")[-1] == "ended")
    patient_runner.start("web", FOREVER)
    for _ in range(2):
        clock.advance(STEADY_MS)
        os.kill(patient_runner.pid("web"), signal.SIGKILL)
        wait_until(lambda: patient_runner.kinds("web")[-1] == "ended")
        last = [event for event in patient_runner.events if event.name == "web"][-1]
        assert "starts again in 0.5 s" in last.detail
        clock.advance(FIRST_PAUSE_MS)
        wait_until(lambda: patient_runner.kinds("web")[-1] == "started")


def test_a_stopped_process_ends_by_sigterm_and_stays_stopped(runner: Runner, tmp_path: Path) -> None:
    runner.start("web", NOTES_ITS_END, str(tmp_path / "ends"), "web")
    runner.wait_for_output("web")
    runner.supervisor.stop(["web"])
    wait_until(lambda: runner.kinds("web") == ["started", "stopped"])
    assert (tmp_path / "ends").read_text() == "web\n"
    assert runner.supervisor.pid("web") is None


def test_processes_are_stopped_in_the_order_asked_for(runner: Runner, tmp_path: Path) -> None:
    for name in ("valkey", "ocr", "web"):
        runner.start(name, NOTES_ITS_END, str(tmp_path / "ends"), name)
        runner.wait_for_output(name)
    for name in ("web", "ocr", "valkey"):
        runner.supervisor.stop([name])
    assert (tmp_path / "ends").read_text().split() == ["web", "ocr", "valkey"]


def test_a_process_that_will_not_end_is_killed_with_its_children_after_its_time(runner: Runner) -> None:
    runner.start("ocr", STUBBORN_WITH_A_CHILD, drain_s=0.2)
    grandchild = int(runner.wait_for_output("ocr"))
    runner.supervisor.stop(["ocr"])
    wait_until(lambda: runner.kinds("ocr") == ["started", "killed"])
    wait_until(lambda: not is_alive(grandchild))


def test_kill_ends_what_another_thread_is_waiting_for(runner: Runner) -> None:
    runner.start("ocr", STUBBORN_WITH_A_CHILD, drain_s=600)
    runner.wait_for_output("ocr")
    waiting = threading.Thread(target=runner.supervisor.stop, args=(["ocr"],))
    waiting.start()
    runner.supervisor.kill()
    waiting.join(timeout=20)
    assert not waiting.is_alive()


def test_a_process_that_refuses_its_configuration_is_reported_with_its_last_words(runner: Runner) -> None:
    runner.start("web", "import sys; print('FAIRLANE_X: unknown setting'); sys.exit(2)")
    wait_until(lambda: "ended" in runner.kinds("web"))
    with pytest.raises(ConfigurationError, match=r"web does not start \(exit 2\)[\s\S]*FAIRLANE_X: unknown setting"):
        runner.supervisor.raise_if_hopeless(failures=99)


def test_a_process_that_died_less_often_than_allowed_is_not_hopeless(runner: Runner) -> None:
    runner.start("web", "raise SystemExit(1)")
    wait_until(lambda: "ended" in runner.kinds("web"))
    runner.supervisor.raise_if_hopeless(failures=99)


def test_a_command_that_does_not_exist_says_so_in_its_log(runner: Runner) -> None:
    runner.supervisor.start(Program("web", ("no-such-command",), {"PATH": ""}, runner.log("web"), 1))
    wait_until(lambda: "ended" in runner.kinds("web"))
    assert runner.log("web").read_text().startswith("cannot start no-such-command: ")
