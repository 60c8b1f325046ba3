"""What every benchmark prints: the machine, and a table with medians and spread."""

import os
import platform
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from statistics import median


def machine(server_version: str) -> str:
    """The machine, its load now and the versions of what is measured, one fact a line."""
    one, five, fifteen = os.getloadavg()
    versions = [
        f"Python {platform.python_version()}",
        f"redis-py {version('redis')}",
        f"server {server_version}",
        f"fairlane {version('fairlane')}",
        f"Linux {platform.release()}",
    ]
    return (
        f"machine   {os.cpu_count()} cores, {_cpu_model()}, load {one:.2f} {five:.2f} {fifteen:.2f}\n"
        f"versions  {', '.join(versions)}"
    )


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table, aligned so that it can be read as it is."""
    cells = [list(columns), *map(list, rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(columns))]
    lines = [
        "| " + " | ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in cells
    ]
    lines.insert(1, "| " + " | ".join("-" * (width - 1) + ":" for width in widths) + " |")
    return "\n".join(lines)


def spread(values: Sequence[float], digits: int = 0) -> str:
    """`median (least–most)`."""
    return f"{median(values):,.{digits}f} ({min(values):,.{digits}f}–{max(values):,.{digits}f})"


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or "unknown"
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")
