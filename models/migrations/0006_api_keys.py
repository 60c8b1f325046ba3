"""Keys with a public id, an end, a successor and request signing; and the audit.

No version before this one made a key, so the table is made anew instead of being changed.
"""

from peewee import (
    BigAutoField,
    BigIntegerField,
    CharField,
    Check,
    FixedCharField,
    ForeignKeyField,
    JSONField,
    Model,
    SQL,
    SqliteDatabase,
    TextField,
)

ROLES = "role IN ('device', 'viewer', 'operator', 'admin')"


def base_of(db):
    class Base(Model):
        class Meta:
            database = db
            legacy_table_names = False

    return Base


def site_of(base):
    class Site(base):
        site = CharField(64, primary_key=True)
        created_ms = BigIntegerField()

    return Site


def old_table(db):
    base = base_of(db)
    site_model = site_of(base)

    class ApiKey(base):
        key_hash = FixedCharField(64, primary_key=True)
        site = ForeignKeyField(site_model, column_name="site", object_id_name="site_name", on_delete="CASCADE")
        name = CharField(128)
        role = CharField(16, constraints=[Check(ROLES)])
        bound_macs = JSONField(null=True)
        created_ms = BigIntegerField()
        revoked_ms = BigIntegerField(null=True)

    return ApiKey


def new_tables(db):
    base = base_of(db)
    site_model = site_of(base)
    # SQLite would give the number of the newest line again once that is gone.
    never_again = [SQL("AUTOINCREMENT")] if isinstance(db, SqliteDatabase) else []

    class ApiKey(base):
        key_id = FixedCharField(16, primary_key=True)
        key_hash = FixedCharField(64)
        signing_secret = FixedCharField(64, null=True)
        site = ForeignKeyField(
            site_model, column_name="site", object_id_name="site_name", on_delete="CASCADE", null=True
        )
        name = CharField(128)
        role = CharField(16, constraints=[Check(ROLES)])
        bound_macs = JSONField(null=True)
        created_ms = BigIntegerField()
        expires_ms = BigIntegerField(null=True)
        revoked_ms = BigIntegerField(null=True)
        last_used_ms = BigIntegerField(null=True)
        replaced_by = FixedCharField(16, null=True)

        class Meta:
            constraints = [Check("role <> 'device' OR site IS NOT NULL")]

    class AuditLine(base):
        id = BigAutoField(constraints=never_again)
        at_ms = BigIntegerField()
        actor = CharField(128)
        site = CharField(64, null=True)
        action = CharField(64)
        target = TextField(default="")
        outcome = CharField(16, default="")

    AuditLine.add_index(AuditLine.site, AuditLine.id, name="audit_line_site")
    return [ApiKey, AuditLine]


def up(migrator, db):
    db.drop_tables([old_table(db)], safe=False)
    db.create_tables(new_tables(db), safe=False)


def down(migrator, db):
    db.drop_tables(new_tables(db), safe=False)
    db.create_tables([old_table(db)], safe=False)
