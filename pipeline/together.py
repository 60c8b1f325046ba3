"""What several threads ask at the same time is asked once: one of them asks for all that wait.

Nobody waits for others to come. While one thread asks, those that come meanwhile gather, and the first of them asks
next, for all of them: the busier a process is, the more one question carries.
"""

import threading
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

_Item = TypeVar("_Item")
_Answer = TypeVar("_Answer")


class _Wish(Generic[_Item, _Answer]):
    """What one thread wants. Its turn comes when it has been asked for, or when it is up to this thread to ask."""

    __slots__ = ("answers", "is_asked", "item", "turn")

    def __init__(self, item: _Item) -> None:
        self.item = item
        self.turn = threading.Lock()
        self.turn.acquire()
        self.is_asked = False
        #: One, or none where its group failed.
        self.answers: list[_Answer] = []


class Together(Generic[_Item, _Answer]):
    """Gathers what threads ask, and asks it in groups, one after the other.

    Args:
        ask: answers items, each with one answer, in their order. What it raises for a single one is raised where that
            came from. When it raises for several, each thread asks again for its own alone: one that cannot be
            answered must not cost its neighbours theirs. So whatever is asked must bear being asked twice.
        most: items of one group.
    """

    def __init__(self, ask: Callable[[Sequence[_Item]], Sequence[_Answer]], most: int) -> None:
        self._ask = ask
        self._most = most
        self._lock = threading.Lock()
        self._waiting: list[_Wish[_Item, _Answer]] = []
        self._is_asking = False

    def __call__(self, item: _Item) -> _Answer:
        """Return the answer for `item`. Raises: whatever `ask` does for it alone."""
        mine: _Wish[_Item, _Answer] = _Wish(item)
        with self._lock:
            self._waiting.append(mine)
            is_first, self._is_asking = not self._is_asking, True
        if not is_first:
            mine.turn.acquire()
        if not mine.is_asked:
            self._ask_for_all()
        return mine.answers[0] if mine.answers else self._ask([item])[0]

    def _ask_for_all(self) -> None:
        """Ask for those that wait, of whom this thread is the first."""
        with self._lock:
            group, self._waiting = self._waiting[: self._most], self._waiting[self._most :]
        try:
            answers = self._ask([wish.item for wish in group])
            for wish, answer in zip(group, answers, strict=True):
                wish.answers.append(answer)
        except Exception:
            if len(group) == 1:
                raise
        finally:
            self._hand_on(group)

    def _hand_on(self, group: Sequence[_Wish[_Item, _Answer]]) -> None:
        with self._lock:
            following = self._waiting[:1]
            self._is_asking = bool(following)
        for wish in group:
            wish.is_asked = True
        for wish in [*group, *following]:
            wish.turn.release()
