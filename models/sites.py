"""Sites, and the keys with which they come."""

import hashlib

from peewee import BigIntegerField, CharField, FixedCharField, ForeignKeyField, JSONField

from models.base import BaseModel

#: The site of everything that comes without a key; it exists after the first migration.
LOCAL_SITE = "local"


class Site(BaseModel):
    """The owner of keys and devices."""

    site = CharField(64, primary_key=True)
    created_ms = BigIntegerField()


class ApiKey(BaseModel):
    """A key of a site; the key itself is stored nowhere.

    Its `role` is device, viewer, operator or admin; with `bound_macs` it speaks for these devices only.
    """

    key_hash = FixedCharField(64, primary_key=True)
    site = ForeignKeyField(Site, column_name="site", object_id_name="site_name", on_delete="CASCADE")
    name = CharField(128)
    role = CharField(16)
    bound_macs = JSONField(null=True)
    created_ms = BigIntegerField()
    revoked_ms = BigIntegerField(null=True)


def hash_key(key: str) -> str:
    """Return the SHA-256 under which a key is stored, 64 hexadecimal digits.

    A key is 256 random bits, so that a slow password hash would add nothing but its 156 ms (docs/why/dependencies.md).
    """
    return hashlib.sha256(key.encode()).hexdigest()
