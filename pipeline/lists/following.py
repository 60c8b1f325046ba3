"""What this process screens by: it follows what is published, without a stall and never by half a list.

One edition is in use at a time. The next one is loaded by a thread of its own and then takes its place by one
assignment, so that a screening, which asks for its detector once, goes by one edition from its beginning to its end.
"""

import logging
import threading
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path

from models.word_lists import EVERYBODY, Owner, Pointer
from models.word_shelf import WordShelf
from pipeline.detector.detector import Detector
from pipeline.detector.lexicon import Lexicon
from pipeline.detector.sources import Source
from pipeline.errors import FairlaneError
from pipeline.lists.compiled import CompiledLists, open_compiled
from pipeline.lists.reading import load_list
from pipeline.settings import Settings
from pipeline.storage import ObjectStore

log = logging.getLogger(__name__)

#: Devices and sites with lists of their own whose detector is kept ready; that of another one costs a question to the
#: database.
_DEVICES_KEPT = 1_000
#: Devices and sites that are known to have lists of their own; where there are more, each device is asked for.
_OWNERS_MAX = 10_000
#: Rounds between two tries to load what could not be loaded.
_ROUNDS_BETWEEN_TRIES = 15
#: Seconds that the thread may need to end.
_STOP_S = 10.0


class Edition:
    """All that is in effect at one epoch, as far as this process has needed it.

    Args:
        everybody: the global lists.
        owners: who has lists of their own; None when they are too many.
        faults: why some of what is in effect is not in here, or is an older version.
    """

    def __init__(
        self, epoch: int, everybody: Sequence[Source], owners: frozenset[Owner] | None, faults: Sequence[str] = ()
    ) -> None:
        self.epoch, self.everybody, self.faults = epoch, tuple(everybody), tuple(faults)
        self.of_everybody = Detector(*everybody)
        self._owners = owners
        self._devices: OrderedDict[tuple[str, str], Detector] = OrderedDict()
        self._lock = threading.Lock()

    def listed(self, site: str, mac: str) -> tuple[str, str] | None:
        """By what a device is screened: its own lists and those of its site, those of the site (MAC ""), or None.

        PERF: of a large fleet nearly every text is of a device that was not met lately, and nearly no device has lists:
        a question to the database for each was an eighth of a text's CPU.
        """
        if self._owners is None or Owner(site, mac) in self._owners:
            return site, mac
        return (site, "") if Owner(site) in self._owners else None

    def detector(self, device: tuple[str, str]) -> Detector | None:
        """The detector of a site and MAC, if it is kept."""
        with self._lock:
            if device in self._devices:
                self._devices.move_to_end(device)
            return self._devices.get(device)

    def keep(self, device: tuple[str, str], detector: Detector) -> None:
        """Keep a detector, in place of the one that was not asked for longest."""
        with self._lock:
            self._devices[device] = detector
            if len(self._devices) > _DEVICES_KEPT:
                self._devices.popitem(last=False)

    def devices(self) -> list[tuple[tuple[str, str], Detector]]:
        """Those that are kept, the one asked for last at the end."""
        with self._lock:
            return list(self._devices.items())


class FollowedLists:
    """Detectors by what is published now; safe to share between threads.

    Args:
        own: global lists of this host alone, which stay as they are.
        poll_s: seconds after which a change is noticed, at most.
    """

    def __init__(self, shelf: WordShelf, compiled: CompiledLists, own: Sequence[Source], poll_s: float) -> None:
        self._shelf, self._compiled = shelf, compiled
        self._poll_s = poll_s
        self._own = tuple(own)
        self._edition: Edition | None = None
        self._opening = threading.Lock()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self._rounds = 0

    @property
    def epoch(self) -> int:
        """Of what is in use; 0 before anything is."""
        return self._edition.epoch if self._edition else 0

    @property
    def faults(self) -> tuple[str, ...]:
        """What cannot be loaded, and why."""
        return self._edition.faults if self._edition else ()

    def open(self) -> Edition:
        """Return what is in use, after loading it and beginning to follow at the first call.

        Raises: ListUnavailable, StorageUnavailable, DatabaseUnavailable.
        """
        if self._edition is None:
            with self._opening:
                if self._edition is None:
                    self._edition = self._first()
                    self._thread = threading.Thread(target=self._follow, name="words", daemon=True)
                    self._thread.start()
        return self._edition

    def close(self) -> None:
        """Follow no longer."""
        self._stopped.set()
        if self._thread:
            self._thread.join(_STOP_S)

    def detector(self, site: str, mac: str) -> Detector:
        """Return what screens a text of a device; keep to it for the whole of the text.

        Args:
            mac: "" for a text of no device: the lists of its site then.
        Raises: as `open`.
        """
        edition = self.open()
        listed = edition.listed(site, mac)
        if listed is None:
            return edition.of_everybody
        detector = edition.detector(listed)
        if detector is None:
            own = [self._source(pointer) for pointer in self._shelf.in_effect(_owners(*listed))]
            detector = Detector(*edition.everybody, *own)
            edition.keep(listed, detector)
        return detector

    def refresh(self) -> bool:
        """Load what is in effect now, and use it from here on; False when nothing has changed.

        What cannot be loaded stays as it is in use now, and is tried again every so often.
        """
        edition = self.open()
        self._rounds += 1
        is_due = bool(edition.faults) and self._rounds % _ROUNDS_BETWEEN_TRIES == 0
        epoch = self._shelf.epoch()
        if epoch == edition.epoch and not is_due:
            return False
        self._edition = self._next(edition, epoch)
        return True

    def _first(self) -> Edition:
        epoch = self._shelf.epoch()  # first: what is published meanwhile is noticed at the next look
        everybody = [*self._own, *map(self._source, self._shelf.in_effect([EVERYBODY]))]
        return Edition(epoch, everybody, self._shelf.owners(_OWNERS_MAX))

    def _next(self, before: Edition, epoch: int) -> Edition:
        faults: dict[str, None] = {}
        kept = before.devices()
        owners = {owner for (site, mac), _ in kept for owner in _owners(site, mac)}
        pointers: dict[Owner, list[Pointer]] = {}
        for pointer in self._shelf.in_effect({EVERYBODY, *owners}):
            pointers.setdefault(pointer.owner, []).append(pointer)
        everybody = [*self._own, *self._loaded(pointers.get(EVERYBODY, ()), before.everybody, faults)]
        detectors = []
        for (site, mac), detector in kept:
            own = [pointer for owner in _owners(site, mac) for pointer in pointers.get(owner, ())]
            sources = self._loaded(own, detector.sources, faults)
            if len(sources) == len(own):  # else it is met anew, and told why it cannot be served
                detectors.append(((site, mac), Detector(*everybody, *sources)))
        for fault in faults:
            log.warning("a list of words cannot be loaded: %s", fault)
        edition = Edition(epoch, everybody, self._shelf.owners(_OWNERS_MAX), list(faults))
        for device, detector in detectors:
            edition.keep(device, detector)
        return edition

    def _loaded(self, pointers: Sequence[Pointer], before: Sequence[Source], faults: dict[str, None]) -> list[Source]:
        """Load what is in effect; what cannot be loaded is replaced by what is in use of the same list, if anything."""
        in_use = {source.list_id: source for source in before}
        sources = []
        for pointer in pointers:
            try:
                sources.append(self._source(pointer))
            except FairlaneError as exc:
                stays = in_use.get(pointer.list_id)
                faults[_fault_of(pointer, exc, stays)] = None
                sources += [stays] if stays else []
        return sources

    def _source(self, pointer: Pointer) -> Source:
        lexicon = self._compiled.lexicon(pointer.sha256)
        return Source(lexicon, pointer.owner.scope, pointer.name, pointer.version, pointer.list_id)

    def _follow(self) -> None:
        is_silent = False
        while not self._stopped.wait(self._poll_s):
            try:
                self.refresh()
                is_silent = False
            except FairlaneError as exc:
                # Once for each time that the database falls silent, not at every round of it.
                if not is_silent:
                    log.warning("what words are in effect is not known: %s", exc)
                is_silent = True
            except Exception:
                # Whatever it is, a process that goes on screening must not stop following for good.
                log.exception("what words are in effect is not known")


def _fault_of(pointer: Pointer, exc: FairlaneError, stays: Source | None) -> str:
    use = f"version {stays.version} stays in use" if stays else "nothing of it is in use"
    return f"{pointer.owner.scope} list {pointer.name}, version {pointer.version}: {exc}; {use}"


def follow_lists(shelf: WordShelf, store: ObjectStore, settings: Settings) -> FollowedLists:
    """Return what a process screens by; nothing is loaded yet, but a list in a file of this host.

    Raises: ConfigurationError when that is no list.
    """
    compiled = open_compiled(shelf, store, settings)
    return FollowedLists(shelf, compiled, source_of_file(settings.words_file), settings.words_refresh_seconds)


def _owners(site: str, mac: str) -> list[Owner]:
    return [Owner(site), Owner(site, mac)] if mac else [Owner(site)]


def source_of_file(path: Path | None) -> list[Source]:
    """The list in a file of this host, as a global one that has no versions; none without a file.

    Raises: ConfigurationError.
    """
    if path is None:
        return []
    return [Source(Lexicon(rules=load_list(path).rules), "global", path.name, 0, 0)]
