"""The keys as the web processes know them: asked of the database, and believed for a second at most."""

import logging
import sys
import threading
from hmac import compare_digest

from models.base import bind, bound, connect
from models.key_text import hash_key, key_id_of
from models.keys import ApiKeys, KeyRow, insist_on_keys
from models.migrate import insist_on_migrations
from pipeline.clock import Clock, SystemClock
from pipeline.errors import ConfigurationError, DatabaseUnavailable, FairlaneError, Unauthenticated
from pipeline.network import is_loopback
from pipeline.settings import Settings

_log = logging.getLogger(__name__)

#: How long an answer of the database is believed, ms: so long at most a revoked key goes on to open doors.
BELIEVED_MS = 1_000
#: How long a database that did not answer is not waited for again by who is let in all the same, ms.
_SILENCE_BELIEVED_MS = 60_000
#: Answers kept, those about ids that no key has included.
_KEPT_MAX = 10_000
#: Compared with when there is no such key, so that this takes as long.
_NO_HASH = "0" * 64


def insist_on_keys_or_exit(settings: Settings) -> None:
    """Return when the server may listen where the settings say; else it does not start, and says why.

    It may be called before a fork: each process that serves opens a database of its own.
    """
    if is_loopback(settings.web_host):
        return
    try:
        database = connect(settings.effective_database_url)
        bind(database)
        insist_on_migrations(database)
        insist_on_keys(settings, ApiKeys(database, SystemClock()))
    except FairlaneError as exc:
        sys.stderr.write(f"fairlane: {exc}\n")
        raise SystemExit(2) from exc


def warn_when_open(keys: ApiKeys) -> None:
    """Say so in the log when there is no key yet; a database that does not answer is not waited for."""
    try:
        insist_on_migrations(bound())
        if not keys.has_any():
            _log.warning("no API key was ever made: every user of this machine may do everything, and nobody else")
    except (DatabaseUnavailable, ConfigurationError) as exc:
        _log.warning("it is not known whether there are API keys", extra={"reason": str(exc)})


class KeyRing:
    """Finds keys; used from any thread.

    Every method raises `DatabaseUnavailable` when it has to ask and gets no answer: nobody is let in then, unless it is
    told to believe for `grace_ms` longer what it knew last.
    """

    def __init__(self, keys: ApiKeys, clock: Clock) -> None:
        self._keys = keys
        self._clock = clock
        self._lock = threading.Lock()
        self._known: dict[str, tuple[int, KeyRow | None]] = {}
        self._noted_ms: dict[str, int] = {}
        self._has_keys = False
        self._open_until_ms = -1
        self._silent_until_ms = -1

    def is_open(self, *, grace_ms: int = 0) -> bool:
        """Say whether no key was ever made. Once one was, the service stays closed."""
        if self._has_keys:
            return False
        now_ms = self._clock.monotonic_ms()
        if now_ms < self._open_until_ms:
            return True
        is_graced = self._open_until_ms >= 0 and now_ms < self._open_until_ms + grace_ms
        if is_graced and now_ms < self._silent_until_ms:
            return True
        try:
            self._has_keys = self._keys.has_any()
        except DatabaseUnavailable:
            self._note_silence()
            if not is_graced:
                raise
            return True
        self._open_until_ms = now_ms + BELIEVED_MS
        return not self._has_keys

    def with_text(self, text: str, *, grace_ms: int = 0) -> KeyRow:
        """The good key of this text.

        Raises: Unauthenticated.
        """
        key_id = key_id_of(text)
        if key_id is None:
            raise Unauthenticated("the key has not the form of one")
        key = self.find(key_id, grace_ms=grace_ms)
        is_same = compare_digest(hash_key(text), key.key_hash if key else _NO_HASH)
        if key is None or not is_same or not self.is_good(key):
            raise Unauthenticated(f"no good key {key_id}")
        return key

    def is_good(self, key: KeyRow) -> bool:
        """Say whether the key opens anything now."""
        return key.is_good(self._clock.now_ms())

    def find(self, key_id: str, *, grace_ms: int = 0) -> KeyRow | None:
        """The key with this id, good or not."""
        now_ms = self._clock.monotonic_ms()
        with self._lock:
            known = self._known.get(key_id)
        if known and now_ms < known[0]:
            return known[1]
        graced = known if known and now_ms < known[0] + grace_ms else None
        if graced and now_ms < self._silent_until_ms:
            return graced[1]
        try:
            key = self._keys.get(key_id)
        except DatabaseUnavailable:
            self._note_silence()
            if graced is None:
                raise
            return graced[1]
        with self._lock:
            if len(self._known) >= _KEPT_MAX:
                self._known.clear()
            self._known[key_id] = (now_ms + BELIEVED_MS, key)
        return key

    def note_use(self, key: KeyRow) -> None:
        """Remember that the key was used, at most once a minute; it matters to nobody who waits for an answer."""
        now_ms = self._clock.monotonic_ms()
        with self._lock:
            if now_ms < max(self._noted_ms.get(key.key_id, 0), self._silent_until_ms):
                return
            self._noted_ms[key.key_id] = now_ms + 60_000
        try:
            self._keys.note_use(key)
        except DatabaseUnavailable:
            self._note_silence()
            _log.warning("the use of a key was not noted", extra={"key": key.key_id})

    def _note_silence(self) -> None:
        # By now, not by then: a database that hangs takes its time to be given up.
        self._silent_until_ms = self._clock.monotonic_ms() + _SILENCE_BELIEVED_MS
