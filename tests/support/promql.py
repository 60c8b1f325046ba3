"""What a PromQL expression asks for: its metrics, with the labels that it names."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import promql_parser


@dataclass(frozen=True, slots=True)
class Asked:
    """One metric in an expression.

    Args:
        equals: labels that must have this value.
        labels: names of all labels that selectors, aggregations and matchings around it name.
    """

    name: str
    equals: dict[str, str] = field(default_factory=dict)
    labels: frozenset[str] = frozenset()


def asked_by(expression: str) -> list[Asked]:
    """The metrics of an expression, in the order in which they stand there.

    Raises: ValueError, when it is no PromQL.
    """
    # Grafana puts a duration in the place of its own variable.
    return list(_walk(promql_parser.parse(expression.replace("$__rate_interval", "5m")), frozenset()))


def _walk(node: Any, around: frozenset[str]) -> Iterator[Asked]:
    match type(node).__name__:
        case "VectorSelector":
            equals = {
                each.name: each.value for each in node.matchers.matchers if each.op == promql_parser.MatchOp.Equal
            }
            names = {each.name for each in node.matchers.matchers}
            yield Asked(node.name, equals, around | names)
        case "MatrixSelector":
            yield from _walk(node.vector_selector, around)
        case "AggregateExpr":
            yield from _walk(node.expr, around | _named(node.modifier))
        case "BinaryExpr":
            matched = _named(node.modifier.matching) if node.modifier else frozenset()
            yield from _walk(node.lhs, around | matched)
            yield from _walk(node.rhs, around | matched)
        case "Call":
            for argument in node.args:
                yield from _walk(argument, around)
        case "ParenExpr" | "UnaryExpr" | "SubqueryExpr":
            yield from _walk(node.expr, around)
        case "NumberLiteral" | "StringLiteral":
            return
        case other:
            raise ValueError(f"no expression in our files had a {other} until now")


def _named(modifier: Any) -> frozenset[str]:
    return frozenset(modifier.labels) if modifier else frozenset()
