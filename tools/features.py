"""Print the rows of docs/features.md that no test shows; exit 0 either way, since planned rows are no fault."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def promised() -> dict[str, str]:
    """Feature id -> what is promised."""
    table = (ROOT / "docs" / "features.md").read_text("utf-8")
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
    missing = {row: what for row, what in promised().items() if row not in shown()}
    for row, what in missing.items():
        print(f"{row:4} {what}")
    print(f"{len(promised()) - len(missing)} of {len(promised())} rows are shown by a test")


if __name__ == "__main__":
    main()
