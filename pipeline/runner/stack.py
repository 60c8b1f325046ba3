"""Everything fairlane needs on one machine, started in the right order and stopped in the reverse one."""

import os
import socket
import threading
import urllib.request
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

from models.base import bind, connect
from models.keys import ApiKeys, insist_on_keys
from models.migrate import migrate
from pipeline.clock import Clock
from pipeline.embedded import EmbeddedValkey, locked_folder
from pipeline.errors import ConfigurationError, QueueUnavailable
from pipeline.queue import LANES, open_roster
from pipeline.runner.child import Program
from pipeline.runner.procfile import find_procfile, program_folders, read_procfile
from pipeline.runner.supervisor import Event, Supervisor
from pipeline.settings import Settings, child_environment

VALKEY = "valkey"

#: Seconds a process may take to end. Web answers its long polls, of 60 s at most, and then ends by itself
#: (web/gunicorn_settings.py). Workers finish the page they are reading: the engine's hard limit and some seconds more.
_DRAIN_S = {"web": 75.0, "scheduler": 10.0, VALKEY: 15.0}
_WORKER_MARGIN_S = 10.0

#: How long the embedded Valkey may take to load its file, milliseconds.
_VALKEY_READY_MS = 60_000

#: How long until web and workers must be ready; the engine warms up in about 3 s on an idle core. Milliseconds.
_READY_MS = 90_000

#: Deaths in a row, while starting, after which we give up.
_HOPELESS_FAILURES = 3

_LOOK_S = 0.1


class Stack:
    """All processes of one machine, up and answering inside the `with` block, gone after it.

    Args:
        stop: set it (from a signal handler) to break off the start; `wait` returns then.
        tell: called with each event of a process; must not raise.
    Raises, on entering: AlreadyRunning, ConfigurationError with the last words of what does not start,
        KeyboardInterrupt when `stop` was set, and the errors of the database.
    """

    def __init__(
        self, settings: Settings, clock: Clock, stop: threading.Event, tell: Callable[[Event], None] = lambda _: None
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._stop = stop
        self._tell = tell
        self._commands = read_procfile(find_procfile())
        self._roster = open_roster(settings)
        self._supervisor: Supervisor | None = None
        self._begin_ms = 0
        #: Whether no API key was ever made; told once the stack is up.
        self.is_open = False
        self._resources = ExitStack()

    @property
    def base_url(self) -> str:
        return f"http://{self._settings.web_bind}"

    @property
    def log_folder(self) -> Path:
        return self._settings.data_dir / "log"

    @property
    def logs(self) -> dict[str, Path]:
        """The log file of each process."""
        names = [VALKEY, *self._commands] if self._settings.is_redis_embedded else list(self._commands)
        return {name: self.log_folder / f"{name}.log" for name in names}

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self._resources.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._resources.close()

    def kill(self) -> None:
        """End every process at once, even while the stack is starting or stopping."""
        if self._supervisor:
            self._supervisor.kill()

    def _start(self) -> None:
        self._begin_ms = self._clock.now_ms()
        lock = self._resources.enter_context(locked_folder(self._settings.data_dir, self._clock))
        self._refuse_taken_port()
        supervisor = self._supervisor = Supervisor(self._clock, self._tell)
        self._resources.callback(self._stop_in_order, supervisor)
        if self._settings.is_redis_embedded:
            self._start_valkey(supervisor, lock)
        database = connect(self._settings.effective_database_url)
        migrate(database)
        bind(database)
        keys = ApiKeys(database, self._clock)
        insist_on_keys(self._settings, keys)
        self.is_open = not keys.has_any()
        for name, command in self._commands.items():
            supervisor.start(self._program(name, command))
        self._wait_until(self._is_ready, supervisor, _READY_MS, "web or a worker does not become ready")

    def _start_valkey(self, supervisor: Supervisor, lock: int) -> None:
        valkey = EmbeddedValkey(self._settings.data_dir / "valkey", self._settings.valkey_socket)
        valkey.prepare()
        program = self._program(VALKEY, valkey.command())
        # Prepared at each start: whoever empties the folder by hand, while it runs, gets an empty Valkey and not none.
        supervisor.start(replace(program, keep_fds=(lock,), prepare=valkey.prepare))
        self._wait_until(valkey.is_answering, supervisor, _VALKEY_READY_MS, "the embedded Valkey does not answer")

    def _program(self, name: str, command: tuple[str, ...]) -> Program:
        # Web, scheduler and Valkey are not load of others to the workers beside them.
        settings = self._settings.model_copy(update={"supervisor_pid": os.getpid()})
        environment = child_environment(settings, program_folders())
        drain_s = _DRAIN_S.get(name, self._settings.ocr_hard_limit_seconds + _WORKER_MARGIN_S)
        return Program(name, command, environment, self.logs[name], drain_s)

    def _wait_until(self, holds: Callable[[], bool], supervisor: Supervisor, limit_ms: int, complaint: str) -> None:
        begin_ms = self._clock.monotonic_ms()
        while not holds():
            supervisor.raise_if_hopeless(failures=_HOPELESS_FAILURES)
            if self._clock.monotonic_ms() - begin_ms > limit_ms:
                raise ConfigurationError(f"{complaint} within {limit_ms // 1000} s; see {self.log_folder}")
            if self._stop.wait(_LOOK_S):
                raise KeyboardInterrupt

    def _is_ready(self) -> bool:
        """Web says so, and every lane has a worker that is warm: its entry in the registry comes after its warm-up."""
        return self._is_web_ready() and self._served_lanes() >= set(LANES)

    def _served_lanes(self) -> set[str]:
        try:
            workers = self._roster.workers()
        except QueueUnavailable:
            return set()
        # Entries of workers that were killed before we began outlive them by a minute.
        heard = [worker for worker in workers if int(worker.get("last_heartbeat", 0)) >= self._begin_ms]
        return {lane for worker in heard for lane in worker.get("queues", "").split(",")}

    def _is_web_ready(self) -> bool:
        # No proxy: the environment may name one, and it cannot reach our loopback.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(f"{self.base_url}/readyz", timeout=2) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def _refuse_taken_port(self) -> None:
        host, port = self._settings.web_host, int(self._settings.web_bind.rpartition(":")[2])
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.socket(family) as probe:
            # As gunicorn does it: a port whose last connections are still closing is free.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, port))
            except OSError as exc:
                where = self._settings.web_bind
                raise ConfigurationError(
                    f"{where} cannot be listened on ({exc.strerror}); set FAIRLANE_WEB_BIND to a free port"
                ) from exc

    def _stop_in_order(self, supervisor: Supervisor) -> None:
        """Nothing new comes in, then nothing is handed out, then what runs is finished; Valkey hears of it all."""
        workers = [name for name in self._commands if name not in _DRAIN_S]
        for stage in (["web"], ["scheduler"], workers, [VALKEY]):
            supervisor.stop(stage)
        supervisor.close()
