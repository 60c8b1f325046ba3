"""Lists of words on a database, and followers as the processes that screen have them."""

from pathlib import Path
from typing import Any

from models.base import Database
from models.word_lists import EVERYBODY, ListRow, Owner
from models.word_shelf import WordShelf
from pipeline.clock import Clock
from pipeline.detector.lexicon import Lexicon
from pipeline.detector.sources import Source
from pipeline.lists.compiled import CompiledLists
from pipeline.lists.following import FollowedLists
from pipeline.lists.library import Library
from pipeline.lists.reading import list_of
from pipeline.storage import ObjectStore

#: Followers look when a test says so.
NEVER_S = 3600


class Lists:
    """A library, and what follows it.

    Args:
        folder: where one host keeps its files.
    """

    def __init__(self, database: Database, store: ObjectStore, folder: Path, clock: Clock) -> None:
        self.store, self.folder = store, folder
        self.shelf = WordShelf(database, clock)
        self.library = Library(self.shelf, self.compiled())
        self._followers: list[FollowedLists] = []

    def compiled(self) -> CompiledLists:
        """Compiled lists as another process of the same host has them."""
        return CompiledLists(self.shelf, self.store, self.folder)

    def follower(self, *own: Lexicon) -> FollowedLists:
        """What another process of the same host screens by."""
        sources = [Source(lexicon, name="file") for lexicon in own]
        self._followers.append(FollowedLists(self.shelf, self.compiled(), sources, NEVER_S))
        return self._followers[-1]

    def publish(self, name: str, *words: Any, owner: Owner = EVERYBODY, **rules: Any) -> ListRow:
        """Bring words, or rules, and put them into effect."""
        version = self.library.bring(owner, name, list_of({"deny": list(words), **rules}), "test")
        return self.library.publish(version.list_id, version.version, force=True)

    def close(self) -> None:
        for follower in self._followers:
            follower.close()


def words_found(follower: FollowedLists, text: str, site: str = "local", mac: str = "") -> list[str]:
    """The words that a process finds in a text of a device."""
    return [hit.word for hit in follower.detector(site, mac).screen(text).hits]


def versions_of(follower: FollowedLists, site: str = "local", mac: str = "") -> list[tuple[str, int]]:
    """The lists that a process goes by for a device."""
    return [(one.name, one.version) for one in follower.detector(site, mac).screen("text").versions]
