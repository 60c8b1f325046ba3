"""The service whose dashboard a browser looks at: web and scheduler as the Procfile starts them."""

import subprocess
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Any

from pipeline.settings import Settings, child_environment
from pipeline.submission import TextSubmission
from tests.support.parts import SCHEDULER, Parts
from tests.support.processes import wait_until
from tests.support.servers import free_port
from tests.support.web_process import WebProcess


class Dashboard(Parts):
    """It, with the parts by which a test puts something there to be seen.

    Args:
        folder: of its data and logs.
        settings: others than those by default.
    """

    def __init__(self, folder: Path, redis_url: str, **settings: Any) -> None:
        own: dict[str, Any] = {
            "data_dir": folder,
            "redis_url": redis_url,
            "key_prefix": f"{folder.name}:",
            "web_bind": f"127.0.0.1:{free_port()}",
            "web_threads": 4,
            "watermark_publish_interval": 5,
            "words_poll_seconds": 1,
        }
        super().__init__(Settings(_env_file=None, **{**own, **settings}))
        self.folder = folder
        self.base_url = f"http://{self.settings.web_bind}"
        with (folder / "scheduler.log").open("wb") as log:
            environment = child_environment(self.settings, ())
            self._scheduler = subprocess.Popen(SCHEDULER, env=environment, cwd=folder, stdout=log, stderr=log)
        self.start_web()
        wait_until(lambda: self.inspector.watermark())

    def start_web(self) -> None:
        """Start the web process; return once it answers."""
        self.web = WebProcess(self.folder, self.settings)
        wait_until(self._answers)

    def submit_text(self, mac: str, text: str = "有事请说") -> str:
        """Submit a text, which waits, as no worker is there; return the id of its task."""
        return self.intake.submit_text(TextSubmission(mac, text)).task_id

    def wait_for_snapshot(self) -> None:
        """Return once the scheduler has looked at the queue anew."""
        before = self.inspector.watermark()
        wait_until(lambda: self.inspector.watermark() != before)

    def stop(self) -> None:
        self._scheduler.terminate()
        self.web.stop()
        self._scheduler.wait(timeout=30)

    def _answers(self) -> bool:
        assert self.web.process.poll() is None, self.web.output
        with suppress(OSError), urllib.request.urlopen(f"{self.base_url}/livez", timeout=5):
            return True
        return False
