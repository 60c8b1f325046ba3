"""The file `.env`: read whole, or refused: a line that is left out unsaid would be a setting lost."""

from pathlib import Path

from dotenv.parser import parse_stream

from pipeline.errors import ConfigurationError


def insist_on_env_file(path: Path) -> None:
    """Return when the file is not there, or every line of it can be read.

    Raises: ConfigurationError, without anything that stands in the file: it may be a secret.
    """
    try:
        with path.open(encoding="utf-8") as stream:
            broken = [binding.original.line for binding in parse_stream(stream) if binding.error]
    except FileNotFoundError:
        return
    except UnicodeDecodeError as exc:
        raise ConfigurationError(f"{path}: is not UTF-8 (byte {exc.start + 1})") from None
    except OSError as exc:
        raise ConfigurationError(f"{path}: cannot be read: {exc.strerror}") from exc
    if broken:
        lines = ", ".join(str(line) for line in broken)
        raise ConfigurationError(f"{path}: line {lines} is no NAME=value")
