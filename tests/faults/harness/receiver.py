"""A receiver of announcements that counts them by id."""

import json
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class CountingReceiver(ThreadingHTTPServer):
    """Takes every announcement, and remembers how often it heard which id of which task."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Hook)
        self._lock = threading.Lock()
        self._heard: dict[str, Counter[str]] = {}
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/hook"

    def note(self, task_id: str, message_id: str) -> None:
        with self._lock:
            self._heard.setdefault(task_id, Counter())[message_id] += 1

    def heard_of(self, task_id: str) -> Counter[str]:
        """How often each announcement of a task was heard, by its id."""
        with self._lock:
            return Counter(self._heard.get(task_id, Counter()))

    def forget(self, task_ids: list[str]) -> None:
        """Let go of tasks that have been counted."""
        with self._lock:
            for task_id in task_ids:
                self._heard.pop(task_id, None)

    def close(self) -> None:
        self.shutdown()
        self._thread.join()
        self.server_close()


class _Hook(BaseHTTPRequestHandler):
    server: CountingReceiver

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        self.server.note(body["data"]["task_id"], self.headers["webhook-id"])
        self.send_response(204)
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Say nothing: what was heard is counted."""
