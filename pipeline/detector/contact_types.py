"""A way to reach somebody that stands in a text."""

from typing import NamedTuple

from pipeline.detector.rules import ContactKind


class Contact(NamedTuple):
    """What was found.

    Args:
        value: in plain digits and small letters, without what stood between them.
        start: in code points of the original text, as end, which is exclusive.
    """

    kind: ContactKind
    value: str
    start: int
    end: int
