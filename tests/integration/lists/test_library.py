"""The way of a list: draft, linter, compiled form, in effect, back, gone."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from models.base import connection
from models.word_lists import EVERYBODY, Owner
from pipeline.errors import InvalidInput, ListNotFound, ListRefused, StorageUnavailable
from pipeline.lists.compiled import object_key
from pipeline.lists.reading import list_of, read_list
from tests.support.service import BrokenStore
from tests.support.word_lists import Lists, versions_of, words_found


@pytest.mark.feature("D6")
def test_a_list_goes_from_draft_to_effect_and_back(lists: Lists) -> None:
    lists.publish("house", "网上赌场")
    draft = lists.library.bring(EVERYBODY, "house", list_of({"deny": ["代开发票"]}), "test")
    follower, text = lists.follower(), "网上赌场 代开发票"

    assert words_found(follower, text) == ["网上赌场"]
    lists.library.publish(draft.list_id)
    assert follower.refresh()
    assert words_found(follower, text) == ["代开发票"]
    assert lists.library.roll_back(draft.list_id).published == 1
    assert follower.refresh()
    assert words_found(follower, text) == ["网上赌场"]
    assert not follower.refresh()


@pytest.mark.feature("D6")
def test_a_roll_back_goes_to_what_was_in_effect_only(lists: Lists) -> None:
    row = lists.publish("house", "one")
    draft = lists.library.bring(EVERYBODY, "house", list_of({"deny": ["never published"]}), "test")
    lists.publish("house", "three")

    with pytest.raises(ListNotFound, match="never in effect"):
        lists.library.roll_back(row.id, draft.version)
    assert lists.library.roll_back(row.id).published == 1
    with pytest.raises(ListNotFound, match="no version before"):
        lists.library.roll_back(row.id)
    assert lists.library.roll_back(row.id, 3).published == 3


@pytest.mark.feature("D6")
def test_errors_block_publishing_and_warnings_want_to_be_overruled(lists: Lists) -> None:
    wrong = lists.library.bring(EVERYBODY, "wrong", list_of({"regex": [{"id": "x", "pattern": "(a"}]}), "test")
    short = lists.library.bring(EVERYBODY, "short", read_list("词语\n好\n".encode("gbk"), "txt"), "test")

    for force in (False, True):
        with pytest.raises(ListRefused, match="RE2"):
            lists.library.publish(wrong.list_id, force=force)
    with pytest.raises(ListRefused) as caught:
        lists.library.publish(short.list_id)
    assert caught.value.problems[0].pointer == "line 2"
    assert lists.shelf.in_effect([EVERYBODY]) == []

    assert lists.library.publish(short.list_id, force=True).published == 1


@pytest.mark.feature("D6")
def test_two_publishers_at_once_leave_one_whole_version_in_effect(lists: Lists) -> None:
    row = lists.publish("house", "before")

    def publish(word: str) -> int | None:
        with connection():
            version = lists.library.bring(EVERYBODY, "house", list_of({"deny": [word]}), "test")
            return lists.library.publish(row.id, version.version).published

    with ThreadPoolExecutor() as pool:
        done = list(pool.map(publish, ("网上赌场", "代开发票")))

    assert sorted(done, key=str) == [2, 3]
    follower = lists.follower()
    ((_, version),) = versions_of(follower)
    body = lists.shelf.content(lists.shelf.version(row.id, version).sha256).decode()
    (found,) = words_found(follower, "网上赌场 代开发票")
    assert found in body


@pytest.mark.feature("D6")
def test_a_removed_list_is_in_effect_no_more(lists: Lists) -> None:
    row = lists.publish("house", "网上赌场")
    sha256 = lists.shelf.version(row.id, 1).sha256
    follower = lists.follower()
    assert words_found(follower, "网上赌场") == ["网上赌场"]

    lists.library.remove(row.id)
    follower.refresh()

    assert words_found(follower, "网上赌场") == []
    assert not lists.store.exists(object_key(sha256))
    with pytest.raises(ListNotFound):
        lists.library.publish(row.id)


def test_nothing_is_in_effect_that_cannot_be_stored(lists: Lists) -> None:
    version = lists.library.bring(EVERYBODY, "house", list_of({"deny": ["网上赌场"]}), "test")
    lists.library.compiled._store = BrokenStore()  # type: ignore[assignment]

    with pytest.raises(StorageUnavailable):
        lists.library.publish(version.list_id)
    assert lists.shelf.in_effect([EVERYBODY]) == []


@pytest.mark.parametrize("name", ["", "a b", "../x", "名", "x" * 65])
def test_a_name_that_fits_no_url_is_refused(lists: Lists, name: str) -> None:
    with pytest.raises(InvalidInput):
        lists.library.bring(EVERYBODY, name, list_of([]), "test")


def test_a_list_without_a_version_cannot_be_published(lists: Lists) -> None:
    row = lists.shelf.create(Owner("local"), "empty")

    with pytest.raises(ListNotFound, match="no version yet"):
        lists.library.publish(row.id)
