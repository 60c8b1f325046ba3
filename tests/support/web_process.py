"""The web as the Procfile starts it, in a process of its own."""

import re
import subprocess
from pathlib import Path

from pipeline.runner.procfile import find_procfile, program_folders, read_procfile
from pipeline.settings import Settings, child_environment
from tests.support.processes import wait_until

_LISTENING = re.compile(r"Listening at: http://[^:]+:(\d+)")


class WebProcess:
    """gunicorn with our settings.

    Args:
        folder: where its log goes.
    """

    def __init__(self, folder: Path, settings: Settings) -> None:
        self.log = folder / "web.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                read_procfile(find_procfile())["web"],
                env=child_environment(settings, program_folders()),
                cwd=folder,
                stderr=log,
                stdout=log,
            )

    @property
    def output(self) -> str:
        return self.log.read_text()

    def url(self) -> str:
        """Where it listens on loopback, once it does."""
        wait_until(lambda: _LISTENING.search(self.output))
        found = _LISTENING.search(self.output)
        assert found
        return f"http://127.0.0.1:{found[1]}"

    def stop(self) -> int:
        self.process.terminate()
        return self.process.wait(timeout=30)
