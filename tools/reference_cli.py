"""The page of the reference about the command line, from click's own command tree."""

import inspect
from collections.abc import Iterator

import click

from pipeline.cli import fairlane
from tools.command_tree import leaves


def cli_page() -> str:
    lines = [
        "# Command line",
        "",
        *_paragraphs(fairlane),
        "",
        "`fairlane --debug COMMAND …` shows the traceback of an error, `fairlane --version` the version, `-h` the help",
        "of a command. `NO_COLOR` is honoured; what destroys asks for `--yes`. [Completion](../howto/completion.md).",
        "",
    ]
    for name, command in leaves():
        lines += _section(name, command)
    return "\n".join(lines).rstrip() + "\n"


def _section(name: str, command: click.Command) -> Iterator[str]:
    context = click.Context(command, info_name=f"fairlane {name}")
    yield f"## {name}"
    yield ""
    yield f"`fairlane {name} {' '.join(command.collect_usage_pieces(context))}`"
    yield ""
    yield from _paragraphs(command)
    yield ""
    rows = list(_rows(command, context))
    if rows:
        yield from ("| option | what |", "| --- | --- |", *rows, "")


def _paragraphs(command: click.Command) -> list[str]:
    return _cell(inspect.cleandoc(command.help or "")).replace("<br>", "\n").splitlines()


def _rows(command: click.Command, context: click.Context) -> Iterator[str]:
    for option in command.params:
        if not isinstance(option, click.Option) or option.hidden:
            continue
        spelled = " / ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
        value = "" if option.is_flag else f" {_value_of(option, context)}"
        told = [option.help or ""]
        if option.show_default and option.default is not None:
            told.append(f"Default: {_default_of(option)}.")
        yield f"| {spelled}{value} | {_cell(' '.join(told).strip())} |"


def _default_of(option: click.Option) -> str:
    if option.is_flag:
        return (option.opts if option.default else option.secondary_opts)[0]
    return ", ".join(option.default) if isinstance(option.default, tuple) else str(option.default)


def _value_of(option: click.Option, context: click.Context) -> str:
    if isinstance(option.type, click.Choice):
        return " \\| ".join(str(choice) for choice in option.type.choices)
    return option.make_metavar(context).strip("[]")


def _cell(text: str) -> str:
    """Text that breaks no table: one line, bars escaped, nothing taken for HTML."""
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", "<br>")
