"""Whoever makes a request: known before any resource is asked, and the only source of its site."""

from collections.abc import Callable
from dataclasses import dataclass

import falcon

from models.keys import KeyRow, Role
from models.scope import EVERYTHING, Scope
from models.sites import EVERY_SITE, LOCAL_SITE
from pipeline.errors import Forbidden, NotYourDevice
from web.access import Access


def _count_nothing(_site: str, _mac: str) -> None:
    """No limit applies."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks.

    Args:
        actor: for logs and the audit: `key:<id>`, or `open` while no key exists.
        scope: what there is for it; all else is as if it were not there.
        count_device: takes one request out of the bucket of a device; raises RateLimited.
    """

    actor: str
    role: Role
    scope: Scope
    count_device: Callable[[str, str], None] = _count_nothing

    def may(self, access: Access) -> bool:
        """Say whether the caller may do such things."""
        is_whole_site = self.scope.macs is None
        is_wide_enough = {
            Access.HOUSE: is_whole_site and self.scope.site is None,
            Access.MEASURE: is_whole_site and self.scope.site is None,
            Access.MANAGE: is_whole_site,
        }.get(access, True)
        return self.role in access.roles and is_wide_enough

    def insist(self, access: Access) -> None:
        """Return when the caller may do such things.

        Raises: Forbidden.
        """
        if not self.may(access):
            raise Forbidden(f"{self.actor} ({self.role}) may not do this: {access.value}")

    def site_for(self, mac: str) -> str:
        """The site into which something of this device goes; counts one request of the device.

        Args:
            mac: normalised.
        Raises: NotYourDevice, RateLimited.
        """
        if self.scope.macs is not None and mac not in self.scope.macs:
            raise NotYourDevice(f"{self.actor} does not speak for this device")
        site = self.scope.site or LOCAL_SITE
        self.count_device(site, mac)
        return site


def caller_of(req: falcon.Request) -> Caller:
    """The caller of a request that needs one."""
    caller: Caller = req.context.caller
    return caller


def caller_with(key: KeyRow, count_device: Callable[[str, str], None]) -> Caller:
    """The caller who has shown this key."""
    site = None if key.site == EVERY_SITE else key.site
    macs = frozenset(key.macs) if key.macs else None
    return Caller(f"key:{key.key_id}", key.role, Scope(site, macs), count_device)


#: Whoever reaches a service that has no keys yet: this machine's own users, so they may do everything.
OPEN_CALLER = Caller("open", "admin", EVERYTHING)
