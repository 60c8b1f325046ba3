"""Tasks and deliveries know the trace that they belong to."""

from peewee import CharField

TABLES = ("task", "webhook_delivery")


def up(migrator, db):
    migrator.migrate(*(migrator.add_column(table, "traceparent", CharField(64, null=True)) for table in TABLES))


def down(migrator, db):
    migrator.migrate(*(migrator.drop_column(table, "traceparent") for table in TABLES))
