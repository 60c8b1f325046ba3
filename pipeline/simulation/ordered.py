"""A set of members ordered by a score, then by the member itself: what Redis calls a sorted set."""

from bisect import bisect_left, insort


class OrderedSet:
    """Members with scores; every change keeps the order."""

    def __init__(self) -> None:
        self._rows: list[tuple[float, str]] = []
        self._score: dict[str, float] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def put(self, member: str, score: float) -> None:
        """Add the member, or move it to its new score."""
        if self._score.get(member) == score:
            return
        self.drop(member)
        self._score[member] = score
        insort(self._rows, (score, member))

    def drop(self, member: str) -> bool:
        """Take the member out; False when it was not there."""
        score = self._score.pop(member, None)
        if score is None:
            return False
        del self._rows[bisect_left(self._rows, (score, member))]
        return True

    def rank(self, member: str) -> int:
        """How many stand before a member that is in it."""
        return bisect_left(self._rows, (self._score[member], member))

    def first(self, count: int = 1, until: float = float("inf")) -> list[tuple[float, str]]:
        """Return up to `count` of the lowest (score, member) whose score is at most `until`."""
        return [row for row in self._rows[:count] if row[0] <= until]
