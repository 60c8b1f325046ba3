"""Read the rules of a list from JSON; all that is wrong is said at once, by place."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pipeline.detector.rules import (
    LEVEL_MAX,
    LEVEL_USUAL,
    TOLD,
    Action,
    Boundary,
    Combination,
    ContactKind,
    Expression,
    Rating,
    RuleSet,
    View,
    Word,
)
from pipeline.errors import FieldProblem, InvalidInput

#: Faults of one file that are listed.
_LISTED_MAX = 100


class _Rated(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    category: str = Field("", max_length=64)
    level: int = Field(LEVEL_USUAL, ge=1, le=LEVEL_MAX)
    action: Action = "block"
    tags: list[Annotated[str, Field(max_length=64)]] = Field(default_factory=list, max_length=20)

    def rating(self) -> Rating:
        return Rating(self.category, self.level, self.action, tuple(self.tags))


class _WordRule(_Rated):
    word: str
    boundary: Boundary = "auto"

    def rule(self) -> Word:
        return Word(self.word, self.rating(), self.boundary)


class _DenyRule(_WordRule):
    views: list[View] = Field(default_factory=list, max_length=8)

    def rule(self) -> Word:
        return Word(self.word, self.rating(), self.boundary, frozenset(self.views))


class _CombinationRule(_Rated):
    id: str = Field(min_length=1, max_length=64)
    all: list[str] = Field(min_length=2, max_length=8)
    within: int = Field(ge=0, le=1_000)


class _ExpressionRule(_Rated):
    id: str = Field(min_length=1, max_length=64)
    pattern: str = Field(min_length=1)


class _ContactRule(_Rated):
    level: int = Field(TOLD.level, ge=1, le=LEVEL_MAX)
    action: Action = TOLD.action


# PERF: most words of large lists are text alone; that they are taken as they are halves the time to read a list.
_AllowOrWord = Annotated[str | _WordRule, Field(union_mode="left_to_right")]
_DenyOrWord = Annotated[str | _DenyRule, Field(union_mode="left_to_right")]
_WORDS = ("deny", "allow")


class _Rules(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    format: Literal[1] = 1
    deny: list[_DenyOrWord] = Field(default_factory=list)
    allow: list[_AllowOrWord] = Field(default_factory=list)
    combos: list[_CombinationRule] = Field(default_factory=list, max_length=10_000)
    regex: list[_ExpressionRule] = Field(default_factory=list)
    contacts: dict[ContactKind, _ContactRule] | None = None
    views: list[View] = Field(default_factory=list, max_length=8)


def rules_of_json(data: bytes | str) -> RuleSet:
    """Read rules.

    Raises: InvalidInput, naming each fault by its place.
    """
    try:
        rules = _Rules.model_validate_json(data)
    except ValidationError as exc:
        faults = [
            FieldProblem(_pointer(fault["loc"]), fault["msg"])
            for fault in exc.errors(include_url=False, include_input=False)
            if not _is_of_text(fault["loc"])
        ]
        raise InvalidInput(faults[:_LISTED_MAX]) from exc
    return _rule_set(rules)


def _rule_set(rules: _Rules) -> RuleSet:
    told = RuleSet().contacts
    return RuleSet(
        deny=tuple(Word(rule) if isinstance(rule, str) else rule.rule() for rule in rules.deny),
        allow=tuple(Word(rule) if isinstance(rule, str) else rule.rule() for rule in rules.allow),
        combinations=tuple(Combination(rule.id, tuple(rule.all), rule.within, rule.rating()) for rule in rules.combos),
        expressions=tuple(Expression(rule.id, rule.pattern, rule.rating()) for rule in rules.regex),
        contacts=told if rules.contacts is None else {kind: rule.rating() for kind, rule in rules.contacts.items()},
        views=frozenset(rules.views),
    )


def _is_of_text(place: tuple[int | str, ...]) -> bool:
    """Say whether a fault is that of a word of not being text alone: that it is no rule is another one."""
    return bool(place) and place[0] in _WORDS and place[2:] == ("str",)


def _pointer(place: tuple[int | str, ...]) -> str:
    # Of a word, what it was tried as stands third.
    named = (*place[:2], *place[3:]) if place and place[0] in _WORDS else place
    return "".join(f"/{part}" for part in named)
