"""Print the rows of docs/features.md that no test shows, or only in part; planned rows are no fault, so exit 0."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def read_tables() -> tuple[dict[str, str], dict[str, str]]:
    """Feature id -> what is promised, and feature id -> what of it is still missing."""
    promised, _, partly = (ROOT / "docs" / "features.md").read_text("utf-8").partition("## Partly there")
    return _rows(promised), _rows(partly)


def _rows(table: str) -> dict[str, str]:
    return dict(re.findall(r"^\| ([A-Z]\d+) \| (.+?) \|$", table, re.MULTILINE))


def shown() -> set[str]:
    """The ids named by `@pytest.mark.feature(...)` anywhere in the tests."""
    ids: set[str] = set()
    for path in (ROOT / "tests").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "feature":
                ids |= {argument.value for argument in node.args if isinstance(argument, ast.Constant)}
    return ids


def main() -> None:
    promised, partly = read_tables()
    missing = {row: what for row, what in promised.items() if row not in shown()}
    for row, what in missing.items():
        print(f"{row:4} {what}")
    for row, what in partly.items():
        print(f"{row:4} still missing: {what}")
    whole = len(promised) - len(missing) - len(partly)
    print(f"{whole} of {len(promised)} rows are shown whole by a test, {len(partly)} in part")


if __name__ == "__main__":
    main()
