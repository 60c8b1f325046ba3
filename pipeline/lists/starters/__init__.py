"""Lists that fairlane brings along, Chinese and English: small, without ordinary words, off until published."""

from functools import cache
from pathlib import Path

from pipeline.lists.reading import ListFile, read_list

_FOLDER = Path(__file__).parent


@cache
def starter_names() -> tuple[str, ...]:
    """What may be asked for, such as `gambling`."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.json")))


def read_starter(name: str) -> ListFile:
    """Return one of `starter_names()`."""
    return read_list((_FOLDER / f"{name}.json").read_bytes(), "json")
