"""Regular expressions of users, by an engine whose time grows with the text and with nothing else."""

from collections.abc import Iterator, Sequence

import re2

from pipeline.detector.rules import Expression
from pipeline.errors import FieldProblem, InvalidInput

#: Expressions of one list: each is one more pass over the text.
EXPRESSIONS_MAX = 200
PATTERN_MAX_CHARS = 1_000
#: Bytes of one compiled expression; it bounds `(a{1000}){1000}`, whose automaton would fill the memory.
_PROGRAM_MAX_BYTES = 1 << 20


class Expressions:
    """The expressions of one list, compiled; safe to share between threads.

    Raises: InvalidInput, naming each that RE2 does not take, that is too large, or that finds nothing at all.
    """

    def __init__(self, expressions: Sequence[Expression]) -> None:
        if len(expressions) > EXPRESSIONS_MAX:
            raise InvalidInput([FieldProblem("/regex", f"must be at most {EXPRESSIONS_MAX} expressions")])
        self.all = tuple(expressions)
        self._compiled = []
        problems = []
        for index, expression in enumerate(expressions):
            try:
                self._compiled.append((expression, _compiled(expression.pattern)))
            except ValueError as exc:
                problems.append(FieldProblem(f"/regex/{index}/pattern", str(exc)))
        if problems:
            raise InvalidInput(problems)

    def find(self, text: str) -> Iterator[tuple[Expression, int, int]]:
        """Give each match that is not empty with its span, in code points."""
        if not self._compiled:
            return
        whole = text.encode("utf-8", "replace").decode()  # each half of a pair of surrogates becomes one "?"
        for expression, pattern in self._compiled:
            for match in pattern.finditer(whole):
                if match.end() > match.start():
                    yield expression, match.start(), match.end()


def _compiled(pattern: str) -> "re2._Regexp[str]":
    if len(pattern) > PATTERN_MAX_CHARS:
        raise ValueError(f"must be at most {PATTERN_MAX_CHARS} characters")
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    options.max_mem = _PROGRAM_MAX_BYTES
    try:
        compiled = re2.compile(pattern, options=options)
    except (re2.error, UnicodeEncodeError) as exc:
        raise ValueError(f"is not an expression that RE2 takes: {_reason(exc)}") from exc
    if compiled.match(""):
        raise ValueError("matches the empty text, hence everywhere")
    return compiled


def _reason(exc: Exception) -> str:
    reason = exc.args[0] if exc.args else ""
    return reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
