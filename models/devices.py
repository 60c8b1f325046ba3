"""Devices: who has ever sent something, and what an operator has set for them."""

from peewee import (
    EXCLUDED,
    BigIntegerField,
    BooleanField,
    CharField,
    CompositeKey,
    DoubleField,
    ForeignKeyField,
    IntegerField,
)

from models.base import BaseModel
from models.sites import Site


class Device(BaseModel):
    """One device of one site. A `weight` of 2 earns twice the share; `max_inflight` None means no limit of its own."""

    site = ForeignKeyField(Site, column_name="site", object_id_name="site_name", on_delete="CASCADE", index=False)
    mac = CharField(12)
    first_seen_ms = BigIntegerField()
    last_seen_ms = BigIntegerField()
    weight = DoubleField(default=1.0)
    max_inflight = IntegerField(null=True)
    is_paused = BooleanField(default=False)

    class Meta:
        primary_key = CompositeKey("site", "mac")


def note_device(site: str, mac: str, seen_ms: int) -> None:
    """Enter a device, or move its `last_seen_ms` on, never back; inside the caller's transaction."""
    Device.insert(site=site, mac=mac, first_seen_ms=seen_ms, last_seen_ms=seen_ms).on_conflict(
        conflict_target=[Device.site, Device.mac],
        preserve=[Device.last_seen_ms],
        where=(Device.last_seen_ms < EXCLUDED.last_seen_ms),
    ).returning(Device.mac).execute()
