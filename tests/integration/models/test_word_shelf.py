"""Lists of words in the database: versions, what is in effect, and who changes them at once."""

import hashlib
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from models import word_shelf
from models.base import connection
from models.word_lists import EVERYBODY, NewVersion, Owner, WordContent, WordVersion
from models.word_shelf import WordShelf
from pipeline.errors import InvalidInput, ListDamaged, ListNotFound
from tests.support.clock import FakeClock

MAC = "aabbccddeeff"
SITE, DEVICE = Owner("local"), Owner("local", MAC)


def new(body: bytes) -> NewVersion:
    finding = {"severity": "warning", "code": "short", "place": "line 1", "word": "half \ud83d", "detail": "x"}
    return NewVersion(body, hashlib.sha256(body).hexdigest(), "words.txt", {"words": 1}, [finding])


@pytest.fixture
def shelf(database: Any, clock: FakeClock) -> WordShelf:
    return WordShelf(database, clock)


@pytest.mark.feature("D6")
def test_versions_are_numbered_and_keep_what_they_say(shelf: WordShelf) -> None:
    row = shelf.create(EVERYBODY, "house")
    first, second = shelf.add(row.id, new(b"one")), shelf.add(row.id, new(b"two"))

    assert (first.version, second.version, shelf.get(row.id).latest) == (1, 2, 2)
    assert shelf.content(first.sha256) == b"one"
    assert shelf.versions(row.id) == [second, first]
    assert shelf.version(row.id, 1).findings[0]["word"] == "half \ufffd"


def test_the_newest_content_again_is_no_new_version(shelf: WordShelf) -> None:
    row = shelf.create(EVERYBODY, "house")
    first = shelf.add(row.id, new(b"one"))

    assert shelf.add(row.id, new(b"one")) == first
    shelf.add(row.id, new(b"two"))
    assert shelf.add(row.id, new(b"one")).version == 3
    assert WordContent.select().count() == 2


@pytest.mark.feature("D6")
def test_what_is_in_effect_is_where_the_list_points(shelf: WordShelf) -> None:
    row = shelf.create(EVERYBODY, "house")
    for body in (b"one", b"two"):
        shelf.add(row.id, new(body))
    assert shelf.in_effect([EVERYBODY]) == []

    before = shelf.epoch()
    shelf.point(row.id, 2)
    assert [(one.name, one.version) for one in shelf.in_effect([EVERYBODY])] == [("house", 2)]
    shelf.point(row.id, 1)

    assert [one.version for one in shelf.in_effect([EVERYBODY])] == [1]
    assert shelf.epoch() == before + 2
    with pytest.raises(ListNotFound):
        shelf.point(row.id, 9)
    assert shelf.get(row.id).published == 1


@pytest.mark.feature("D1")
def test_lists_are_found_by_their_owner(shelf: WordShelf) -> None:
    for owner in (EVERYBODY, SITE, DEVICE, Owner("local", "112233445566")):
        row = shelf.create(owner, "own")
        shelf.add(row.id, new(b"one"))
        shelf.point(row.id, 1)

    assert [one.owner for one in shelf.in_effect([SITE, DEVICE])] == [SITE, DEVICE]
    assert shelf.in_effect([]) == []
    assert shelf.owners(3) == {SITE, DEVICE, Owner("local", "112233445566")}
    assert shelf.owners(2) is None
    assert shelf.find(DEVICE, "own").owner.scope == "device"
    assert len(shelf.page(site="local", mac=None, after=0, limit=9)) == 3
    (only,) = shelf.page(site=None, mac=MAC, after=0, limit=9)
    assert shelf.page(site=None, mac=None, after=only.id, limit=1)[0].owner.mac == "112233445566"


def test_a_list_that_is_there_is_not_made_again(shelf: WordShelf) -> None:
    assert shelf.create(SITE, "own") == shelf.create(SITE, "own")
    with pytest.raises(InvalidInput, match="not a known site"):
        shelf.create(Owner("nobody"), "own")


@pytest.mark.feature("D6")
def test_a_removed_list_is_gone_with_all_that_only_it_had(shelf: WordShelf) -> None:
    row, other = shelf.create(EVERYBODY, "house"), shelf.create(SITE, "own")
    shelf.add(row.id, new(b"one"))
    kept = shelf.add(other.id, new(b"both"))
    shelf.add(row.id, new(b"both"))
    shelf.point(row.id, 1)
    before = shelf.epoch()

    assert shelf.remove(row.id) == [hashlib.sha256(b"one").hexdigest()]

    assert shelf.epoch() == before + 1
    assert shelf.in_effect([EVERYBODY]) == []
    assert shelf.content(kept.sha256) == b"both"
    assert WordVersion.select().count() == 1
    for call in (lambda: shelf.get(row.id), lambda: shelf.remove(row.id), lambda: shelf.add(row.id, new(b"x"))):
        with pytest.raises(ListNotFound):
            call()
    assert shelf.create(EVERYBODY, "house").id > other.id


def test_an_owner_has_only_so_many_lists(shelf: WordShelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_shelf, "LISTS_MAX", 1)
    shelf.create(SITE, "own")

    with pytest.raises(InvalidInput, match="one more than the 1"):
        shelf.create(SITE, "another")
    assert shelf.create(SITE, "own").name == "own"
    assert shelf.create(DEVICE, "another").name == "another"


def test_thousands_of_devices_are_asked_about_at_once(shelf: WordShelf) -> None:
    row = shelf.create(DEVICE, "own")
    shelf.add(row.id, new(b"one"))
    shelf.point(row.id, 1)

    others = [Owner("local", f"{index:012x}") for index in range(2_000)]
    assert [one.list_id for one in shelf.in_effect({*others, DEVICE})] == [row.id]


def test_a_content_that_was_changed_behind_our_back_is_refused(shelf: WordShelf) -> None:
    version = shelf.add(shelf.create(EVERYBODY, "house").id, new(b"one"))

    for body in (b"\x00garbage", b"x\x9c\x03\x00\x00\x00\x00\x01"):
        WordContent.update(body=body).execute()
        with pytest.raises(ListDamaged):
            shelf.content(version.sha256)
    with pytest.raises(ListNotFound):
        shelf.content("0" * 64)


@pytest.mark.feature("D6")
def test_many_who_change_lists_at_once_lose_nothing(shelf: WordShelf) -> None:
    row = shelf.create(EVERYBODY, "house")
    before = shelf.epoch()

    def bring_and_publish(name: str) -> None:
        with connection():
            for index in range(5):
                version = shelf.add(row.id, new(f"{name}{index}".encode()))
                shelf.point(row.id, version.version)

    with ThreadPoolExecutor() as pool:
        list(pool.map(bring_and_publish, "abcd"))

    versions = shelf.versions(row.id)
    assert [one.version for one in versions] == list(range(20, 0, -1))
    assert all(one.published_ms for one in versions)
    assert len({one.sha256 for one in versions}) == 20
    assert shelf.epoch() == before + 20
    assert shelf.in_effect([EVERYBODY])[0].version == shelf.get(row.id).published
