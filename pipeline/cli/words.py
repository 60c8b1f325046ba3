"""`fairlane words`: lists of words; `check` a file, `try` a text."""

import dataclasses
from contextlib import closing
from pathlib import Path

import click
from rich.text import Text

from models.sites import LOCAL_SITE
from pipeline.cli.exits import FAILED, OK
from pipeline.cli.marks import marked
from pipeline.cli.options import data_dir_option, settings_of
from pipeline.cli.sanitize import clean_line, to_json
from pipeline.cli.terminal import OutputFormat, open_console, output_option, show_table
from pipeline.cli.wiring import lists_of
from pipeline.cli.word_changes import bring, publish, remove, roll_back
from pipeline.cli.word_lists import export, owner_options, show, show_findings, show_lint, show_lists
from pipeline.clock import SystemClock
from pipeline.detector.detector import Detector
from pipeline.detector.findings import ContactHit, Hit, Screening
from pipeline.lists.following import source_of_file
from pipeline.lists.library import counts_of
from pipeline.lists.lint import lint
from pipeline.lists.reading import bytes_of, kind_of, read_list

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group("words")
def command() -> None:
    """Keep lists of words, check them and try them."""


@command.command("check")
@click.argument("file", type=_FILE)
@click.option("--encoding", help="Of the file, such as gbk; default: it is found out.")
@output_option
def check(*, file: Path, encoding: str | None, output: OutputFormat) -> int:
    """Say what is in FILE and everything that is wrong with it, without keeping it; exit code 1 for errors.

    One word a line; a .csv whose first line names its columns; or rules in .json.
    """
    clock = SystemClock()
    read = read_list(bytes_of(file), kind_of(file.name), encoding)
    began_ms = clock.monotonic_ms()
    report = lint(read)
    facts: dict[str, object] = {"encoding": read.encoding, **counts_of(read)}
    facts["checked_ms"] = clock.monotonic_ms() - began_ms
    findings = [dataclasses.asdict(finding) for finding in report.findings]
    if output == "table":
        show_table(["", ""], [[name.replace("_", " "), str(fact)] for name, fact in facts.items()], has_head=False)
        show_findings(findings)
    else:
        click.echo(to_json({**facts, "findings": findings}, indent=2 if output == "json" else None))
    return FAILED if report.has_errors else OK


@command.command("try")
@click.argument("text")
@click.option("--word", "words", multiple=True, help="A word to look for besides; may be given more than once.")
@click.option("--file", type=_FILE, help="Go by the list in this file, and by no other.")
@owner_options
@data_dir_option
@output_option
def try_text(
    *,
    text: str,
    words: tuple[str, ...],
    file: Path | None,
    site: str | None,
    mac: str | None,
    data_dir: Path | None,
    output: OutputFormat,
) -> None:
    """Screen TEXT here and now, by the lists in effect for everybody, a site or a device; nothing is stored."""
    if file:
        detector = Detector(*source_of_file(file))
    else:
        with closing(lists_of(settings_of(data_dir))) as lists:
            detector = lists.detector(site or LOCAL_SITE, mac or "")
    screening = detector.screen(text, words)
    if output == "table":
        _show(text, screening)
    else:
        click.echo(to_json(dataclasses.asdict(screening), indent=2 if output == "json" else None))


for _command in (show_lists, show, bring, show_lint, publish, roll_back, export, remove):
    command.add_command(_command)


def _show(text: str, screening: Screening) -> None:
    console = open_console()
    console.print(marked(text, [(hit.start, hit.end) for hit in screening.hits]))
    rows = [
        *(_row(hit.word, hit.list_name or hit.list, hit.category, hit) for hit in screening.hits),
        *(_row(one.kind, "", "contact", one) for one in screening.contacts),
    ]
    if rows:
        show_table(["word", "list", "in the text", "place", "category", "level", "action"], rows)
    verdict = f"suggestion: {screening.suggestion}; level {screening.level}; score {screening.score}"
    console.print(Text(clean_line(verdict)))


def _row(name: str, of_list: str, category: str, find: Hit | ContactHit) -> list[object]:
    return [name, of_list, find.surface, f"{find.start}-{find.end}", category, find.level, find.action]
