"""Dead letters in a table of their own; those of tasks that have failed or died before are made from their rows."""

from peewee import (
    BigAutoField,
    BigIntegerField,
    CharField,
    Check,
    IntegerField,
    JSONField,
    Model,
    SQL,
    SqliteDatabase,
    TextField,
)

BACKFILL = """
INSERT INTO dead_letter
    (task_id, mac, site, lane, state, code, message, attempts, created_ms, dead_ms, payload, replay_refusal)
SELECT task_id, mac, site, lane, state, code, reason, attempts, created_ms, ended_ms, payload, ''
FROM task WHERE state IN ('failed', 'dead') ORDER BY ended_ms, task_id
"""


def table(db):
    # SQLite would give the id of the newest letter again once that is dropped.
    never_again = [SQL("AUTOINCREMENT")] if isinstance(db, SqliteDatabase) else []

    class DeadLetter(Model):
        id = BigAutoField(constraints=never_again)
        task_id = CharField(64, index=True)
        mac = CharField(12, constraints=[Check("length(mac) = 12")])
        site = CharField(64)
        lane = CharField(16)
        state = CharField(16, constraints=[Check("state IN ('failed', 'dead')")])
        code = CharField(64)
        message = TextField()
        attempts = IntegerField(constraints=[Check("attempts >= 0")])
        created_ms = BigIntegerField()
        dead_ms = BigIntegerField()
        payload = JSONField()
        replay_asked_ms = BigIntegerField(null=True)
        replayed_ms = BigIntegerField(null=True)
        replay_refusal = TextField(default="")

        class Meta:
            database = db
            legacy_table_names = False

    is_asked = DeadLetter.replay_asked_ms.is_null(False) & DeadLetter.replayed_ms.is_null()
    DeadLetter.add_index(DeadLetter.mac, DeadLetter.id, name="dead_letter_mac")
    DeadLetter.add_index(DeadLetter.code, DeadLetter.id, name="dead_letter_code")
    DeadLetter.add_index(DeadLetter.lane, DeadLetter.id, name="dead_letter_lane")
    DeadLetter.add_index(DeadLetter.id, where=is_asked, name="dead_letter_asked")
    DeadLetter.add_index(
        DeadLetter.replayed_ms, where=DeadLetter.replayed_ms.is_null(False), name="dead_letter_replayed"
    )
    return DeadLetter


def up(migrator, db):
    db.create_tables([table(db)], safe=False)
    db.execute_sql(BACKFILL)


def down(migrator, db):
    db.drop_tables([table(db)], safe=False)
