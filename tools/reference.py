"""Write docs/reference: settings, error codes, Redis keys, metrics, commands and HTTP, each from its declaration.

`tests/style/test_reference.py` fails when what is committed is not what this writes.
"""

import inspect
from collections.abc import Iterator
from pathlib import Path

from pipeline import device_errors, errors
from pipeline.metrics import METRICS
from pipeline.queue.keys import Keys
from pipeline.settings import rows
from tools.reference_cli import cli_page
from tools.reference_http import http_page

FOLDER = Path(__file__).parents[1] / "docs" / "reference"


def settings_page() -> str:
    lines = [
        "# Settings",
        "",
        "Environment or `.env`. Unknown names, wrong types and contradictions stop every process at its start.",
        "",
        "| name | default | what |",
        "| --- | --- | --- |",
        *(f"| `{row.name}` | {f'`{row.default}`' if row.default else ''} | {row.description} |" for row in rows()),
    ]
    return "\n".join(lines) + "\n"


def errors_page() -> str:
    lines = [
        "# Error codes",
        "",
        "Stable names, in answers, stored records and logs. The branch says what to do next.",
        "",
        "| code | class | branch |",
        "| --- | --- | --- |",
        *(f"| `{kind.code}` | {kind.__name__} | {_branch(kind)} |" for kind in error_classes()),
    ]
    return "\n".join(lines) + "\n"


def redis_keys_page() -> str:
    keys = Keys("sensitive:")
    lines = [
        "# Redis keys",
        "",
        "With the default `FAIRLANE_KEY_PREFIX`. With `FAIRLANE_QUEUE_SHARDS` above 1, and on a Cluster always, the",
        "prefix of shard k is `{sensitive:k}:`; workers, watermark, limits, nonces lie in shard 0, an epoch in each.",
        "",
        "| key | holds |",
        "| --- | --- |",
    ]
    for name, method in inspect.getmembers(Keys, inspect.isfunction):
        if not name.startswith("_"):
            parameters = [f"{{{parameter}}}" for parameter in list(inspect.signature(method).parameters)[1:]]
            lines.append(f"| `{getattr(keys, name)(*parameters)}` | {inspect.getdoc(method)} |")
    return "\n".join(lines) + "\n"


def metrics_page() -> str:
    lines = [
        "# Metrics",
        "",
        "What `GET /metrics` exports. It is the same from every web process and host: scrape one address, or take the",
        "`max` over those that you scrape, never the sum. [How to](../howto/metrics.md)",
        "",
        "| metric | kind | labels | what |",
        "| --- | --- | --- | --- |",
        *(f"| `{metric.name}` | {metric.kind} | {', '.join(metric.labels)} | {metric.what} |" for metric in METRICS),
    ]
    return "\n".join(lines) + "\n"


def error_classes() -> Iterator[type[errors.FairlaneError]]:
    """All classes of the tree, in the order of their declaration."""
    for module in (errors, device_errors):
        for kind in vars(module).values():
            is_own = isinstance(kind, type) and kind.__module__ == module.__name__
            if is_own and issubclass(kind, errors.FairlaneError):
                yield kind


def _branch(kind: type[errors.FairlaneError]) -> str:
    ancestors = [ancestor.__name__ for ancestor in kind.__mro__ if issubclass(ancestor, errors.FairlaneError)]
    return ancestors[-2] if len(ancestors) > 1 else "a bug: treated as Retryable"


PAGES = {
    "settings.md": settings_page,
    "errors.md": errors_page,
    "redis-keys.md": redis_keys_page,
    "metrics.md": metrics_page,
    "cli.md": cli_page,
    "http.md": http_page,
}


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page(), "utf-8")


if __name__ == "__main__":
    main()
