"""What a worker process may claim now: its free slots, and the reasons to leave them free."""

import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from pipeline.queue import LANES, Claim, Lane


class Slots:
    """The slots of one process by lane, and the claims that fill them; used by any thread."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._count: dict[Lane, int] = dict.fromkeys(LANES, 1)
        self._holds: dict[Lane, set[str]] = {lane: set() for lane in LANES}
        #: By lane and token, since after a lost lease one process may hold the same task twice; with the token of the
        #: first claim of the slot, by which those of one slot know each other.
        self._claims: dict[tuple[Lane, int], tuple[Claim, int]] = {}
        self._watchers: list[Callable[[], None]] = []
        self._note: Callable[[Collection[Claim]], None] = lambda _: None
        self.is_closed = False

    def watch(self, tell: Callable[[], None]) -> None:
        """Call `tell` after each change of what is held or closed, in the thread that changed it."""
        self._watchers.append(tell)

    def keep_note(self, write: Callable[[Collection[Claim]], None]) -> None:
        """Call `write` with what is held at each change of that, one after the other."""
        self._note = write

    def open(self, count: Mapping[Lane, int]) -> None:
        """Set how many slots each lane has."""
        with self._changed:
            self._count.update(count)
            self._changed.notify_all()

    def close(self) -> None:
        """Claim nothing from now on; what is held runs on."""
        with self._changed:
            self.is_closed = True
            self._changed.notify_all()
        self._tell()

    def hold(self, reason: str, lanes: Iterable[Lane] = LANES) -> None:
        """Claim nothing of these lanes until `release(reason)`; what is held runs on."""
        with self._changed:
            for lane in lanes:
                self._holds[lane].add(reason)
        self._tell()

    def release(self, reason: str) -> None:
        """Take a hold back, in all lanes; others stay."""
        with self._changed:
            for reasons in self._holds.values():
                reasons.discard(reason)
            self._changed.notify_all()
        self._tell()

    def holds(self, lane: Lane) -> list[str]:
        """Why nothing of the lane is claimed now; none when it is."""
        with self._changed:
            return sorted(self._holds[lane])

    def room(self, lane: Lane, *, wait_s: float = 0) -> int:
        """How many slots of the lane may be filled now, or, if none, within `wait_s` seconds."""
        with self._changed:
            self._changed.wait_for(lambda: self.is_closed or self._room(lane) > 0, timeout=wait_s)
            return 0 if self.is_closed else max(0, self._room(lane))

    def rest(self, seconds: float) -> None:
        """Wait, but not beyond `close`."""
        with self._changed:
            self._changed.wait_for(lambda: self.is_closed, timeout=seconds)

    def fill(self, claims: Sequence[Claim]) -> None:
        """Let one slot hold these, at least one."""
        with self._changed:
            slot = claims[0].token
            self._claims.update({(claim.lane, claim.token): (claim, slot) for claim in claims})
            self._note(self._held())

    def free(self, claims: Iterable[Claim]) -> None:
        """Let go of these; a slot is free once all that it held are gone."""
        with self._changed:
            for claim in claims:
                self._claims.pop((claim.lane, claim.token), None)
            self._note(self._held())
            self._changed.notify_all()

    def claims(self) -> list[Claim]:
        """What this process holds."""
        with self._changed:
            return self._held()

    def by_slot(self) -> list[list[Claim]]:
        """What this process holds, slot by slot."""
        with self._changed:
            slots: dict[tuple[Lane, int], list[Claim]] = {}
            for claim, slot in self._claims.values():
                slots.setdefault((claim.lane, slot), []).append(claim)
            return list(slots.values())

    def in_use(self) -> int:
        """How many slots hold something."""
        with self._changed:
            return sum(self._used(lane) for lane in LANES)

    def _tell(self) -> None:
        for tell in self._watchers:
            tell()

    def _held(self) -> list[Claim]:
        return [claim for claim, _ in self._claims.values()]

    def _used(self, lane: Lane) -> int:
        return len({slot for claim, slot in self._claims.values() if claim.lane == lane})

    def _room(self, lane: Lane) -> int:
        return 0 if self._holds[lane] else self._count[lane] - self._used(lane)
