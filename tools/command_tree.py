"""The commands of `fairlane` as click has them, for the reference and for tests of documents."""

from collections.abc import Iterator

import click

from pipeline.cli import fairlane


def leaves(command: click.Command = fairlane, name: str = "") -> Iterator[tuple[str, click.Command]]:
    """Every command that can be run and its name, without `fairlane`, in the order of the help."""
    if not isinstance(command, click.Group):
        yield name, command
        return
    context = click.Context(command)
    for word in command.list_commands(context):
        found = command.get_command(context, word)
        if found:
            yield from leaves(found, f"{name} {word}".strip())
