"""`fairlane words check|try`: look at a list of words, and at what it finds."""

import dataclasses
from pathlib import Path

import click
from rich.text import Text

from pipeline.cli.marks import marked
from pipeline.cli.options import data_dir_option, settings_of
from pipeline.cli.sanitize import clean_line, to_json
from pipeline.cli.terminal import OutputFormat, open_console, output_option, show_table
from pipeline.clock import SystemClock
from pipeline.detector.detector import Detector
from pipeline.detector.findings import ContactHit, Hit, Screening
from pipeline.detector.lexicon import Lexicon

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group("words")
def command() -> None:
    """Check lists of words and try them."""


@command.command("check")
@click.argument("file", type=_FILE)
@output_option
def check(*, file: Path, output: OutputFormat) -> None:
    """Read FILE as a worker would; say what is in it, or everything that is wrong with it (exit code 2).

    A name that ends in .json holds rules, any other one word a line.
    """
    clock = SystemClock()
    began_ms = clock.monotonic_ms()
    lexicon = Lexicon.load(file)
    counts = {**lexicon.counts(), "compiled_ms": clock.monotonic_ms() - began_ms}
    if output == "table":
        show_table(["", ""], [[name.replace("_", " "), str(count)] for name, count in counts.items()], has_head=False)
    else:
        click.echo(to_json(counts, indent=2 if output == "json" else None))


@command.command("try")
@click.argument("text")
@click.option("--word", "words", multiple=True, help="A word to look for besides; may be given more than once.")
@click.option("--file", type=_FILE, help="A list instead of FAIRLANE_WORDS_FILE.")
@data_dir_option
@output_option
def try_text(
    *, text: str, words: tuple[str, ...], file: Path | None, data_dir: Path | None, output: OutputFormat
) -> None:
    """Screen TEXT here and now, by the global list; nothing is stored."""
    lexicon = Lexicon.load(file or settings_of(data_dir).words_file)
    screening = Detector(lexicon).screen(text, words)
    if output == "table":
        _show(text, screening)
    else:
        click.echo(to_json(dataclasses.asdict(screening), indent=2 if output == "json" else None))


def _show(text: str, screening: Screening) -> None:
    console = open_console()
    console.print(marked(text, [(hit.start, hit.end) for hit in screening.hits]))
    rows = [
        *(_row(hit.word, hit.category, hit) for hit in screening.hits),
        *(_row(one.kind, "contact", one) for one in screening.contacts),
    ]
    if rows:
        show_table(["word", "in the text", "place", "category", "level", "action"], rows)
    verdict = f"suggestion: {screening.suggestion}; level {screening.level}; score {screening.score}"
    console.print(Text(clean_line(verdict)))


def _row(name: str, category: str, find: Hit | ContactHit) -> list[object]:
    return [name, find.surface, f"{find.start}-{find.end}", category, find.level, find.action]
