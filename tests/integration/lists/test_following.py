"""What processes screen by: whole lists, their own lists, and old ones rather than damaged ones."""

from pathlib import Path
from typing import Any

import pytest

from models.word_lists import EVERYBODY, Owner, WordContent, packed
from pipeline.detector.lexicon import Lexicon
from pipeline.errors import DatabaseUnavailable, ListUnavailable
from pipeline.lists import compiled, following
from pipeline.lists.compiled import object_key
from pipeline.lists.following import source_of_file
from tests.support.word_lists import Lists, versions_of, words_found

RED, BLUE = "aabbccddeeff", "112233445566"
TEXT = "网上赌场 代开发票 加我微信"


def spoil(lists: Lists, list_id: int, version: int, *, spare_store: bool = False) -> str:
    """Change one byte of what was compiled, in the store or in the file of the host."""
    sha256 = lists.shelf.version(list_id, version).sha256
    path = lists.folder / f"{sha256}.words"
    data = bytearray(lists.store.get(object_key(sha256)))
    data[len(data) // 2] ^= 1
    if not spare_store:
        lists.store.put(object_key(sha256), bytes(data))
        path.unlink(missing_ok=True)
    else:
        path.write_bytes(data)
    return sha256


@pytest.mark.feature("D1")
def test_lists_of_everybody_a_site_and_a_device_apply_together(lists: Lists) -> None:
    lists.publish("house", "网上赌场")
    lists.publish("shop", "代开发票", owner=Owner("local"))
    lists.publish("own", "加我微信", owner=Owner("local", RED))
    follower = lists.follower(Lexicon(["网上"]))

    assert words_found(follower, TEXT, mac=RED) == ["网上", "网上赌场", "代开发票", "加我微信"]
    assert words_found(follower, TEXT, mac=BLUE) == ["网上", "网上赌场", "代开发票"]
    assert words_found(follower, TEXT, site="other", mac=RED) == ["网上", "网上赌场"]
    assert versions_of(follower, mac=RED) == [("file", 0), ("house", 1), ("shop", 1), ("own", 1)]


@pytest.mark.feature("D1")
def test_a_new_list_of_a_device_is_noticed(lists: Lists) -> None:
    follower = lists.follower()
    assert words_found(follower, TEXT, mac=RED) == []

    row = lists.publish("own", "加我微信", owner=Owner("local", RED))
    follower.refresh()
    assert words_found(follower, TEXT, mac=RED) == ["加我微信"]
    assert words_found(follower, TEXT, mac=BLUE) == []

    lists.library.remove(row.id)
    follower.refresh()
    assert words_found(follower, TEXT, mac=RED) == []


@pytest.mark.feature("D6")
def test_a_damaged_compiled_list_leaves_the_old_version_in_use_and_says_so(lists: Lists) -> None:
    row = lists.publish("house", "网上赌场")
    follower = lists.follower()
    assert words_found(follower, TEXT) == ["网上赌场"]
    lists.publish("house", "代开发票")
    spoil(lists, row.id, 2)

    follower.refresh()

    assert words_found(follower, TEXT) == ["网上赌场"]
    (fault,) = follower.faults
    assert "house, version 2" in fault
    assert "version 1 stays in use" in fault
    assert "SHA-256" in fault


@pytest.mark.feature("D6")
def test_publishing_again_cures_a_damaged_list(lists: Lists) -> None:
    row = lists.publish("house", "网上赌场")
    follower = lists.follower()
    follower.open()
    lists.publish("house", "代开发票")
    spoil(lists, row.id, 2)
    follower.refresh()

    lists.library.publish(row.id)
    follower.refresh()

    assert follower.faults == ()
    assert words_found(follower, TEXT) == ["代开发票"]


@pytest.mark.feature("D6")
def test_a_damaged_list_of_a_kept_device_leaves_its_old_version_in_use(lists: Lists) -> None:
    owner = Owner("local", RED)
    row = lists.publish("own", "网上赌场", owner=owner)
    follower = lists.follower()
    assert words_found(follower, TEXT, mac=RED) == ["网上赌场"]
    lists.publish("own", "代开发票", owner=owner)
    spoil(lists, row.id, 2)

    follower.refresh()

    assert words_found(follower, TEXT, mac=RED) == ["网上赌场"]
    assert "device list own, version 2" in follower.faults[0]


@pytest.mark.feature("D6")
def test_a_damaged_first_version_of_a_kept_device_makes_its_tasks_wait(lists: Lists) -> None:
    lists.publish("first", "别的词", owner=Owner("local", RED))
    follower = lists.follower()
    assert words_found(follower, TEXT, mac=RED) == []
    row = lists.publish("own", "网上赌场", owner=Owner("local", RED))
    spoil(lists, row.id, 1)

    follower.refresh()

    assert "nothing of it is in use" in follower.faults[0]
    with pytest.raises(ListUnavailable):
        follower.detector("local", RED)
    assert words_found(follower, TEXT, mac=BLUE) == []


@pytest.mark.feature("D6")
def test_nobody_screens_by_less_than_is_in_effect(lists: Lists) -> None:
    row = lists.publish("house", "网上赌场")
    own = lists.publish("own", "代开发票", owner=Owner("local", RED))
    spoil(lists, own.id, 1)
    follower = lists.follower()

    with pytest.raises(ListUnavailable, match="publish it again"):
        follower.detector("local", RED)
    assert words_found(follower, TEXT, mac=BLUE) == ["网上赌场"]

    spoil(lists, row.id, 1)
    with pytest.raises(ListUnavailable):
        lists.follower().open()


@pytest.mark.feature("D6")
def test_a_damaged_file_of_the_host_is_fetched_anew(lists: Lists) -> None:
    row = lists.publish("house", "网上赌场")
    lists.follower().open()
    sha256 = spoil(lists, row.id, 1, spare_store=True)

    assert words_found(lists.follower(), TEXT) == ["网上赌场"]
    assert (lists.folder / f"{sha256}.words").read_bytes() == lists.store.get(object_key(sha256))


@pytest.mark.feature("D6")
@pytest.mark.parametrize("is_outdated", [False, True])
def test_what_is_missing_or_of_another_release_is_compiled_from_its_content(
    lists: Lists, monkeypatch: pytest.MonkeyPatch, is_outdated: bool
) -> None:
    row = lists.publish("house", "网上赌场")
    sha256 = lists.shelf.version(row.id, 1).sha256
    if is_outdated:
        monkeypatch.setattr("pipeline.detector.sections.FORMAT", 99)
    else:
        lists.store.delete(object_key(sha256))

    assert words_found(lists.follower(), TEXT) == ["网上赌场"]
    assert lists.store.exists(object_key(sha256))


def test_what_cannot_be_compiled_here_is_unavailable_and_not_at_fault_of_the_task(lists: Lists) -> None:
    owner = Owner("local", RED)
    row = lists.publish("own", "网上赌场", owner=owner)
    sha256 = lists.shelf.version(row.id, 1).sha256
    lists.store.delete(object_key(sha256))
    body = packed(b"of another release")
    WordContent.update(body=body).where(WordContent.sha256 == sha256).execute()

    with pytest.raises(ListUnavailable, match="hash"):
        lists.follower().detector("local", RED)

    lists.folder.write_text("no folder")
    with pytest.raises(ListUnavailable, match="cannot be used"):
        lists.follower().detector("local", RED)


@pytest.mark.feature("D6")
def test_a_screening_that_has_begun_goes_by_one_edition(lists: Lists) -> None:
    lists.publish("house", "网上赌场")
    follower = lists.follower()
    detector = follower.detector("local", RED)

    lists.publish("house", "代开发票")
    follower.refresh()

    assert [hit.word for hit in detector.screen(TEXT).hits] == ["网上赌场"]
    assert words_found(follower, TEXT, mac=RED) == ["代开发票"]


def test_lists_of_one_content_are_mapped_once(lists: Lists) -> None:
    for mac in (RED, BLUE):
        lists.publish("own", "网上赌场", owner=Owner("local", mac))
    follower = lists.follower()

    red, blue = (follower.detector("local", mac).sources[0].lexicon for mac in (RED, BLUE))
    assert red is blue


def test_only_so_many_devices_and_files_are_kept(lists: Lists, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "_DEVICES_KEPT", 2)
    monkeypatch.setattr(compiled, "_FILES_MAX", 2)
    follower = lists.follower()
    for index in range(4):
        lists.publish("own", f"网上赌场{index}", owner=Owner("local", f"00000000000{index}"))
    follower.open()
    for index in (0, 1, 0, 2, 3, 0):
        follower.detector("local", f"00000000000{index}")

    assert [mac[-1] for (_, mac), _ in follower.open().devices()] == ["3", "0"]
    assert len(list(lists.folder.iterdir())) == 2
    assert words_found(follower, "网上赌场1", mac="000000000001") == ["网上赌场1"]


def test_a_device_without_lists_of_its_own_costs_no_question(lists: Lists, monkeypatch: pytest.MonkeyPatch) -> None:
    lists.publish("house", "网上赌场")
    follower = lists.follower()
    follower.open()

    def ask(owners: object) -> list[Any]:
        raise AssertionError(owners)

    monkeypatch.setattr(lists.shelf, "in_effect", ask)
    assert follower.detector("local", RED) is follower.detector("elsewhere", BLUE)
    assert words_found(follower, TEXT, mac=RED) == ["网上赌场"]


def test_devices_of_a_site_with_lists_share_a_detector(lists: Lists) -> None:
    lists.publish("own", "网上赌场", owner=Owner("local"))
    follower = lists.follower()

    assert follower.detector("local", RED) is follower.detector("local", BLUE)
    assert words_found(follower, TEXT, mac=RED) == ["网上赌场"]


def test_with_too_many_lists_each_device_is_asked_for(lists: Lists, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "_OWNERS_MAX", 1)
    for mac in (RED, BLUE):
        lists.publish("own", "网上赌场", owner=Owner("local", mac))
    follower = lists.follower()

    assert words_found(follower, TEXT, mac=RED) == ["网上赌场"]
    assert words_found(follower, TEXT, mac="000000000009") == []


def test_a_silent_database_leaves_what_is_in_use(lists: Lists, monkeypatch: pytest.MonkeyPatch) -> None:
    lists.publish("house", "网上赌场")
    follower = lists.follower()
    follower.open()

    def silent() -> int:
        raise DatabaseUnavailable("no answer")

    monkeypatch.setattr(lists.shelf, "epoch", silent)
    with pytest.raises(DatabaseUnavailable):
        follower.refresh()
    assert words_found(follower, TEXT) == ["网上赌场"]


def test_the_list_in_a_file_of_the_host_applies_to_all(lists: Lists, tmp_path: Path) -> None:
    path = tmp_path / "host.csv"
    path.write_bytes("word,level\n网上赌场,4\n".encode("gbk"))
    follower: Any = lists.follower(source_of_file(path)[0].lexicon)

    assert words_found(follower, TEXT, mac=RED) == ["网上赌场"]
    assert lists.shelf.in_effect([EVERYBODY]) == []
