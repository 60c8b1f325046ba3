"""Devices: who has ever sent something, and what an operator has set for them."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

from peewee import (
    EXCLUDED,
    BigIntegerField,
    BooleanField,
    CharField,
    CompositeKey,
    DoubleField,
    Expression,
    ForeignKeyField,
    IntegerField,
    Tuple,
)

from models.base import BaseModel, Database, bound, connection, write
from models.prepared import Bound, Prepared, run, slots
from models.scope import EVERYTHING, Scope
from models.sites import Site, line_of


class Device(BaseModel):
    """One device of one site, and the rules by which the queue is to serve it: the queue is told them, this keeps them.

    A `weight` of 2 earns twice the share; None for `max_inflight` and `rate_per_minute` means no limit of its own;
    `paused_lanes` are separated by spaces. `is_ruled`: something is not as usual.
    """

    site = ForeignKeyField(Site, column_name="site", object_id_name="site_name", on_delete="CASCADE", index=False)
    mac = CharField(12)
    first_seen_ms = BigIntegerField()
    last_seen_ms = BigIntegerField()
    weight = DoubleField(default=1.0)
    max_inflight = IntegerField(null=True)
    is_paused = BooleanField(default=False)
    rate_per_minute = DoubleField(null=True)
    paused_lanes = CharField(64, default="")
    is_ruled = BooleanField(default=False)

    class Meta:
        primary_key = CompositeKey("site", "mac")


# A page of devices is read off an index, in the order of their MACs, whether of a site (the primary key) or of all.
Device.add_index(Device.mac, Device.site, name="device_mac")
Device.add_index(Device.mac, Device.site, where=Device.is_ruled, name="device_ruled_mac")
Device.add_index(Device.site, Device.mac, where=Device.is_ruled, name="device_ruled_site")


@dataclass(frozen=True, slots=True)
class SetRules:
    """How a device is to be served; ranges as in `pipeline.queue.types.DeviceRules`."""

    weight: float = 1.0
    max_inflight: int | None = None
    rate_per_minute: float | None = None
    is_paused: bool = False
    paused_lanes: frozenset[str] = frozenset()


class DevicePlace(NamedTuple):
    """Where a page of devices begins: after this one."""

    mac: str
    site: str


@dataclass(frozen=True, slots=True)
class DeviceRow:
    """A device as the database has it; times in epoch ms."""

    site: str
    mac: str
    first_seen_ms: int
    last_seen_ms: int
    rules: SetRules

    @property
    def place(self) -> DevicePlace:
        return DevicePlace(self.mac, self.site)

    @property
    def line(self) -> str:
        """The device, as the queue knows it."""
        return line_of(self.site, self.mac)


class Devices:
    """The devices of a database; every method raises `DatabaseUnavailable`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def named(self, macs: Collection[str], scope: Scope = EVERYTHING) -> list[DeviceRow]:
        """The devices of these MACs: as many of each as there are sites that know it."""
        if not macs:
            return []
        found = Device.select().where(Device.mac.in_(sorted(macs)), *scope.conditions(Device))
        return self._rows(found.order_by(Device.mac, Device.site))

    def page(
        self, scope: Scope, *, prefix: str = "", only_ruled: bool = False, after: DevicePlace | None, limit: int
    ) -> list[DeviceRow]:
        """The next devices, by MAC and site.

        Args:
            prefix: of the MAC, in lowercase hex digits.
            only_ruled: those for which an operator has set something.
        """
        conditions: list[Expression] = list(scope.conditions(Device))
        if prefix:
            # `g` is behind every hex digit.
            conditions += [Device.mac >= prefix, Device.mac < prefix + "g"]
        if only_ruled:
            conditions.append(cast(Expression, Device.is_ruled))
        if after is not None:
            conditions.append(Tuple(Device.mac, Device.site) > Tuple(*after))
        query = Device.select().order_by(Device.mac, Device.site)
        return self._rows((query.where(*conditions) if conditions else query).limit(limit))

    def count_paused(self, *, most: int) -> int:
        """How many devices are paused, as a whole or in a lane; `most` when there are more."""
        is_paused = Device.is_ruled & (Device.is_paused | (Device.paused_lanes != ""))
        with connection(self._database):
            return int(Device.select().where(is_paused).limit(most).count())

    def change(
        self, place: DevicePlace, merge: Callable[[SetRules], SetRules], tell: Callable[[DeviceRow], None]
    ) -> DeviceRow | None:
        """Change what is set for a device; None when there is none. One change of a device at a time.

        Args:
            merge: makes the new rules of the old ones.
            tell: tells the queue; what it raises leaves everything here as it was.
        """
        is_it = (Device.site == place.site) & (Device.mac == place.mac)
        with write(self._database):
            # Writing the row, though nothing changes, keeps other changes out until this one is done.
            held = list(Device.update(is_ruled=Device.is_ruled).where(is_it).returning(Device).execute())
            if not held:
                return None
            row = _device_row(held[0])
            changed = replace(row, rules=merge(row.rules))
            Device.update(**_columns_of(changed.rules)).where(is_it).execute()
            tell(changed)
            return changed

    def _rows(self, query: Any) -> list[DeviceRow]:
        with connection(self._database):
            return [_device_row(device) for device in cast("Iterable[Device]", query)]


def _noted() -> Any:
    given = slots({name: getattr(Device, name) for name in ("site", "mac", "first_seen_ms", "last_seen_ms")})
    return Device.insert(**given).on_conflict(
        conflict_target=[Device.site, Device.mac],
        preserve=[Device.last_seen_ms],
        where=(Device.last_seen_ms < EXCLUDED.last_seen_ms),
    )


_NOTED = Prepared(_noted)


def device_noted(database: Database, site: str, mac: str, seen_ms: int) -> Bound:
    """The statement that enters a device, or moves its `last_seen_ms` on, never back."""
    return _NOTED.bind(database, {"site": site, "mac": mac, "first_seen_ms": seen_ms, "last_seen_ms": seen_ms})


def note_device(site: str, mac: str, seen_ms: int) -> None:
    """Enter a device, or move its `last_seen_ms` on, never back; inside the caller's transaction."""
    database = bound()
    run(database, device_noted(database, site, mac, seen_ms))


def _columns_of(rules: SetRules) -> dict[str, Any]:
    own = {name: getattr(rules, name) for name in SetRules.__dataclass_fields__}
    return {**own, "paused_lanes": " ".join(sorted(rules.paused_lanes)), "is_ruled": rules != SetRules()}


def _device_row(device: Device) -> DeviceRow:
    set_rules = {name: getattr(device, name) for name in SetRules.__dataclass_fields__}
    return DeviceRow(
        site=str(device.site_name),  # type: ignore[attr-defined]
        mac=device.mac,
        first_seen_ms=device.first_seen_ms,
        last_seen_ms=device.last_seen_ms,
        rules=SetRules(**{**set_rules, "paused_lanes": frozenset(device.paused_lanes.split())}),
    )
