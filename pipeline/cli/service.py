"""The running fairlane that a command speaks to: where it is, and with which key."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import click

from models.key_text import key_id_of
from pipeline.cli.api import Api
from pipeline.errors import ConfigurationError
from pipeline.settings import Settings

_C = TypeVar("_C", bound=Callable[..., Any])


def key_file_option(command: _C) -> _C:
    """Add `--key-file`, passed as `key_file`."""
    option = click.option(
        "--key-file",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="File that holds the API key; default: FAIRLANE_API_KEY.",
    )
    return option(command)


def check_url(_ctx: click.Context, _param: click.Parameter, value: str | None) -> str | None:
    """Return the URL of a service.

    Raises: click.BadParameter.
    """
    if value is not None and (urlsplit(value).scheme not in ("http", "https") or not urlsplit(value).hostname):
        raise click.BadParameter("must be http://host:port or https://host:port")
    return value


def api_of(settings: Settings, *, url: str | None = None, key_file: Path | None = None) -> Api:
    """Return a client of the service at `url`, or of the one that the settings describe.

    Raises: ConfigurationError, without the key in it, when what should be a key is none.
    """
    where, key = "FAIRLANE_API_KEY", settings.api_key.get_secret_value().strip()
    if key_file is not None:
        where, key = str(key_file), _read(key_file)
    if key and key_id_of(key) is None:
        raise ConfigurationError(f"{where}: not an API key; one looks like fl_<id>_<secret>")
    return Api(url or f"http://{settings.web_bind}", key)


def _read(path: Path) -> str:
    try:
        key = path.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError) as exc:
        raise ConfigurationError(f"{path}: cannot be read as an API key") from exc
    if not key:
        raise ConfigurationError(f"{path}: holds no API key")
    return key
