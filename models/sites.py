"""Sites: the owners of keys and devices."""

import re

from peewee import BigIntegerField, CharField

from models.base import BaseModel

#: The site of everything that comes without a key; it exists after the first migration.
LOCAL_SITE = "local"
#: Written in place of a site by those who mean all of them; no site can be called so.
EVERY_SITE = "*"

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?", re.ASCII)


class Site(BaseModel):
    """The owner of keys and devices."""

    site = CharField(64, primary_key=True)
    created_ms = BigIntegerField()


def site_fault(name: str) -> str | None:
    """Say what is wrong with the name of a site, None when nothing is."""
    return None if _NAME.fullmatch(name) else "must be 1 to 32 characters of a-z 0-9 -, with no - at either end"


def line_of(site: str, mac: str) -> str:
    """The name under which the queue knows a device: two sites that use one MAC have two devices, with nothing shared.

    A MAC is a label that anybody may write on a request; without the site in it, one site could fill, pause or slow the
    line of another's device.
    """
    return mac if site == LOCAL_SITE else f"{mac}@{site}"
