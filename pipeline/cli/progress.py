"""Progress of long work, on standard error and on a terminal only: what is piped or logged has none of it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from pipeline.cli.terminal import open_console


@contextmanager
def bar_of(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """Show a bar inside the block. Yields: to be called with how much more is done."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with _shown(*columns) as progress:
        bar = progress.add_task(what, total=total)
        yield lambda more: progress.advance(bar, more)


@contextmanager
def count_of(what: str) -> Iterator[Callable[[int], None]]:
    """Show a count inside the block, of what nobody knows the end of. Yields: to be called with the whole so far."""
    with _shown(TextColumn("{task.description} {task.completed}"), TimeElapsedColumn()) as progress:
        bar = progress.add_task(what, total=None)
        yield lambda whole: progress.update(bar, completed=whole)


def _shown(*columns: TextColumn | BarColumn | MofNCompleteColumn | TimeElapsedColumn) -> Progress:
    console = open_console(stderr=True)
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
