"""The web process under each server that was weighed, on a port of its own: what `bench_web` loads."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import psutil

from pipeline.runner.procfile import find_procfile, program_folders, read_procfile
from pipeline.settings import Settings, child_environment
from tests.support.processes import wait_until
from tests.support.servers import free_port

_GTHREAD = ("-k", "gthread", "--threads", "16", "--no-control-socket", "-b", "{bind}", "web.wsgi:app")
_GRANIAN = ("--host", "127.0.0.1", "--port", "{port}", "--no-ws", "--log-level", "warning")


@dataclass(frozen=True, slots=True)
class Candidate:
    """One server.

    Args:
        command: with `{bind}` and `{port}` in place of the address.
    """

    name: str
    command: tuple[str, ...]


def candidates() -> list[Candidate]:
    """The Procfile's server first; granian where the extra `bench` is installed."""
    found = [
        Candidate("gunicorn, ours", read_procfile(find_procfile())["web"]),
        Candidate("gunicorn gthread", (sys.executable, "-m", "gunicorn", *_GTHREAD)),
    ]
    if find_spec("granian"):
        granian = (sys.executable, "-m", "granian")
        threads = ("--blocking-threads", "16")
        found += [
            Candidate("granian asgi, ours", (*granian, "--interface", "asginl", *_GRANIAN, "web.asgi:app")),
            Candidate("granian wsgi", (*granian, "--interface", "wsgi", *threads, *_GRANIAN, "web.wsgi:app")),
        ]
    return found


class Served:
    """A server that answers on `port`."""

    def __init__(self, process: "subprocess.Popen[bytes]", port: int) -> None:
        self.port = port
        self._process = psutil.Process(process.pid)

    def cpu_s(self) -> float:
        """CPU seconds of the process and its children so far."""
        total = 0.0
        for process in [self._process, *self._process.children(recursive=True)]:
            with suppress(psutil.Error):
                times = process.cpu_times()
                total += times.user + times.system
        return total


@contextmanager
def served(candidate: Candidate, folder: Path, settings: Settings) -> Iterator[Served]:
    """Run the server inside the block."""
    port = free_port()
    settings = settings.model_copy(update={"web_bind": f"127.0.0.1:{port}"})
    command = [word.format(bind=settings.web_bind, port=port) for word in candidate.command]
    with (folder / "web.log").open("ab") as log:
        process = subprocess.Popen(
            command, env=child_environment(settings, program_folders()), stdout=log, stderr=log, cwd=Path.cwd()
        )
    try:
        wait_until(lambda: _is_listening(process), 60)
        yield Served(process, port)
    finally:
        process.terminate()
        process.wait(60)


def _is_listening(process: "subprocess.Popen[bytes]") -> bool:
    assert process.poll() is None, "the server does not start"
    own = psutil.Process(process.pid)
    return any(
        connection.status == psutil.CONN_LISTEN
        for each in [own, *own.children(recursive=True)]
        for connection in each.net_connections("tcp")
    )
