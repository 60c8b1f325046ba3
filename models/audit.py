"""The audit: who did what to what, and when. A line is written before the deed, so that none goes unrecorded."""

from dataclasses import dataclass

from peewee import BigAutoField, BigIntegerField, CharField, TextField

from models.base import BaseModel, Database, connection, write
from models.text import storable
from pipeline.clock import Clock

#: Characters of a target that are kept.
_TARGET_MAX_CHARS = 2_000


class AuditLine(BaseModel):
    """One deed; `outcome` is empty while it is under way, and for ever when the process died over it."""

    id = BigAutoField()
    at_ms = BigIntegerField()
    actor = CharField(128)
    site = CharField(64, null=True)
    action = CharField(64)
    target = TextField(default="")
    outcome = CharField(16, default="")


# Each page of a site is read off an index, newest first.
AuditLine.add_index(AuditLine.site, AuditLine.id, name="audit_line_site")


@dataclass(frozen=True, slots=True)
class Deed:
    """Something that somebody does.

    Args:
        actor: `key:<id>`, `cli:<user>`, or `open` while no key exists.
        site: whose data; None: every site's.
    """

    actor: str
    site: str | None
    action: str
    target: str = ""


@dataclass(frozen=True, slots=True)
class AuditRow:
    """A line of the audit; `at_ms` is epoch ms."""

    id: int
    at_ms: int
    actor: str
    site: str | None
    action: str
    target: str
    outcome: str


class AuditTrail:
    """The audit of the bound database. Every method raises `DatabaseUnavailable`."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def begin(self, deed: Deed) -> int:
        """Record that somebody is about to do something; return the number of the line."""
        with write(self._database):
            line = AuditLine.create(
                at_ms=self._clock.now_ms(),
                actor=storable(deed.actor)[:128],
                site=deed.site,
                action=deed.action[:64],
                target=storable(deed.target)[:_TARGET_MAX_CHARS],
            )
            return int(line.id)

    def end(self, line_id: int, outcome: str, *, more: str = "") -> None:
        """Record how it came out.

        Args:
            more: what the target was besides, known only now.
        """
        with write(self._database):
            line = AuditLine.get_or_none(AuditLine.id == line_id)
            if line is None:  # somebody has tidied up
                return
            target = f"{line.target} {storable(more)}".strip()[:_TARGET_MAX_CHARS]
            AuditLine.update(outcome=outcome[:16], target=target).where(AuditLine.id == line_id).execute()

    def page(self, *, site: str | None, before: int | None, limit: int) -> list[AuditRow]:
        """The next lines, newest first.

        Args:
            site: only of this site; None: all lines.
            before: the last number of the page before; None for the first page.
        """
        where = [AuditLine.id > 0]
        if site is not None:
            where.append(AuditLine.site == site)
        if before is not None:
            where.append(AuditLine.id < before)
        with connection(self._database):
            lines = AuditLine.select().where(*where).order_by(AuditLine.id.desc()).limit(limit)
            return [AuditRow(**{name: getattr(line, name) for name in AuditRow.__dataclass_fields__}) for line in lines]
