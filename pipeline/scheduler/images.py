"""Duty: images that nobody needs any more leave the store: old ones, and those that no task knows."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from models.retention import Ending
from pipeline.clock import Clock
from pipeline.scheduler.retention import DAY_MS
from pipeline.settings import Settings
from pipeline.storage import ObjectStore, StoredObject

log = logging.getLogger(__name__)

#: Pages of a thousand objects in one round; with a round a minute ten million objects are walked in eight hours.
_PAGES_A_ROUND = 20
#: Between the end of one walk and the next, ms.
_REST_MS = 6 * 3_600_000


@dataclass(frozen=True, slots=True)
class ImageAges:
    """How old each kind may become, days; 0: it is kept for ever.

    Args:
        images: after the end of their task; those of tasks that failed or died stay as long as the task, for a replay.
        audit: copies of images with hits.
        orphans: images without a task, as a crash leaves them between storing and accepting.
    """

    images: int
    audit: int
    orphans: int

    @classmethod
    def of(cls, settings: Settings) -> "ImageAges":
        return cls(settings.retention_images_days, settings.retention_audit_days, settings.retention_orphans_days)


class Images:
    """Walks the whole store, some pages each round, and begins anew some hours after the last.

    Args:
        endings_of: where each of some tasks stands; those that the ledger does not have are left out.
    """

    def __init__(
        self,
        store: ObjectStore,
        endings_of: Callable[[Sequence[str]], Mapping[str, Ending]],
        clock: Clock,
        ages: ImageAges,
    ) -> None:
        self._store = store
        self._endings_of = endings_of
        self._clock = clock
        self._ages = ages
        self._walk: Iterator[tuple[str, Sequence[StoredObject]]] = iter(())
        self._begin_ms = 0

    def run(self) -> None:
        """Do one round, from where the last one stopped."""
        now_ms = self._clock.now_ms()
        if now_ms >= self._begin_ms:
            self._walk, self._begin_ms = self._pages(), now_ms + _REST_MS
        deleted = 0
        for _ in range(_PAGES_A_ROUND):
            page = next(self._walk, None)
            if page is None:
                break
            # A long walk is not begun anew from its middle.
            self._begin_ms = now_ms + _REST_MS
            prefix, objects = page
            keys = self._old_audit(objects) if prefix == "audit" else self._unneeded(objects)
            self._store.delete_all(keys)
            deleted += len(keys)
        if deleted:
            log.info("images deleted", extra={"count": deleted})

    def _pages(self) -> Iterator[tuple[str, Sequence[StoredObject]]]:
        for prefix in ("images", "audit"):
            for page in self._store.pages(prefix):
                yield prefix, page

    def _old_audit(self, objects: Sequence[StoredObject]) -> list[str]:
        return [one.key for one in objects if self._is_older(one.stored_ms, self._ages.audit)]

    def _unneeded(self, objects: Sequence[StoredObject]) -> list[str]:
        endings = self._endings_of([one.task_id for one in objects])
        return [one.key for one in objects if self._is_unneeded(one, endings.get(one.task_id))]

    def _is_unneeded(self, one: StoredObject, ending: Ending | None) -> bool:
        if ending is None:
            return self._is_older(one.stored_ms, self._ages.orphans)
        if ending.may_run_again or ending.ended_ms is None:
            return False
        return self._is_older(ending.ended_ms, self._ages.images)

    def _is_older(self, since_ms: int, age_days: int) -> bool:
        return age_days > 0 and since_ms < self._clock.now_ms() - age_days * DAY_MS
