"""The image of a task, as it came."""

from collections.abc import Mapping
from typing import ClassVar

import falcon

from models.ledger import Ledger, TaskRow
from pipeline.errors import ObjectMissing, TaskNotFound
from pipeline.ocr.images import MEDIA_TYPES
from pipeline.storage import ObjectStore, audit_key
from pipeline.submission import id_fault
from web.access import Access
from web.caller import caller_of
from web.errors import image_gone
from web.operations import Operation


class TaskImageResource:
    """`GET /api/ocr/tasks/{task_id}/image`."""

    operations: ClassVar[Mapping[str, Operation]] = {
        "GET": Operation(
            access=Access.READ,
            summary="The image of a task, as it came; once it is deleted, its copy in the archive, if there is one",
            answers={200: ()},
            files=tuple(MEDIA_TYPES.values()),
            refusals=(404, 503),
        )
    }

    def __init__(self, ledger: Ledger, store: ObjectStore) -> None:
        self._ledger = ledger
        self._store = store

    def on_get(self, req: falcon.Request, resp: falcon.Response, task_id: str) -> None:
        view = None if id_fault(task_id) else self._ledger.view(task_id, caller_of(req).scope)
        if view is None:
            raise TaskNotFound("no task has this id")
        kind = view.task.payload.get("media_type")
        if kind not in MEDIA_TYPES.values():
            raise image_gone()
        resp.data = self._image_of(view.task)
        # Told by its content when it came in; a browser must neither guess another kind nor run anything in it.
        resp.content_type = kind
        resp.set_header("X-Content-Type-Options", "nosniff")
        resp.set_header("Content-Security-Policy", "default-src 'none'; sandbox")
        resp.set_header("Content-Disposition", "inline")
        resp.set_header("Cache-Control", "private, no-store")

    def _image_of(self, task: TaskRow) -> bytes:
        for key in (str(task.payload.get("object")), audit_key(task.task_id, task.created_ms)):
            try:
                return self._store.get(key)
            except ObjectMissing:
                continue
        raise image_gone()
