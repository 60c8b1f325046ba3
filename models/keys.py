"""API keys: made, shown, rotated, revoked. What a key opens is decided in `web`; here it is kept."""

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal, cast

from peewee import BigIntegerField, CharField, FixedCharField, ForeignKeyField, JSONField

from models.base import BaseModel, Database, connection, write
from models.key_text import hash_key, make_key, signing_secret
from models.sites import EVERY_SITE, Site
from pipeline.clock import Clock
from pipeline.errors import ConfigurationError, FieldProblem, InvalidInput, KeyConflict, KeyNotFound
from pipeline.network import is_loopback
from pipeline.settings import Settings

Role = Literal["device", "viewer", "operator", "admin"]
ROLES: tuple[Role, ...] = ("device", "viewer", "operator", "admin")

#: How old the time of the last use may get before it is written again: not every request writes.
_USE_NOTED_EVERY_MS = 60_000


class ApiKey(BaseModel):
    """A key; its text is stored nowhere. `site` is null when it is for all of them.

    `signing_secret` is there when its requests must be signed; whoever reads it can sign, so it is shown to nobody.
    """

    key_id = FixedCharField(16, primary_key=True)
    key_hash = FixedCharField(64)
    signing_secret = FixedCharField(64, null=True)
    site = ForeignKeyField(Site, column_name="site", object_id_name="site_name", on_delete="CASCADE", null=True)
    name = CharField(128)
    role = CharField(16)
    bound_macs = JSONField(null=True)
    created_ms = BigIntegerField()
    expires_ms = BigIntegerField(null=True)
    revoked_ms = BigIntegerField(null=True)
    last_used_ms = BigIntegerField(null=True)
    replaced_by = FixedCharField(16, null=True)


@dataclass(frozen=True, slots=True)
class WantedKey:
    """A key to be made.

    Args:
        site: its owner; `*` for every site, which a device key may not have.
        macs: the only devices it speaks for and sees; none: all of its site.
        lifetime_ms: how long it is good for; None: until it is revoked.
        must_sign: whether each of its requests must be signed.
    """

    name: str
    site: str
    role: Role
    macs: tuple[str, ...] = ()
    lifetime_ms: int | None = None
    must_sign: bool = False


@dataclass(frozen=True, slots=True)
class KeyRow:
    """A key as it is kept; times in epoch ms. Its hash and its signing secret stay out of its `repr`."""

    key_id: str
    site: str
    name: str
    role: Role
    macs: tuple[str, ...]
    created_ms: int
    expires_ms: int | None
    revoked_ms: int | None
    last_used_ms: int | None
    replaced_by: str | None
    key_hash: str = dataclasses.field(repr=False)
    signing_secret: str | None = dataclasses.field(repr=False)

    def state(self, now_ms: int) -> Literal["valid", "ending", "expired", "revoked"]:
        """Whether it opens anything now; `ending`: it does, and a successor has been made."""
        if self.revoked_ms is not None:
            return "revoked"
        if self.expires_ms is not None and now_ms >= self.expires_ms:
            return "expired"
        return "ending" if self.replaced_by else "valid"

    def is_good(self, now_ms: int) -> bool:
        return self.state(now_ms) in ("valid", "ending")

    def shown(self, now_ms: int) -> dict[str, Any]:
        """What may be shown of it, to those who manage keys."""
        fields = dataclasses.asdict(self)
        del fields["key_hash"]
        must_sign = fields.pop("signing_secret") is not None
        return {**fields, "macs": list(self.macs), "must_sign": must_sign, "state": self.state(now_ms)}


class ApiKeys:
    """The keys of the bound database. Every method raises `DatabaseUnavailable`."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def get(self, key_id: str) -> KeyRow | None:
        with connection(self._database):
            key = ApiKey.get_or_none(ApiKey.key_id == key_id)
            return _key_row(key) if key else None

    def all(self) -> list[KeyRow]:
        """Every key that was ever made, the oldest first."""
        with connection(self._database):
            return [_key_row(key) for key in ApiKey.select().order_by(ApiKey.created_ms, ApiKey.key_id)]

    def has_any(self) -> bool:
        """Say whether a key was ever made; a service is not open again because its keys are revoked."""
        with connection(self._database):
            return bool(ApiKey.select(ApiKey.key_id).limit(1).count())

    def has_good(self) -> bool:
        """Say whether there is a key that opens something now."""
        now_ms = self._clock.now_ms()
        return any(key.is_good(now_ms) for key in self.all())

    def create(self, wanted: WantedKey) -> tuple[KeyRow, str]:
        """Make a key, and its site when that is new; return it, and the text that is never shown again.

        Raises: InvalidInput.
        """
        if wanted.role == "device" and wanted.site == EVERY_SITE:
            raise InvalidInput([FieldProblem("/site", "a device key belongs to one site")])
        with write(self._database):
            return self._insert(wanted)

    def rotate(self, key_id: str, *, overlap_ms: int) -> tuple[KeyRow, str]:
        """Make a successor with the same rights; both are good until the old one ends, after `overlap_ms`.

        Raises: KeyNotFound; KeyConflict when it is no longer good or has a successor.
        """
        now_ms = self._clock.now_ms()
        with write(self._database):
            old = self._known(key_id)
            if old.state(now_ms) != "valid":
                raise KeyConflict(f"key {key_id} is {old.state(now_ms)}: only a valid one can be rotated")
            lifetime_ms = None if old.expires_ms is None else old.expires_ms - old.created_ms
            new, text = self._insert(
                WantedKey(old.name, old.site, old.role, old.macs, lifetime_ms, old.signing_secret is not None)
            )
            ends_ms = now_ms + overlap_ms
            ApiKey.update(
                replaced_by=new.key_id,
                expires_ms=ends_ms if old.expires_ms is None else min(ends_ms, old.expires_ms),
            ).where(ApiKey.key_id == key_id).execute()
            return new, text

    def revoke(self, key_id: str) -> KeyRow:
        """End a key for good; doing so again changes nothing.

        Raises: KeyNotFound.
        """
        with write(self._database):
            ApiKey.update(revoked_ms=self._clock.now_ms()).where(
                ApiKey.key_id == key_id, ApiKey.revoked_ms.is_null()
            ).execute()
            return self._known(key_id)

    def note_use(self, key: KeyRow) -> None:
        """Remember that the key was used now, to within a minute."""
        now_ms = self._clock.now_ms()
        stale_ms = now_ms - _USE_NOTED_EVERY_MS
        if key.last_used_ms is not None and key.last_used_ms > stale_ms:
            return
        with write(self._database):
            is_stale = ApiKey.last_used_ms.is_null() | (ApiKey.last_used_ms <= stale_ms)
            ApiKey.update(last_used_ms=now_ms).where(ApiKey.key_id == key.key_id, is_stale).execute()

    def _known(self, key_id: str) -> KeyRow:
        key = self.get(key_id)
        if key is None:
            raise KeyNotFound(f"no key {key_id}")
        return key

    def _insert(self, wanted: WantedKey) -> tuple[KeyRow, str]:
        now_ms = self._clock.now_ms()
        made = make_key()
        site = None if wanted.site == EVERY_SITE else wanted.site
        if site is not None:
            Site.insert(site=site, created_ms=now_ms).on_conflict_ignore().returning(Site.site).execute()
        ApiKey.insert(
            key_id=made.key_id,
            key_hash=hash_key(made.text),
            signing_secret=signing_secret(made.text) if wanted.must_sign else None,
            site=site,
            name=wanted.name,
            role=wanted.role,
            bound_macs=sorted(set(wanted.macs)) or None,
            created_ms=now_ms,
            expires_ms=None if wanted.lifetime_ms is None else now_ms + wanted.lifetime_ms,
        ).returning(ApiKey.key_id).execute()
        return self._known(made.key_id), made.text


def insist_on_keys(settings: Settings, keys: ApiKeys) -> None:
    """Return when the web may listen where the settings say: on loopback always, elsewhere only with a good key.

    Raises: ConfigurationError.
    """
    if is_loopback(settings.web_host) or keys.has_good():
        return
    raise ConfigurationError(
        f"FAIRLANE_WEB_BIND: other machines reach {settings.web_bind}, and there is no valid API key; make one with "
        f"`fairlane key create NAME --role admin --site '{EVERY_SITE}'`"
    )


def _key_row(key: ApiKey) -> KeyRow:
    return KeyRow(
        key_id=key.key_id,
        site=key.site_name or EVERY_SITE,  # type: ignore[attr-defined]
        name=key.name,
        role=cast(Role, key.role),
        macs=tuple(key.bound_macs or ()),
        created_ms=key.created_ms,
        expires_ms=key.expires_ms,
        revoked_ms=key.revoked_ms,
        last_used_ms=key.last_used_ms,
        replaced_by=key.replaced_by,
        key_hash=key.key_hash,
        signing_secret=key.signing_secret,
    )
