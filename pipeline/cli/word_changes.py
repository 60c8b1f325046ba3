"""`fairlane words import|publish|rollback|remove`: change lists of words, and which versions are in effect."""

from pathlib import Path

import click

from models.word_lists import ListRow, Owner
from pipeline.cli.exits import FAILED, OK
from pipeline.cli.options import data_dir_option, settings_of
from pipeline.cli.progress import count_of
from pipeline.cli.sanitize import to_json
from pipeline.cli.terminal import OutputFormat, output_option
from pipeline.cli.wiring import library_of
from pipeline.cli.word_lists import VERSION, has_errors, named, owner_of, owner_options, show_what_was_found
from pipeline.lists.library import Library
from pipeline.lists.reading import ListFile, bytes_of, kind_of, read_list
from pipeline.lists.starters import read_starter, starter_names

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("import")
@click.argument("file", type=_FILE, required=False)
@click.option("--starter", type=click.Choice(starter_names()), help="A list that fairlane brings along, not a FILE.")
@click.option("--name", help="Of the list; default: that of the file without its ending, or of the starter.")
@click.option("--encoding", help="Of the file, such as gbk; default: it is found out.")
@click.option("--publish", "is_published", is_flag=True, help="Put it into effect at once.")
@click.option("--force", is_flag=True, help="With --publish: in spite of warnings.")
@owner_options
@data_dir_option
@output_option
def bring(
    *,
    file: Path | None,
    starter: str | None,
    name: str | None,
    encoding: str | None,
    is_published: bool,
    force: bool,
    site: str | None,
    mac: str | None,
    data_dir: Path | None,
    output: OutputFormat,
) -> int:
    """Keep FILE as the next version of a list, which has no effect before it is published.

    One word a line, in any usual encoding; a .csv whose first line names its columns (word, list, category, level,
    action, tags, boundary); or rules in .json. Exit code 1 when the linter finds errors.
    """
    if (file is None) == (starter is None):
        raise click.UsageError("say which: FILE or --starter NAME")
    library = library_of(settings_of(data_dir))
    read = _read(file, encoding) if file else read_starter(str(starter))
    source = file.name if file else f"starter {starter}"
    version = library.bring(owner_of(site, mac), name or (file.stem if file else str(starter)), read, source)
    if output == "table":
        counted = ", ".join(f"{count} {what}" for what, count in version.counts.items() if count)
        click.echo(f"version {version.version}: {counted or 'nothing'}; read as {read.encoding}")
    if output == "table" or not is_published:
        show_what_was_found(version, output)
    if is_published:
        _report(library.publish(version.list_id, version.version, force=force), output)
    return FAILED if has_errors(version) else OK


@click.command("publish")
@click.argument("name")
@click.option("--version", "number", type=VERSION, help="Default: the newest.")
@click.option("--force", is_flag=True, help="In spite of warnings.")
@owner_options
@data_dir_option
@output_option
def publish(
    *,
    name: str,
    number: int | None,
    force: bool,
    site: str | None,
    mac: str | None,
    data_dir: Path | None,
    output: OutputFormat,
) -> None:
    """Put a version of list NAME into effect, in every process within seconds."""
    library = library_of(settings_of(data_dir))
    _report(library.publish(_id(library, owner_of(site, mac), name), number, force=force), output)


@click.command("rollback")
@click.argument("name")
@click.option("--version", "number", type=VERSION, help="Default: the newest of those in effect before this one.")
@owner_options
@data_dir_option
@output_option
def roll_back(
    *, name: str, number: int | None, site: str | None, mac: str | None, data_dir: Path | None, output: OutputFormat
) -> None:
    """Put a version of list NAME that was in effect before into effect again."""
    library = library_of(settings_of(data_dir))
    _report(library.roll_back(_id(library, owner_of(site, mac), name), number), output)


@click.command("remove")
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do it without asking back.")
@owner_options
@data_dir_option
@output_option
def remove(
    *, name: str, yes: bool, site: str | None, mac: str | None, data_dir: Path | None, output: OutputFormat
) -> None:
    """Remove list NAME with all its versions; it is in effect no more."""
    library = library_of(settings_of(data_dir))
    list_id = _id(library, owner_of(site, mac), name)
    if not yes:
        raise click.UsageError(f"this removes {name} with all its versions for good; say --yes to do it")
    library.remove(list_id)
    click.echo(f"{name} is removed" if output == "table" else to_json({"name": name, "removed": True}))


def _read(file: Path, encoding: str | None) -> ListFile:
    with count_of("reading words:") as tell:
        return read_list(bytes_of(file), kind_of(file.name), encoding, tell)


def _id(library: Library, owner: Owner, name: str) -> int:
    return library.shelf.find(owner, name).id


def _report(row: ListRow, output: OutputFormat) -> None:
    if output == "table":
        click.echo(f"{row.name}: version {row.published} is in effect")
    else:
        click.echo(to_json(named(row)))
