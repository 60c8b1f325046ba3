"""The embedded Valkey, for real."""

import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline import embedded
from pipeline.clock import SystemClock
from pipeline.embedded import EmbeddedValkey, locked_folder
from pipeline.errors import AlreadyRunning, ConfigurationError
from pipeline.runner.child import Program
from pipeline.runner.supervisor import Supervisor
from tests.support.processes import wait_until

#: Holds a data folder until it is killed.
HOLDER = """
import signal, sys
from pathlib import Path
from pipeline.clock import SystemClock
from pipeline.embedded import locked_folder
with locked_folder(Path(sys.argv[1]), SystemClock()):
    print("held", flush=True)
    signal.pause()
"""


class Server:
    """An embedded Valkey under a supervisor, spoken to in its own protocol."""

    def __init__(self, folder: Path) -> None:
        self.valkey = EmbeddedValkey(folder / "valkey", folder / "run" / "valkey.sock")
        self.supervisor = Supervisor(SystemClock(), lambda _: None)
        self.log = folder / "log" / "valkey.log"

    def start(self) -> None:
        self.valkey.prepare()
        self.supervisor.start(Program("valkey", self.valkey.command(), {}, self.log, 10))
        wait_until(self.valkey.is_answering)

    def pid(self) -> int | None:
        return self.supervisor.pid("valkey")

    def ask(self, command: str) -> str:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(self.valkey.socket_path))
            connection.sendall(command.encode() + b"\r\n")
            return connection.recv(4096).decode()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path)
    server.start()
    yield server
    server.supervisor.close()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("appendonly", "yes"),
        ("appendfsync", "everysec"),
        ("save", ""),
        ("maxmemory-policy", "noeviction"),
        ("port", "0"),
    ],
)
def test_the_server_runs_with_the_settings_that_keep_accepted_work(server: Server, name: str, value: str) -> None:
    assert server.ask(f"CONFIG GET {name}").split("\r\n")[4] == value


@pytest.mark.parametrize("kind", ["hash", "zset"])
def test_the_server_keeps_what_carries_the_id_of_a_task_in_its_compact_form(server: Server, kind: str) -> None:
    member = f"{1:016d}:11:{1_760_000_000_000}:{'f' * 36}"

    server.ask(f"HSET hash member {member}")
    server.ask(f"ZADD zset 1 {member}")

    assert "listpack" in server.ask(f"OBJECT ENCODING {kind}")


def test_only_this_user_can_reach_the_socket_and_the_file(server: Server, tmp_path: Path) -> None:
    modes = [
        stat.S_IMODE(path.stat().st_mode) for path in (server.valkey.socket_path, tmp_path / "run", tmp_path / "valkey")
    ]
    assert modes == [0o700, 0o700, 0o700]


def test_what_was_written_survives_a_kill_and_the_restart_is_automatic(server: Server) -> None:
    server.ask("SET device waiting")
    killed = server.pid()
    assert killed is not None
    os.kill(killed, signal.SIGKILL)
    wait_until(lambda: server.pid() not in (None, killed) and server.valkey.is_answering())
    assert server.ask("GET device") == "$7\r\nwaiting\r\n"


def test_a_socket_left_by_a_killed_server_does_not_answer_and_does_not_hinder(server: Server) -> None:
    pid = server.pid()
    assert pid is not None
    server.supervisor.kill()
    server.supervisor.stop(["valkey"])
    assert server.valkey.socket_path.exists()
    assert not server.valkey.is_answering()
    server.start()


def test_a_folder_with_an_awkward_name_is_no_hindrance(tmp_path: Path) -> None:
    server = Server(tmp_path / "a b 'c' \"d\" ü")
    server.start()
    server.ask("SET device waiting")
    server.supervisor.close()
    assert list((server.valkey.folder / "appendonlydir").iterdir())


def test_stopping_ends_the_server_in_good_order(server: Server) -> None:
    server.supervisor.stop(["valkey"])
    assert "bye bye" in server.log.read_text()


def test_a_second_holder_of_a_folder_is_refused_and_told_which(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "_LOCK_PATIENCE_MS", 0)
    with (
        locked_folder(tmp_path / "data", SystemClock()),
        pytest.raises(AlreadyRunning, match=rf"data \(process {os.getpid()}\)"),
        locked_folder(tmp_path / "data", SystemClock()),
    ):
        pass


def test_a_folder_is_free_again_after_its_holder_was_killed(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        holder.kill()
    with locked_folder(tmp_path, SystemClock()):
        pass


def test_a_data_folder_that_cannot_be_made_is_a_configuration_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (
        pytest.raises(ConfigurationError, match="cannot be used"),
        locked_folder(tmp_path / "file" / "data", SystemClock()),
    ):
        pass


def test_a_socket_folder_of_somebody_else_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded.os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(ConfigurationError, match="belongs to another user"):
        EmbeddedValkey(tmp_path / "valkey", tmp_path / "run" / "valkey.sock").prepare()
