"""Lists of words: names and owners, immutable versions, content by its hash; and which lists a detection went by."""

from peewee import (
    BigAutoField,
    BigIntegerField,
    BlobField,
    CharField,
    Check,
    CompositeKey,
    FixedCharField,
    ForeignKeyField,
    IntegerField,
    JSONField,
    Model,
    SQL,
    SqliteDatabase,
)


def tables(db):
    """The models, parents before children."""
    # SQLite would give the id of the newest list again once that is removed.
    never_again = [SQL("AUTOINCREMENT")] if isinstance(db, SqliteDatabase) else []

    class Base(Model):
        class Meta:
            database = db
            legacy_table_names = False

    class WordList(Base):
        id = BigAutoField(constraints=never_again)
        site = CharField(64)
        mac = CharField(12, constraints=[Check("mac = '' OR (length(mac) = 12 AND site <> '')")])
        name = CharField(64)
        latest = IntegerField(default=0)
        published = IntegerField(null=True)
        created_ms = BigIntegerField()
        changed_ms = BigIntegerField()

    WordList.add_index(WordList.site, WordList.mac, WordList.name, unique=True, name="word_list_owner_name")

    class WordContent(Base):
        sha256 = FixedCharField(64, primary_key=True)
        body = BlobField()

    class WordVersion(Base):
        word_list = ForeignKeyField(
            WordList, column_name="list_id", object_id_name="list_id", on_delete="CASCADE", index=False
        )
        version = IntegerField(constraints=[Check("version > 0")])
        sha256 = ForeignKeyField(WordContent, column_name="sha256", object_id_name="content_sha256")
        source = CharField(255)
        counts = JSONField()
        findings = JSONField()
        created_ms = BigIntegerField()
        published_ms = BigIntegerField(null=True)

        class Meta:
            primary_key = CompositeKey("word_list", "version")

    class WordEpoch(Base):
        id = IntegerField(primary_key=True, constraints=[Check("id = 1")])
        epoch = BigIntegerField()

    return [WordList, WordContent, WordVersion, WordEpoch]


def up(migrator, db):
    models = tables(db)
    db.create_tables(models, safe=False)
    epoch = models[-1]
    epoch.insert(id=1, epoch=1).returning(epoch.id).execute()
    migrator.migrate(migrator.add_column("detection", "versions", JSONField(null=True)))


def down(migrator, db):
    migrator.migrate(migrator.drop_column("detection", "versions"))
    db.drop_tables(tables(db), safe=False)
