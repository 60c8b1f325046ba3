"""A text with its sensitive words marked."""

from collections.abc import Iterable

from rich.text import Text

from pipeline.cli.sanitize import clean

#: Seen without colours, too: reverse video survives NO_COLOR.
_MARK = "bold reverse red"


def marked(text: str, spans: Iterable[tuple[int, int]]) -> Text:
    """Return the text for the terminal.

    Args:
        spans: begin and end of each mark, in code points of `text`.
    """
    shown = Text(clean(text))
    for start, end in spans:
        shown.stylize(_MARK, start, end)
    return shown
