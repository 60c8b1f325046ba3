"""The product as its users start it: all processes of the Procfile, on real servers, spoken to over HTTP."""

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

import models.base
from models.ledger import Ledger
from pipeline.cli.api import Api
from pipeline.clock import SystemClock
from pipeline.queue import Inspector, open_inspector
from pipeline.runner.stack import Stack
from pipeline.samples import words_file
from pipeline.settings import Settings, load_settings


class Running:
    """A running fairlane."""

    def __init__(self, settings: Settings, stack: Stack) -> None:
        self.settings = settings
        self.stack = stack
        self.api = Api(stack.base_url)
        self.inspector: Inspector = open_inspector(settings)
        self._database = models.base.connect(settings.effective_database_url)
        models.base.bind(self._database)
        self.ledger = Ledger(self._database, SystemClock())

    def processes(self, *words: str) -> list[psutil.Process]:
        """The processes below this one whose command line holds all the words, parents before their children."""
        found = []
        for process in psutil.Process().children(recursive=True):
            try:
                command = " ".join(process.cmdline())
            except psutil.Error:
                continue
            if all(word in command for word in words):
                found.append(process)
        return found

    def assert_books_balance(self) -> None:
        for books in self.inspector.audit():
            assert books.balances, books


def settings_for(folder: Path, **overrides: object) -> Settings:
    """Settings that make leases, sweeps and comparisons quick enough for a test."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    quick: dict[str, object] = {
        "data_dir": folder,
        "web_bind": f"127.0.0.1:{port}",
        "words_file": words_file(),
        "lease_seconds": 6,
        "lease_renew_seconds": 2,
        "reconcile_interval_seconds": 2,
        "watermark_publish_interval": 1,
        "log_level": "INFO",
        # The tests send the same few pictures, and mean each.
        "ocr_reuse_seconds": 0,
        # The machine of the tests may be busy with others.
        "worker_cpu_high_watermark": 100,
        "worker_mem_high_watermark": 100,
    }
    return load_settings(**{**quick, **overrides})


@pytest.fixture(scope="module")
def fairlane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Everything embedded: Valkey, SQLite, a folder."""
    settings = settings_for(tmp_path_factory.mktemp("data"))
    with Stack(settings, SystemClock(), threading.Event()) as stack:
        yield Running(settings, stack)
