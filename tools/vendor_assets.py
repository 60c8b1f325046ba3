"""Brings the dashboard's libraries out of their packages: `python -m tools.vendor_assets`, with npm at hand.

The versions are fixed here; what npm hands over is checked against the hashes of the registry by npm itself. Nothing is
changed in the files but the names by which one imports the other, since a browser knows no package names.
"""

import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import NamedTuple

_FOLDER = Path(__file__).parent.parent / "web" / "dashboard" / "static" / "vendor"


class Asset(NamedTuple):
    """One file: out of which package, from where in it, under which name here."""

    package: str
    version: str
    source: str
    name: str


ASSETS = (
    Asset("preact", "11.2.0", "dist/preact.mjs", "preact.js"),
    Asset("preact", "11.2.0", "hooks/dist/hooks.mjs", "hooks.js"),
    Asset("htm", "3.1.1", "dist/htm.mjs", "htm.js"),
    Asset("uplot", "1.6.32", "dist/uPlot.iife.min.js", "uplot.js"),
    Asset("uplot", "1.6.32", "dist/uPlot.min.css", "uplot.css"),
)


def main() -> None:
    """Write the files, and the licences beside them."""
    with tempfile.TemporaryDirectory() as folder:
        for package, version in sorted({(asset.package, asset.version) for asset in ASSETS}):
            root = _unpacked(package, version, Path(folder) / package)
            for asset in ASSETS:
                if asset.package == package:
                    text = (root / asset.source).read_text(encoding="utf-8")
                    (_FOLDER / asset.name).write_text(_without_map(text.replace('from"preact"', 'from"./preact.js"')))
            (_FOLDER / f"{package}-{version}-license.txt").write_text((root / "LICENSE").read_text().lstrip("\n"))


def _unpacked(package: str, version: str, folder: Path) -> Path:
    folder.mkdir()
    subprocess.run(
        ["npm", "pack", "--silent", f"{package}@{version}"], cwd=folder, check=True, stdout=subprocess.DEVNULL
    )
    (archive,) = folder.glob("*.tgz")
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    return folder / "package"


def _without_map(text: str) -> str:
    """Without the line that sends a browser's tools to a file which is not here."""
    return "\n".join(line for line in text.splitlines() if not line.startswith("//# sourceMappingURL")) + "\n"


if __name__ == "__main__":
    main()
