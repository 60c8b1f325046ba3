"""Pictures, texts and words that the demo sends and the tests read: all of them invented and drawn for this purpose."""

from importlib.resources import files
from pathlib import Path


def sample_images() -> list[tuple[str, bytes]]:
    """Return (file name, PNG bytes) of each picture, by name."""
    pictures = [entry for entry in files(__name__).iterdir() if entry.name.endswith(".png")]
    return [(entry.name, entry.read_bytes()) for entry in sorted(pictures, key=lambda entry: entry.name)]


def sample_texts() -> list[str]:
    """Return short texts as devices send them; some hold words of `words_file()`."""
    return (files(__name__) / "texts.txt").read_text("utf-8").splitlines()


def words_file() -> Path:
    """Return the path of the list of sensitive words that goes with the pictures and texts."""
    return Path(str(files(__name__) / "words.txt"))
