"""Serves the dashboard: one page, and the files that it loads."""

from collections.abc import Mapping
from typing import ClassVar

import falcon

from web.access import Access
from web.dashboard.files import StaticFile, read_files
from web.errors import HttpProblem
from web.operations import Operation, Resource

_PAGE = "index.html"
#: Only our own files run and only our own service is asked; what a device wrote can neither run nor load anything.
#: Pictures of tasks are fetched with the key and shown from memory, hence blob.
_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' blob:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
#: The page itself holds nothing of anybody's: what it shows it asks for, with the key of whoever looks.
_OPEN = {"GET": Operation(access=Access.OPEN, summary="The dashboard", answers={200: ()})}


class DashboardResource:
    """`GET /`."""

    operations: ClassVar[Mapping[str, Operation]] = _OPEN

    def __init__(self, files: Mapping[str, StaticFile]) -> None:
        self._page = files[_PAGE]

    def on_get(self, req: falcon.Request, resp: falcon.Response) -> None:
        resp.set_header("Content-Security-Policy", _POLICY)
        resp.set_header("Referrer-Policy", "no-referrer")
        resp.set_header("Cross-Origin-Opener-Policy", "same-origin")
        _serve(self._page, req, resp)


class StaticResource:
    """`GET /static/…`."""

    operations: ClassVar[Mapping[str, Operation]] = _OPEN

    def __init__(self, files: Mapping[str, StaticFile]) -> None:
        self._files = files

    def on_get(self, req: falcon.Request, resp: falcon.Response, name: str) -> None:
        found = self._files.get(name)
        if found is None:
            raise HttpProblem(404, "not-found", "There is no such file", "The dashboard has no file of this name.")
        _serve(found, req, resp)


def dashboard_routes() -> list[tuple[str, Resource]]:
    """The addresses of the dashboard, which are for browsers and so not in the description."""
    files = read_files()
    return [("/", DashboardResource(files)), ("/static/{name:path}", StaticResource(files))]


def _serve(file: StaticFile, req: falcon.Request, resp: falcon.Response) -> None:
    resp.etag = file.etag
    if any(str(tag) == file.etag for tag in req.if_none_match or ()):
        resp.status = 304
        return
    resp.content_type = file.media_type
    resp.data = file.data
