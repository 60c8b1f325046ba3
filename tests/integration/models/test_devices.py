"""Devices in the database: pages off an index, and changes that never mix."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from models.base import Database, write
from models.devices import DevicePlace, DeviceRow, Devices, SetRules, note_device
from models.scope import EVERYTHING, Scope
from models.sites import Site
from pipeline.errors import QueueUnavailable

RED = "aa0000000001"


@pytest.fixture
def devices(database: Database) -> Devices:
    """Three devices of `local`, one of them also of `north`."""
    with write(database):
        Site.insert(site="north", created_ms=1).returning(Site.site).execute()
        for site, mac in (("local", RED), ("north", RED), ("local", "aa0000000002"), ("local", "bb0000000001")):
            note_device(site, mac, 5)
    return Devices(database)


def places(rows: list[DeviceRow]) -> list[tuple[str, str]]:
    return [(row.mac[:2] + row.mac[-1], row.site) for row in rows]


def test_pages_go_by_mac_and_hold_each_device_once(devices: Devices) -> None:
    first = devices.page(EVERYTHING, after=None, limit=3)
    rest = devices.page(EVERYTHING, after=first[-1].place, limit=3)

    assert places([*first, *rest]) == [("aa1", "local"), ("aa1", "north"), ("aa2", "local"), ("bb1", "local")]
    assert places(devices.page(Scope("north"), after=None, limit=9)) == [("aa1", "north")]
    assert places(devices.page(EVERYTHING, prefix="b", after=None, limit=9)) == [("bb1", "local")]
    assert places(devices.page(Scope("local"), prefix="aa", after=first[0].place, limit=9)) == [("aa2", "local")]
    assert places(devices.named([RED], Scope("north"))) == [("aa1", "north")]


@pytest.mark.feature("Q18")
def test_what_is_set_is_kept_and_what_the_queue_did_not_hear_is_not(devices: Devices) -> None:
    place = DevicePlace(RED, "north")
    wanted = SetRules(2.0, 3, 0.5, is_paused=True, paused_lanes=frozenset({"ocr", "text"}))
    told: list[DeviceRow] = []

    def refuse(_: DeviceRow) -> None:
        raise QueueUnavailable("silent")

    assert devices.change(place, lambda _: wanted, told.append) == told[0]
    with pytest.raises(QueueUnavailable):
        devices.change(place, lambda rules: replace(rules, weight=9.0), refuse)

    assert [row.rules for row in devices.page(EVERYTHING, only_ruled=True, after=None, limit=9)] == [wanted]
    devices.change(place, lambda _: SetRules(), told.append)
    assert devices.page(EVERYTHING, only_ruled=True, after=None, limit=9) == []
    assert devices.change(DevicePlace("cc0000000001", "local"), lambda rules: rules, refuse) is None


@pytest.mark.feature("Q18")
def test_changes_of_one_device_at_the_same_time_are_all_kept(devices: Devices) -> None:
    def tell(_: DeviceRow) -> None:
        """The queue hears it."""

    def add_one(_: int) -> None:
        devices.change(
            DevicePlace(RED, "local"), lambda rules: replace(rules, max_inflight=(rules.max_inflight or 0) + 1), tell
        )

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(add_one, range(12)))

    (row,) = devices.named([RED], Scope("local"))
    assert row.rules.max_inflight == 12


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    ("scope", "prefix", "only_ruled", "index"),
    [
        (EVERYTHING, "", False, "device_mac"),
        (EVERYTHING, "aa", False, "device_mac"),
        (EVERYTHING, "", True, "device_ruled_mac"),
        (Scope("local"), "", False, "sqlite_autoindex_device_1"),
        (Scope("local"), "aa", False, "sqlite_autoindex_device_1"),
        (Scope("local"), "", True, "device_ruled_site"),
    ],
)
def test_each_page_is_read_off_an_index_in_its_order(
    devices: Devices,
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    scope: Scope,
    prefix: str,
    only_ruled: bool,
    index: str,
) -> None:
    plans: list[str] = []
    ask = database.execute_sql

    def explain(sql: str, parameters: object = None, *rest: object) -> object:
        plans.append(" ".join(row[3] for row in ask(f"EXPLAIN QUERY PLAN {sql}", parameters).fetchall()))
        return ask(sql, parameters, *rest)

    monkeypatch.setattr(database, "execute_sql", explain)
    devices.page(scope, prefix=prefix, only_ruled=only_ruled, after=DevicePlace("aa", "local"), limit=2)

    assert f"INDEX {index}" in plans[0]
    assert "TEMP B-TREE" not in plans[0]
