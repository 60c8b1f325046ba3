"""The options that most commands have, and the settings that come of them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from pipeline.errors import InvalidMac
from pipeline.mac import normalize_mac
from pipeline.settings import Settings, load_settings

_C = TypeVar("_C", bound=Callable[..., Any])


def data_dir_option(command: _C) -> _C:
    """Add `--data-dir`, passed as `data_dir`."""
    option = click.option(
        "--data-dir",
        type=click.Path(path_type=Path, file_okay=False),
        help="Folder of everything embedded; default FAIRLANE_DATA_DIR, or fairlane-data here.",
    )
    return option(command)


def settings_of(data_dir: Path | None, **overrides: Any) -> Settings:
    """Read the settings; what was said on the command line wins.

    Raises: ConfigurationError.
    """
    if data_dir is not None:
        overrides["data_dir"] = data_dir
    return load_settings(**overrides)


def check_mac(_ctx: click.Context, _param: click.Parameter, value: str | None) -> str | None:
    """Return a MAC address as it is kept; a click callback.

    Raises: click.BadParameter.
    """
    try:
        return None if value is None else normalize_mac(value)
    except InvalidMac as exc:
        raise click.BadParameter(exc.problems[0].detail) from exc
