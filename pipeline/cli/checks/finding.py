"""What one check of `fairlane doctor` has found."""

from typing import NamedTuple


class Check(NamedTuple):
    """One finding.

    Args:
        cure: what to do when it is not fine; of what is fine, what an operator should know all the same.
    """

    name: str
    is_fine: bool
    found: str
    cure: str

    @property
    def mark(self) -> str:
        if not self.is_fine:
            return "NO"
        return "note" if self.cure else "ok"


def fine(name: str, found: str) -> Check:
    return Check(name, is_fine=True, found=found, cure="")


def note(name: str, found: str, advice: str) -> Check:
    """Fine, but not what most want."""
    return Check(name, is_fine=True, found=found, cure=advice)


def wrong(name: str, found: str, cure: str) -> Check:
    return Check(name, is_fine=False, found=found, cure=cure)
