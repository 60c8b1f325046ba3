"""Announcements: where a task's end is to be announced, and each announcement with how it went."""

from peewee import (
    BigAutoField,
    BigIntegerField,
    CharField,
    Check,
    IntegerField,
    Model,
    SQL,
    SqliteDatabase,
    TextField,
)


def table(db):
    # An id is part of names in the queue, which remembers them for a while.
    never_again = [SQL("AUTOINCREMENT")] if isinstance(db, SqliteDatabase) else []

    class WebhookDelivery(Model):
        id = BigAutoField(constraints=never_again)
        task_id = CharField(64)
        effect = CharField(16, constraints=[Check("effect IN ('webhook', 'callback')")])
        end_token = BigIntegerField()
        type = CharField(32)
        site = CharField(64)
        mac = CharField(12, constraints=[Check("length(mac) = 12")])
        lane = CharField(16)
        url = TextField()
        body = TextField()
        state = CharField(16, constraints=[Check("state IN ('pending', 'delivered', 'failed')")])
        attempts = IntegerField(default=0, constraints=[Check("attempts >= 0")])
        token = BigIntegerField(default=0)
        lined = IntegerField(default=0)
        lined_ms = BigIntegerField(null=True)
        created_ms = BigIntegerField()
        due_ms = BigIntegerField()
        expires_ms = BigIntegerField()
        last_attempt_ms = BigIntegerField(null=True)
        ended_ms = BigIntegerField(null=True, constraints=[Check("(ended_ms IS NULL) = (state = 'pending')")])
        last_status = IntegerField(null=True)
        error = TextField(default="")

        class Meta:
            database = db
            legacy_table_names = False
            indexes = ((("task_id", "effect", "end_token"), True),)

    is_pending = SQL("state = 'pending'")
    WebhookDelivery.add_index(WebhookDelivery.due_ms, where=is_pending, name="webhook_delivery_due")
    WebhookDelivery.add_index(
        WebhookDelivery.lined_ms, where=WebhookDelivery.lined_ms.is_null(False), name="webhook_delivery_lined"
    )
    WebhookDelivery.add_index(WebhookDelivery.state, WebhookDelivery.id, name="webhook_delivery_state")
    WebhookDelivery.add_index(WebhookDelivery.mac, WebhookDelivery.id, name="webhook_delivery_mac")
    return WebhookDelivery


def up(migrator, db):
    migrator.migrate(migrator.add_column("task", "callback_url", TextField(null=True)))
    db.create_tables([table(db)], safe=False)


def down(migrator, db):
    db.drop_tables([table(db)], safe=False)
    migrator.migrate(migrator.drop_column("task", "callback_url"))
