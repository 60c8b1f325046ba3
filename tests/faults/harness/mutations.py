"""`python -m tests.faults.harness.mutations`: take a guard of the books away, one at a time; the harness must go red.

Each is taken from a copy of the tree, and one fault that needs it is played there. Exit 1 when one went unnoticed.
"""

import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.faults.harness.table import parsed
from tests.support.parts import ROOT

#: What no run of the copy needs, or may see.
_LEFT_OUT = shutil.ignore_patterns(".git", ".venv*", "fairlane-data", "docs", "*_cache", "__pycache__")
#: Seconds until it is said that a task does not end; nothing here takes that long when all is well.
_PATIENCE_S = 45


@dataclass(frozen=True, slots=True)
class Removal:
    """A guard that is taken away, and the fault that it guards against.

    Args:
        changes: in each file, what stands there once, and what takes its place.
    """

    what: str
    fault: str
    changes: dict[str, tuple[str, str]]


REMOVALS = [
    Removal(
        "the fence of the ledger",
        "OCR worker overtaken in its sleep",
        {
            "models/changes.py": (
                "else Task.ended_ms.is_null() & is_running",
                "else Task.ended_ms.is_null()",
            )
        },
    ),
    Removal(
        "the idempotent enqueue",
        "duplicated messages",
        {"pipeline/queue/lua/enqueue.lua": ("if known and known ~= '' then\n", "if false then\n")},
    ),
    Removal(
        "the reaper",
        "started",
        {"pipeline/scheduler/__main__.py": ('        Duty("reap", 0, partial(reap, queue, ledger, counters)),\n', "")},
    ),
    Removal(
        "the reconciliation",
        "row committed",
        {
            "pipeline/scheduler/__main__.py": (
                '        Duty("reconcile", reconcile_ms, partial(reconcile, queue, inspector, ledger, counters)),\n',
                "",
            )
        },
    ),
]


def main() -> int:
    unnoticed = 0
    print("| taken away | fault | the harness says |\n| --- | --- | --- |", flush=True)
    for removal in REMOVALS:
        said = complaint_about(removal)
        unnoticed += not said
        print(f"| {removal.what} | {removal.fault} | {said or '**nothing**'} |", flush=True)
    return int(bool(unnoticed))


def complaint_about(removal: Removal) -> str:
    """The first thing that is wrong without the guard; empty when nothing is.

    Raises: RuntimeError, when the round could not be played to its end: that says nothing of the guard.
    """
    with tempfile.TemporaryDirectory(prefix="fairlane-mutation-") as folder:
        copy, into = Path(folder) / "tree", Path(folder) / "rounds.jsonl"
        shutil.copytree(ROOT, copy, ignore=_LEFT_OUT)
        for name, (old, new) in removal.changes.items():
            _change(copy / name, old, new)
        words = ["--only", removal.fault, "--into", str(into), "--patience", str(_PATIENCE_S)]
        run = subprocess.run(
            [sys.executable, "-m", "tests.faults.harness", *words],
            cwd=copy,
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
        if not into.exists():
            raise RuntimeError(
                f"without {removal.what} the harness did not run: {run.stdout[-500:]}{run.stderr[-2000:]}"
            )
        (found,) = map(parsed, into.read_text("utf-8").splitlines())
    if found.is_broken_off:
        raise RuntimeError(f"without {removal.what}: {found.faults[0]}")
    return found.faults[0] if found.faults else ""


def _change(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    if text.count(old) != 1:
        raise RuntimeError(f"{path.name}: {old!r} does not stand there once")
    path.write_text(text.replace(old, new), "utf-8")


if __name__ == "__main__":
    sys.exit(main())
