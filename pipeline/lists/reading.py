"""Read a list of words from a file: a word a line, a table, or rules; everything wrong is said by its line or place."""

import csv
import hashlib
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from pipeline.detector.rule_files import rules_of_json
from pipeline.detector.rules import RuleSet
from pipeline.errors import ConfigurationError, FieldProblem, InvalidInput
from pipeline.lists.encodings import decoded

Kind = Literal["txt", "csv", "json"]
Rule = str | dict[str, Any]
Tell = Callable[[int], None]

KINDS: tuple[Kind, ...] = get_args(Kind)
#: Bytes of one file; a million Chinese words of four characters take 13 MB.
FILE_MAX_BYTES = 64_000_000
WORDS_MAX = 1_000_000
#: Words between two reports of how far reading has come.
_TOLD_EACH = 10_000
#: Faults of one file that are listed.
_LISTED_MAX = 100
_COLUMNS = ("word", "list", "category", "level", "action", "tags", "boundary", "views")
#: Columns whose cells hold several names, and what stands between these.
_PLURAL, _APART = ("tags", "views"), "|"


@dataclass(frozen=True, slots=True)
class ListFile:
    """What a list says.

    Args:
        body: its rules in JSON, always the same for the same rules.
        lines: for each denied and each allowed word the line it stands in; empty where places are JSON pointers.
    """

    body: bytes
    rules: RuleSet
    encoding: str
    lines: dict[str, list[int]]

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.body).hexdigest()

    def place(self, pointer: str) -> str:
        """Return where in the file a rule stands: its line, or the pointer itself."""
        name, _, rest = pointer.removeprefix("/").partition("/")
        index, _, field = rest.partition("/")
        if name not in self.lines or not index.isdigit():
            return pointer
        return f"line {self.lines[name][int(index)]}" + (f", {field}" if field else "")


def kind_of(name: str) -> Kind:
    """Return what a file holds by its name: csv, json, or else a word a line."""
    suffix = Path(name).suffix.lower().removeprefix(".")
    return "csv" if suffix == "csv" else "json" if suffix == "json" else "txt"


def read_list(data: bytes, kind: Kind, encoding: str | None = None, tell: Tell = lambda _: None) -> ListFile:
    """Read a list.

    Args:
        encoding: None: it is found out.
        tell: called with the number of words read so far, now and then.
    Raises: InvalidInput.
    """
    if len(data) > FILE_MAX_BYTES:
        raise InvalidInput([FieldProblem("file", f"must be at most {FILE_MAX_BYTES} bytes")])
    text, found = decoded(data, encoding)
    if kind == "json":
        return list_of(_parsed(text), found)
    read = _Lines(tell)
    read.take_all(_of_table(text) if kind == "csv" else _of_lines(text))
    return list_of(read.rules, found, read.numbers)


def list_of(document: Any, encoding: str = "utf-8", lines: dict[str, list[int]] | None = None) -> ListFile:
    """Return rules that were parsed as a list. Raises: InvalidInput."""
    places = ListFile(b"", RuleSet(), encoding, lines or {})
    try:
        rules = rules_of_json(json.dumps(document))
    except InvalidInput as exc:
        raise InvalidInput([FieldProblem(places.place(one.pointer), one.detail) for one in exc.problems]) from exc
    if len(rules.deny) + len(rules.allow) > WORDS_MAX:
        raise InvalidInput([FieldProblem("file", f"must be at most {WORDS_MAX} words")])
    body = json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()
    return replace(places, body=body, rules=rules)


def bytes_of(path: Path) -> bytes:
    """Return what a file holds, of one that is too large for a list just enough to see that. Raises: OSError."""
    with path.open("rb") as file:
        return file.read(FILE_MAX_BYTES + 1)


def load_list(path: Path) -> ListFile:
    """Read the list in a file of this machine. Raises: ConfigurationError naming the file."""
    try:
        data = bytes_of(path)
    except OSError as exc:
        raise ConfigurationError(f"the word list {path} cannot be read: {exc.strerror}") from exc
    try:
        return read_list(data, kind_of(path.name))
    except InvalidInput as exc:
        raise ConfigurationError(f"the word list {path}: {exc}") from exc


class _Lines:
    """Rules that come line by line."""

    def __init__(self, tell: Tell) -> None:
        self.rules: dict[str, list[Rule]] = {"deny": [], "allow": []}
        self.numbers: dict[str, list[int]] = {"deny": [], "allow": []}
        self._tell = tell

    def take_all(self, rules: Iterator[tuple[int, str, Rule]]) -> None:
        count = 0
        for number, name, rule in rules:
            count += 1
            if count > WORDS_MAX:
                raise InvalidInput([FieldProblem(f"line {number}", f"is one more than {WORDS_MAX} words")])
            self.rules[name].append(rule)
            self.numbers[name].append(number)
            if count % _TOLD_EACH == 0:
                self._tell(count)
        self._tell(count)


def _of_lines(text: str) -> Iterator[tuple[int, str, Rule]]:
    # Split at line feeds only: str.splitlines would also cut words at U+2028 and its like.
    for number, line in enumerate(text.split("\n"), start=1):
        word = line.strip()
        if word and not word.startswith("#"):
            yield number, "deny", word


def _of_table(text: str) -> Iterator[tuple[int, str, Rule]]:
    head, _, _ = text.partition("\n")
    delimiter = next((sign for sign in ",;\t" if sign in head), ",")
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    problems: list[FieldProblem] = []
    try:
        columns = [name.strip().lower() for name in next(rows, [])]
        _check_columns(columns)
        for row in rows:
            if not any(cell.strip() for cell in row):
                continue
            try:
                yield rows.line_num, *_rule_of(columns, [cell.strip() for cell in row])
            except ValueError as exc:
                problems.append(FieldProblem(f"line {rows.line_num}", str(exc)))
            if len(problems) >= _LISTED_MAX:
                break
    except csv.Error as exc:
        raise InvalidInput([FieldProblem(f"line {rows.line_num}", f"is no row of a table: {exc}")]) from exc
    if problems:
        raise InvalidInput(problems)


def _check_columns(columns: list[str]) -> None:
    unknown = [name for name in columns if name not in _COLUMNS]
    if "word" not in columns or unknown or len(set(columns)) < len(columns):
        detail = f"must name the columns: word, and any of {', '.join(_COLUMNS[1:])}, each once"
        raise InvalidInput([FieldProblem("line 1", detail)])


def _rule_of(columns: list[str], cells: list[str]) -> tuple[str, Rule]:
    if len(cells) != len(columns):
        raise ValueError(f"has {len(cells)} cells, the first line {len(columns)}")
    rule: dict[str, Any] = {name: cell for name, cell in zip(columns, cells, strict=True) if cell}
    name = rule.pop("list", "deny")
    if name not in ("deny", "allow"):
        raise ValueError("list must be deny or allow")
    if "word" not in rule:
        raise ValueError("has no word")
    if "level" in rule:
        if not (rule["level"].isascii() and rule["level"].isdigit()):
            raise ValueError("level must be 1 to 4")
        rule["level"] = int(rule["level"])
    for column in _PLURAL:
        if column in rule:
            rule[column] = [part.strip() for part in rule[column].split(_APART)]
    return name, rule if len(rule) > 1 else rule["word"]


def _parsed(text: str) -> Any:
    try:
        document = json.loads(text)
    except json.JSONDecodeError as exc:
        raise InvalidInput([FieldProblem(f"line {exc.lineno}", f"Invalid JSON: {exc.msg}")]) from exc
    except (RecursionError, ValueError) as exc:
        raise InvalidInput([FieldProblem("file", "Invalid JSON: nested too deeply, or a number is too long")]) from exc
    return {"deny": document} if isinstance(document, list) else document
