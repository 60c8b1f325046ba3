"""Every command in README, tutorial and how-tos that one machine can run is run, in order, as a reader types it."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.databases import made_database
from tests.support.documents import GUIDES, ROOT, Block, blocks_of
from tests.support.own_servers import started_s3, started_valkey
from tests.support.processes import wait_until
from tests.support.servers import (
    S3_CREDENTIALS,
    Server,
    die_with_parent,
    free_port,
    postgres_programs,
)

pytestmark = pytest.mark.docs

#: Documents with something to run; a test of style says that both READMEs have the same commands.
RUN = [
    guide for guide in GUIDES if guide.name != "README.zh-CN.md" and any(not block.reason for block in blocks_of(guide))
]

#: What of the repository a reader has around; not the settings or data of whoever runs the tests.
_OF_A_CLONE = ("pipeline", "models", "web", "deploy", "docs", "Makefile", "Procfile", "pyproject.toml", "README.md")


@pytest.fixture(scope="module")
def s3() -> Iterator[Server]:
    with started_s3() as server:
        yield server


@pytest.fixture
def valkey_on_tcp() -> Iterator[Server]:
    with started_valkey("127.0.0.1") as server:
        yield server


@pytest.fixture
def places(valkey_on_tcp: Server, postgres_url: str, s3: Server) -> Iterator[dict[str, str]]:
    """What documents call places -> where they are here."""
    with made_database(postgres_url) as database_url:
        receiver = free_port()
        yield {
            "127.0.0.1:8000": f"127.0.0.1:{free_port()}",
            "127.0.0.1:9000": f"127.0.0.1:{receiver}",
            '("127.0.0.1", 9000)': f'("127.0.0.1", {receiver})',
            "redis://queue.internal:6379/0": valkey_on_tcp.url,
            "postgresql://fairlane:secret@db.internal/fairlane": database_url,
            "http://storage.internal:9000": s3.url,
        }


class Reader:
    """Somebody at a machine with some terminals, in the folder of a fresh clone."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self._folder, self._environment = folder, environment
        self._terminals: dict[str, subprocess.Popen[bytes]] = {}
        self._shell = subprocess.Popen(
            ["bash", "-euo", "pipefail"],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            text=True,
        )
        self.seen = ""

    def type(self, commands: str) -> None:
        """Run commands in the first shell; a command that fails ends it."""
        assert self._shell.stdin
        assert self._shell.stdout
        self._shell.stdin.write(f"{commands}\nprintf '\\n@@ through\\n'\n")
        self._shell.stdin.flush()
        for line in self._shell.stdout:
            if line == "@@ through\n":
                return
            self.seen += line
        raise AssertionError(f"failed:\n{commands}\n--- what was seen:\n{self.seen[-3000:]}")

    def open(self, name: str, commands: str) -> None:
        """Run commands in a terminal of that name until they are ready; what ran there is stopped first."""
        self.close(name)
        log = self._folder / f"terminal-{name}.log"
        with log.open("wb") as output:
            self._terminals[name] = subprocess.Popen(
                ["bash", "-euo", "pipefail", "-c", commands],
                cwd=self._folder,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                # Bash becomes its last command: nothing is left when the tests are killed.
                preexec_fn=die_with_parent,
            )
        wait_until(lambda: self._is_ready(name, log), 200)

    def close(self, name: str) -> None:
        process = self._terminals.pop(name, None)
        if process:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(60)

    def leave(self) -> None:
        self._shell.kill()
        self._shell.communicate()
        for name in [*self._terminals]:
            self.close(name)

    def _is_ready(self, name: str, log: Path) -> bool:
        told = log.read_text("utf-8", errors="replace")
        assert self._terminals[name].poll() is None, f"terminal {name} ended:\n{told[-3000:]}"
        return "ready" in told


@contextmanager
def reader_in(folder: Path, environment: dict[str, str]) -> Iterator[Reader]:
    reader = Reader(folder, environment)
    try:
        yield reader
    finally:
        reader.leave()


@pytest.mark.feature("H6")
@pytest.mark.timeout(900)
@pytest.mark.parametrize("guide", RUN, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_commands_of_a_document_do_what_it_says(guide: Path, tmp_path: Path, places: dict[str, str]) -> None:
    for name in _OF_A_CLONE:
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / ".venv").symlink_to(sys.prefix)
    (tmp_path / "home").mkdir()
    programs = [str(Path(sys.executable).parent), str(postgres_programs()), os.defpath]
    environment = {
        "PATH": os.pathsep.join(programs),
        "HOME": str(tmp_path / "home"),
        "PYTHONUNBUFFERED": "1",
        "FAIRLANE_WEB_BIND": places["127.0.0.1:8000"],
        # The machine of the tests may be busy with others.
        "FAIRLANE_WORKER_CPU_HIGH_WATERMARK": "100",
        "FAIRLANE_WORKER_MEM_HIGH_WATERMARK": "100",
        **S3_CREDENTIALS,
    }
    with reader_in(tmp_path, environment) as reader:
        for block in blocks_of(guide):
            _do(reader, block, places)


def _do(reader: Reader, block: Block, places: dict[str, str]) -> None:
    if block.reason:
        return
    commands = block.commands
    for name, place in places.items():
        commands = commands.replace(name, place)
    if block.terminal:
        reader.open(block.terminal, commands)
    else:
        reader.type(commands)
