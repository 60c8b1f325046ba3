"""Bring, publish and remove lists of words; each change is one transaction; the epoch moves with what is in effect."""

import hashlib
import zlib
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager

from peewee import Expression

from models.base import Database, connection, write
from models.sites import Site
from models.text import storable, storable_json
from models.word_lists import (
    EVERYBODY,
    ListRow,
    NewVersion,
    Owner,
    Pointer,
    VersionRow,
    WordContent,
    WordEpoch,
    WordList,
    WordVersion,
    list_row,
    packed,
    unpacked,
    version_row,
)
from pipeline.clock import Clock
from pipeline.errors import FieldProblem, InvalidInput, ListDamaged, ListNotFound

#: Lists of one owner: each is one more search of every text.
LISTS_MAX = 50
#: Devices that one statement asks about.
_MACS_ASKED = 500
#: Characters of the name of a source that are kept.
_SOURCE_MAX_CHARS = 255


class WordShelf:
    """The lists of words of the bound database; any number of processes may change it at once.

    Every method raises `DatabaseUnavailable`.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def page(self, *, site: str | None, mac: str | None, after: int, limit: int) -> list[ListRow]:
        """The next `limit` lists by id: of a site with its devices, of a device, or of all.

        Args:
            after: the last id of the page before; 0 for the first page.
        """
        where: list[Expression] = [WordList.id > after]
        if site is not None:
            where.append(WordList.site == storable(site))
        if mac is not None:
            where.append(WordList.mac == storable(mac))
        with connection(self._database):
            return [list_row(row) for row in WordList.select().where(*where).order_by(WordList.id).limit(limit)]

    def words_in_effect(self, list_ids: Collection[int]) -> dict[int, int]:
        """By list, how many words its version in effect holds; a list without one is left out."""
        query = (
            WordVersion.select(WordVersion.word_list, WordVersion.counts)
            .join(WordList)
            .where(WordVersion.version == WordList.published, WordList.id.in_(list(list_ids)))
        )
        with connection(self._database):
            return {row.list_id: int(row.counts.get("words", 0)) for row in query}

    def get(self, list_id: int) -> ListRow:
        """Raises: ListNotFound."""
        with connection(self._database):
            row = WordList.get_or_none(WordList.id == list_id)
        if row is None:
            raise ListNotFound("no list of words has this id")
        return list_row(row)

    def find(self, owner: Owner, name: str) -> ListRow:
        """Raises: ListNotFound."""
        with connection(self._database):
            row = WordList.get_or_none(*_of(owner), WordList.name == storable(name))
        if row is None:
            raise ListNotFound(f"no list of words named {name} for {_in_words(owner)}")
        return list_row(row)

    def create(self, owner: Owner, name: str) -> ListRow:
        """Return the list of this name, made without a version when there is none.

        Raises: InvalidInput for a site that is not known, and for too many lists.
        """
        now_ms = self._clock.now_ms()
        with self._changing():
            if owner.site and Site.get_or_none(Site.site == storable(owner.site)) is None:
                raise InvalidInput([FieldProblem("/site", "is not a known site")])
            names = [row.name for row in WordList.select(WordList.name).where(*_of(owner))]
            if name not in names and len(names) >= LISTS_MAX:
                raise InvalidInput([FieldProblem("/name", f"is one more than the {LISTS_MAX} lists of an owner")])
            WordList.insert(
                site=owner.site, mac=owner.mac, name=name, created_ms=now_ms, changed_ms=now_ms
            ).on_conflict_ignore().returning(WordList.id).execute()
            return list_row(WordList.get(*_of(owner), WordList.name == name))

    def add(self, list_id: int, new: NewVersion) -> VersionRow:
        """Keep a version under the next number, unless the newest one says the same: then that one is returned.

        Raises: ListNotFound.
        """
        now_ms = self._clock.now_ms()
        with self._changing():
            latest = self.get(list_id).latest
            newest = self.version(list_id, latest) if latest else None
            if newest is not None and newest.sha256 == new.sha256:
                return newest
            self._change(list_id, latest=latest + 1, changed_ms=now_ms)
            WordContent.insert(sha256=new.sha256, body=packed(new.body)).on_conflict_ignore().returning(
                WordContent.sha256
            ).execute()
            inserted = (
                WordVersion.insert(
                    word_list=list_id,
                    version=latest + 1,
                    sha256=new.sha256,
                    source=storable(new.source)[:_SOURCE_MAX_CHARS],
                    counts=new.counts,
                    findings=storable_json(list(new.findings)),
                    created_ms=now_ms,
                )
                .returning(WordVersion)
                .execute()
            )
            return version_row(next(iter(inserted)))

    def versions(self, list_id: int) -> list[VersionRow]:
        """All versions of a list, newest first."""
        with connection(self._database):
            query = WordVersion.select().where(WordVersion.word_list == list_id)
            return [version_row(row) for row in query.order_by(WordVersion.version.desc())]

    def version(self, list_id: int, number: int) -> VersionRow:
        """Raises: ListNotFound."""
        with connection(self._database):
            row = WordVersion.get_or_none(WordVersion.word_list == list_id, WordVersion.version == number)
        if row is None:
            raise ListNotFound(f"this list of words has no version {number}")
        return version_row(row)

    def content(self, sha256: str) -> bytes:
        """Return a content, which is what its hash says.

        Raises: ListNotFound; ListDamaged.
        """
        with connection(self._database):
            row = WordContent.get_or_none(WordContent.sha256 == sha256)
        if row is None:
            raise ListNotFound("this content was removed")
        try:
            body = unpacked(row.body)
        except zlib.error as exc:
            raise ListDamaged(f"the content {sha256[:12]} in the database is damaged") from exc
        if hashlib.sha256(body).hexdigest() != sha256:
            raise ListDamaged(f"the content {sha256[:12]} in the database is not what its hash says")
        return body

    def point(self, list_id: int, number: int) -> ListRow:
        """Put a version into effect, and move the epoch.

        Raises: ListNotFound.
        """
        now_ms = self._clock.now_ms()
        with self._changing():
            changed = self._change(list_id, published=number, changed_ms=now_ms)
            self.version(list_id, number)
            WordVersion.update(published_ms=now_ms).where(
                WordVersion.word_list == list_id, WordVersion.version == number, WordVersion.published_ms.is_null()
            ).execute()
            _move_epoch()
            return changed

    def remove(self, list_id: int) -> list[str]:
        """Remove a list with all its versions; give the hashes of the contents that nobody has any more.

        Raises: ListNotFound.
        """
        with self._changing():
            hashes = {row.sha256 for row in self.versions(list_id)}
            removed = list(WordList.delete().where(WordList.id == list_id).returning(WordList.id).execute())
            if not removed:
                raise ListNotFound("no list of words has this id")
            _move_epoch()
            return _forget_unused(hashes)

    def epoch(self) -> int:
        """A number that grows whenever what is in effect changes."""
        with connection(self._database):
            return int(WordEpoch.get_by_id(1).epoch)

    def in_effect(self, owners: Collection[Owner]) -> list[Pointer]:
        """The versions in effect of the lists of some owners, in the order of the lists' ids."""
        macs = sorted({owner.mac for owner in owners})
        with connection(self._database):
            found = [
                pointer
                for first in range(0, len(macs), _MACS_ASKED)
                for pointer in _pointers({owner.site for owner in owners}, macs[first : first + _MACS_ASKED])
            ]
        wanted = set(owners)
        return sorted((one for one in found if one.owner in wanted), key=lambda one: one.list_id)

    def owners(self, most: int) -> frozenset[Owner] | None:
        """The sites and devices that have a list in effect; None when there are more than `most`."""
        is_in_effect = ~WordList.published.is_null() & (WordList.site != EVERYBODY.site)
        query = WordList.select(WordList.site, WordList.mac).where(is_in_effect).distinct().limit(most + 1)
        with connection(self._database):
            owners = frozenset(Owner(one.site, one.mac) for one in query)
        return None if len(owners) > most else owners

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """A transaction that no other change of lists runs beside: versions get numbers of their own, and a content is
        not forgotten while another list begins to use it."""
        with write(self._database):
            WordEpoch.update(epoch=WordEpoch.epoch).where(WordEpoch.id == 1).execute()
            yield

    def _change(self, list_id: int, **changes: object) -> ListRow:
        changed = list(WordList.update(**changes).where(WordList.id == list_id).returning(WordList).execute())
        if not changed:
            raise ListNotFound("no list of words has this id")
        return list_row(changed[0])


def _forget_unused(hashes: Iterable[str]) -> list[str]:
    unused = []
    for sha256 in sorted(hashes):
        if not WordVersion.select().where(WordVersion.sha256 == sha256).exists():
            WordContent.delete().where(WordContent.sha256 == sha256).execute()
            unused.append(sha256)
    return unused


def _move_epoch() -> None:
    WordEpoch.update(epoch=WordEpoch.epoch + 1).where(WordEpoch.id == 1).execute()


def _of(owner: Owner) -> tuple[Expression, Expression]:
    return WordList.site == storable(owner.site), WordList.mac == storable(owner.mac)


def _pointers(sites: Collection[str], macs: Collection[str]) -> list[Pointer]:
    """What is in effect for any of the sites and any of the devices."""
    query = (
        WordVersion.select(WordVersion, WordList)
        .join(WordList)
        .where(
            WordVersion.version == WordList.published,
            WordList.site.in_([storable(site) for site in sites]),
            WordList.mac.in_(list(macs)),
        )
    )
    lists = ((row, row.word_list) for row in query)
    return [Pointer(of.id, Owner(of.site, of.mac), of.name, row.version, row.content_sha256) for row, of in lists]


def _in_words(owner: Owner) -> str:
    if owner == EVERYBODY:
        return "everybody"
    return f"the device {owner.mac}" if owner.mac else f"the site {owner.site}"
