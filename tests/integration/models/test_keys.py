"""API keys in the database: made, rotated, revoked; and when the web may listen where."""

import dataclasses
from pathlib import Path

import pytest

from models.base import Database
from models.key_text import hash_key, key_id_of, make_key, signing_secret
from models.keys import ApiKeys, WantedKey, insist_on_keys
from models.sites import Site, line_of, site_fault
from pipeline.errors import ConfigurationError, InvalidInput, KeyConflict, KeyNotFound
from pipeline.settings import Settings
from tests.support.clock import FakeClock
from tests.support.records import everything

WANTED = WantedKey("gate 3", "north", "device", ("aabbccddeeff",), None)


@pytest.fixture
def keys(database: Database, clock: FakeClock) -> ApiKeys:
    return ApiKeys(database, clock)


@pytest.mark.feature("H3")
def test_a_key_is_kept_as_its_hash_and_shown_once(keys: ApiKeys) -> None:
    key, text = keys.create(dataclasses.replace(WANTED, must_sign=True))

    assert key_id_of(text) == key.key_id
    assert text.rpartition("_")[2] not in str(everything())
    assert key.key_hash == hash_key(text)
    assert key.signing_secret == signing_secret(text)
    shown = str(key.shown(0)) + repr(key)
    assert key.key_hash not in shown
    assert str(key.signing_secret) not in shown
    assert keys.get(key.key_id) == key


def test_a_key_brings_its_site(keys: ApiKeys) -> None:
    keys.create(WANTED)
    keys.create(WANTED)

    assert sorted(site.site for site in Site.select()) == ["local", "north"]


def test_keys_differ_and_have_256_random_bits() -> None:
    made = {make_key() for _ in range(100)}

    assert len({key.key_id for key in made}) == 100
    assert all(len(bytes.fromhex(key.text.rpartition("_")[2])) == 32 for key in made)


_SECRET = "0123456789abcdef_" + "0" * 64


@pytest.mark.parametrize("text", ["", "fl_", "fl_0_0", "FL_" + _SECRET, "xfl_" + _SECRET])
def test_what_is_no_key_has_no_id(text: str) -> None:
    assert key_id_of(text) is None
    assert key_id_of(make_key().text + "\n") is None


def test_a_device_key_of_every_site_is_refused(keys: ApiKeys) -> None:
    with pytest.raises(InvalidInput):
        keys.create(dataclasses.replace(WANTED, site="*"))


@pytest.mark.feature("H3")
def test_rotation_keeps_the_rights_and_ends_the_old_key(keys: ApiKeys, clock: FakeClock) -> None:
    old, _ = keys.create(dataclasses.replace(WANTED, lifetime_ms=100_000, must_sign=True))
    clock.advance(50_000)
    new, _ = keys.rotate(old.key_id, overlap_ms=10_000)

    assert (new.site, new.role, new.macs, new.name) == (old.site, old.role, old.macs, old.name)
    assert new.signing_secret is not None
    assert new.expires_ms == clock.now_ms() + 100_000
    states = [key.state(clock.now_ms()) for key in keys.all()]
    assert states == ["ending", "valid"]
    clock.advance(10_000)
    assert [key.state(clock.now_ms()) for key in keys.all()] == ["expired", "valid"]


def test_rotation_never_prolongs_the_old_key(keys: ApiKeys, clock: FakeClock) -> None:
    old, _ = keys.create(dataclasses.replace(WANTED, lifetime_ms=5_000))
    keys.rotate(old.key_id, overlap_ms=60_000)

    assert next(key.expires_ms for key in keys.all()) == clock.now_ms() + 5_000


def test_only_a_valid_key_without_successor_is_rotated(keys: ApiKeys, clock: FakeClock) -> None:
    old, _ = keys.create(WANTED)
    keys.rotate(old.key_id, overlap_ms=10_000)
    with pytest.raises(KeyConflict, match="ending"):
        keys.rotate(old.key_id, overlap_ms=10_000)
    keys.revoke(old.key_id)
    with pytest.raises(KeyConflict, match="revoked"):
        keys.rotate(old.key_id, overlap_ms=10_000)
    with pytest.raises(KeyNotFound):
        keys.rotate("0" * 16, overlap_ms=10_000)
    assert len(keys.all()) == 2


def test_revoking_again_keeps_the_first_time(keys: ApiKeys, clock: FakeClock) -> None:
    key, _ = keys.create(WANTED)
    began_ms = clock.now_ms()
    keys.revoke(key.key_id)
    clock.advance(1_000)

    assert keys.revoke(key.key_id).revoked_ms == began_ms
    with pytest.raises(KeyNotFound):
        keys.revoke("0" * 16)


@pytest.mark.feature("H3")
@pytest.mark.parametrize("bind", ["0.0.0.0:8000", "[::]:8000", "192.168.1.5:80", "example.org:80"])
def test_other_addresses_than_loopback_need_a_key_that_is_good(
    keys: ApiKeys, clock: FakeClock, tmp_path: Path, bind: str
) -> None:
    settings = Settings(_env_file=None, data_dir=tmp_path, web_bind=bind)
    with pytest.raises(ConfigurationError, match="fairlane key create"):
        insist_on_keys(settings, keys)
    key, _ = keys.create(WANTED)
    insist_on_keys(settings, keys)
    keys.revoke(key.key_id)
    with pytest.raises(ConfigurationError):
        insist_on_keys(settings, keys)


def test_loopback_needs_no_key(keys: ApiKeys, tmp_path: Path) -> None:
    insist_on_keys(Settings(_env_file=None, data_dir=tmp_path), keys)


@pytest.mark.parametrize("name", ["", "*", "A", "a:b", "a@b", "-a", "a-", "a" * 33, "ａ", "a\n", "a b", "a/b"])
def test_what_is_no_name_of_a_site(name: str) -> None:
    assert site_fault(name)


def test_lines_of_two_sites_never_have_one_name() -> None:
    assert line_of("local", "aabbccddeeff") == "aabbccddeeff"
    assert line_of("north", "aabbccddeeff") == "aabbccddeeff@north"
    assert site_fault("north-2") is None
