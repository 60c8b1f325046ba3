"""Files and functions stay small enough to be read in one go, and carry the house's names."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = [ROOT / name for name in ("benchmarks", "pipeline", "models", "web", "tests", "tools")]
SOURCES = [path for package in PACKAGES for path in sorted(package.rglob("*.py")) if "migrations" not in path.parts]
BANNED_NAMES = {"utils", "util", "helpers", "helper", "common", "manager", "misc"}

each_source = pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))


@each_source
def test_a_file_is_short_and_says_what_it_is(path: Path) -> None:
    text = path.read_text()

    assert len(text.splitlines()) < 300
    assert path.stem not in BANNED_NAMES
    assert not text or ast.get_docstring(ast.parse(text)), "a module opens with a docstring"


@each_source
def test_a_function_is_short(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert (node.end_lineno or 0) - node.lineno < 60, f"{node.name} is too long"


@each_source
def test_nothing_is_left_to_do(path: Path) -> None:
    if path == Path(__file__):
        return
    assert not re.search(r"#.*\b(TODO|FIXME|XXX|HACK)\b", path.read_text())


@pytest.mark.parametrize("folder", ["unit", "integration"])
def test_tests_do_not_sleep_or_skip(folder: str) -> None:
    for path in (ROOT / "tests" / folder).rglob("*.py"):
        assert not re.search(r"\bsleep\(|mark\.(skip|xfail)|pytest\.(skip|xfail)\(", path.read_text()), path
