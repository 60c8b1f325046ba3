"""Which rows somebody may see: those of a site, or of some devices of it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from peewee import Expression


class Owned(Protocol):
    """A row that belongs to a device of a site."""

    @property
    def site(self) -> str: ...

    @property
    def mac(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Scope:
    """The part of the data that somebody has to do with; the empty one is all of it.

    Args:
        site: only this site's; None: every site's.
        macs: only these devices'; None: every device's of the site.
    """

    site: str | None = None
    macs: frozenset[str] | None = None

    def covers(self, row: Owned) -> bool:
        """Say whether the row is inside."""
        return self.site in (None, row.site) and (self.macs is None or row.mac in self.macs)

    def conditions(self, model: Any) -> Iterator[Expression]:
        """What a table with the columns `site` and `mac` is asked, so that rows outside are as if they were not."""
        if self.site is not None:
            yield model.site == self.site
        if self.macs is not None:
            yield model.mac.in_(sorted(self.macs))


#: No bounds.
EVERYTHING = Scope()
