"""The HTTP front of every peer: the least that accepts a text, behind the very server that fairlane's web has.

`gunicorn --config python:web.gunicorn_settings "benchmarks.peers.front:served('plain_celery')"`
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import falcon

from pipeline.errors import Overload
from pipeline.mac import normalize_mac
from pipeline.settings import load_settings
from web.long_polls import WaitingRoom
from web.whole_requests import WholeRequests

Send = Callable[[str, str, int], str]
#: Bytes of a body, as many as fairlane accepts.
_BODY_MAX_BYTES = 8_000_000


class Texts:
    """`POST /api/ocr/text`, one text."""

    def __init__(self, send: Send) -> None:
        self._send = send

    def on_post(self, req: falcon.Request, resp: falcon.Response) -> None:
        body = req.get_media()
        task_id = self._send(normalize_mac(body["mac"]), str(body["text"]), 0)
        resp.status = falcon.HTTP_202
        resp.media = {"task_id": task_id}
        resp.set_header("Location", f"/api/ocr/tasks/{task_id}")


def _refuse(_: falcon.Request, __: falcon.Response, error: Overload, ___: dict[str, Any]) -> None:
    raise falcon.HTTPServiceUnavailable(title=str(error), retry_after=error.retry_after_ms // 1000)


def served(peer: str) -> WholeRequests:
    """The application of a peer, for gunicorn."""
    settings = load_settings()
    app: Any = falcon.App()
    app.add_route("/api/ocr/text", Texts(import_module(f"benchmarks.peers.{peer}").send))
    app.add_error_handler(Overload, _refuse)
    room = WaitingRoom(settings.long_polls, settings.long_polls_per_address)
    return WholeRequests(app, threads=settings.web_threads, room=room, body_max_bytes=_BODY_MAX_BYTES)
