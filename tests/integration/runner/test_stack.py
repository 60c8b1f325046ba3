"""The whole stack, with small programs in place of web and the workers; Valkey and the database are real."""

import os
import signal
import socket
import threading
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline import embedded
from pipeline.clock import SystemClock
from pipeline.errors import AlreadyRunning, ConfigurationError
from pipeline.queue import open_inspector
from pipeline.runner import stack as stack_module
from pipeline.runner.stack import Stack
from pipeline.runner.supervisor import Event
from pipeline.settings import Settings
from tests.support.processes import is_alive, wait_until

#: Answers 200 to everything; notes its end.
WEB = """
import http.server, signal, sys
from pipeline.settings import load_settings
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
settings = load_settings()
def end(*_):
    with open(settings.data_dir / "ends", "a") as file: file.write("web ")
    sys.exit(0)
signal.signal(signal.SIGTERM, end)
host, port = settings.web_bind.split(":")
http.server.HTTPServer((host, int(port)), Handler).serve_forever()
"""
#: Enters itself into the registry as a worker of all lanes; notes its end, once Valkey has heard of it.
WORKER = """
import signal, sys
from pipeline.clock import SystemClock
from pipeline.queue import open_roster
from pipeline.settings import load_settings
settings = load_settings()
def end(*_):
    open_roster(settings).leave("w")
    with open(settings.data_dir / "ends", "a") as file: file.write("worker ")
    sys.exit(0)
signal.signal(signal.SIGTERM, end)
entry = {"queues": "ocr,text,notify", "last_heartbeat": str(SystemClock().now_ms())}
open_roster(settings).enter("w", entry, ttl_ms=60_000)
while True: signal.pause()
"""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    return Settings(data_dir=tmp_path / "data", web_bind=f"127.0.0.1:{port}")


@pytest.fixture
def write_procfile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Make the stack run these programs: name -> Python code."""

    def write(**codes: str) -> None:
        lines = []
        for name, code in codes.items():
            (tmp_path / f"{name}.py").write_text(code)
            lines.append(f"{name}: python '{tmp_path / name}.py'\n")
        (tmp_path / "Procfile").write_text("".join(lines))
        monkeypatch.setattr(stack_module, "find_procfile", lambda: tmp_path / "Procfile")

    write(web=WEB, ocr=WORKER)
    return write


def pid_of(stack: Stack, name: str) -> int:
    assert stack._supervisor is not None
    pid = stack._supervisor.pid(name)
    assert pid is not None
    return pid


@pytest.mark.usefixtures("write_procfile")
class TestStack:
    """With a web and a worker that work."""

    def test_everything_answers_inside_the_block_and_is_gone_after_it(self, settings: Settings) -> None:
        with Stack(settings, SystemClock(), threading.Event()) as stack:
            with urllib.request.urlopen(f"{stack.base_url}/readyz") as answer:
                assert answer.status == 200
            open_inspector(settings).ping()
            pids = [pid_of(stack, name) for name in ("web", "ocr", "valkey")]
        assert not any(is_alive(pid) for pid in pids)
        assert (settings.data_dir / "fairlane.db").is_file()

    def test_web_stops_first_and_valkey_last(self, settings: Settings) -> None:
        with Stack(settings, SystemClock(), threading.Event()):
            pass
        # The worker could only say good-bye to a Valkey that was still there.
        assert (settings.data_dir / "ends").read_text() == "web worker "
        assert "bye bye" in (settings.data_dir / "log" / "valkey.log").read_text()

    def test_a_killed_valkey_is_started_again_by_itself(self, settings: Settings) -> None:
        with Stack(settings, SystemClock(), threading.Event()) as stack:
            web, killed = pid_of(stack, "web"), pid_of(stack, "valkey")
            os.kill(killed, signal.SIGKILL)
            valkey = embedded.EmbeddedValkey(settings.data_dir / "valkey", settings.valkey_socket)
            wait_until(lambda: not is_alive(killed) and valkey.is_answering())
            assert pid_of(stack, "web") == web

    def test_a_second_stack_on_the_same_folder_is_refused_and_the_first_unharmed(
        self, settings: Settings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(embedded, "_LOCK_PATIENCE_MS", 0)
        with Stack(settings, SystemClock(), threading.Event()):
            with (
                pytest.raises(AlreadyRunning, match="already runs in"),
                Stack(settings, SystemClock(), threading.Event()),
            ):
                pass
            open_inspector(settings).ping()

    def test_a_valkey_that_outlives_its_runner_keeps_the_folder_locked(self, settings: Settings) -> None:
        with Stack(settings, SystemClock(), threading.Event()) as stack:
            held = os.stat(settings.data_dir / "lock").st_ino
            folder = Path(f"/proc/{pid_of(stack, 'valkey')}/fd")
            assert held in [file.stat().st_ino for file in folder.iterdir() if file.exists()]

    def test_it_starts_again_in_the_folder_of_one_that_was_killed(self, settings: Settings) -> None:
        with Stack(settings, SystemClock(), threading.Event()) as stack:
            stack.kill()
        with Stack(settings, SystemClock(), threading.Event()):
            open_inspector(settings).ping()

    def test_a_start_that_is_broken_off_leaves_nothing_running(self, settings: Settings) -> None:
        stop = threading.Event()
        events: list[Event] = []

        def break_off(event: Event) -> None:
            events.append(event)
            stop.set()

        with pytest.raises(KeyboardInterrupt), Stack(settings, SystemClock(), stop, break_off):
            pass
        assert [event.kind for event in events] == ["started", "stopped"]

    def test_a_port_that_is_taken_is_named_before_anything_starts(self, settings: Settings) -> None:
        with socket.socket() as other:
            other.bind((settings.web_host, int(settings.web_bind.rpartition(":")[2])))
            other.listen()
            with (
                pytest.raises(ConfigurationError, match="set FAIRLANE_WEB_BIND to a free port"),
                Stack(settings, SystemClock(), threading.Event()),
            ):
                pass
        assert not (settings.data_dir / "valkey").exists()

    @pytest.mark.feature("H3")
    def test_other_addresses_are_not_listened_on_without_a_key(self, settings: Settings) -> None:
        elsewhere = settings.model_copy(update={"web_bind": settings.web_bind.replace("127.0.0.1", "0.0.0.0")})
        with (
            pytest.raises(ConfigurationError, match="fairlane key create"),
            Stack(elsewhere, SystemClock(), threading.Event()),
        ):
            pass


def test_a_process_that_does_not_start_is_named_with_its_last_words(
    settings: Settings, write_procfile: Callable[..., None]
) -> None:
    write_procfile(web=WEB, ocr="import sys; print('no engine here'); sys.exit(2)")
    with (
        pytest.raises(ConfigurationError, match=r"ocr does not start \(exit 2\)[\s\S]*no engine here"),
        Stack(settings, SystemClock(), threading.Event()),
    ):
        pass


def test_a_stack_without_a_worker_is_not_ready(
    settings: Settings, write_procfile: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_procfile(web=WEB)
    monkeypatch.setattr(stack_module, "_READY_MS", 1_000)
    with (
        pytest.raises(ConfigurationError, match="web or a worker does not become ready within 1 s"),
        Stack(settings, SystemClock(), threading.Event()),
    ):
        pass
