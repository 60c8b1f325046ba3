"""Who may do what: each operation declares one of these, and what declares none is for nobody."""

from enum import Enum

from models.keys import ROLES, Role

_ALL = frozenset(ROLES)


class Access(Enum):
    """A kind of operation."""

    #: What an operation has that declares nothing.
    NOBODY = "nobody"
    #: Without any key: probes and the description.
    OPEN = "open"
    #: Hand something in for a device, or take it back.
    SUBMIT = "submit"
    #: Look at one thing whose id is known; a device at its own only.
    OWN = "own"
    #: Look through everything of a site.
    READ = "read"
    #: Look at what all sites share: lanes, workers, load. Only with a key of every site and every device.
    HOUSE = "house"
    #: As `HOUSE`, for a scraper: goes on for a while when the database, where the keys are, does not answer.
    MEASURE = "measure"
    #: Replay, drop, pause.
    ACT = "act"
    #: Keys, words, the audit. Only with a key of every device.
    MANAGE = "manage"

    @property
    def roles(self) -> frozenset[Role]:
        """The roles whose keys may do it."""
        return _ROLES[self]


_ROLES: dict[Access, frozenset[Role]] = {
    Access.NOBODY: frozenset(),
    Access.OPEN: _ALL,
    Access.SUBMIT: _ALL - {"viewer"},
    Access.OWN: _ALL,
    Access.READ: _ALL - {"device"},
    Access.HOUSE: _ALL - {"device"},
    Access.MEASURE: _ALL - {"device"},
    Access.ACT: frozenset({"operator", "admin"}),
    Access.MANAGE: frozenset({"admin"}),
}
