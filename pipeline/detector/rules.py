"""What a list may say: words, allowed words, combinations, expressions, and what to do about each."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Self, get_args

Action = Literal["block", "review", "mask", "tag"]
Boundary = Literal["auto", "none"]
View = Literal["ocr", "pinyin", "split"]
ContactKind = Literal["phone_cn", "id_card", "bank_card", "email", "url", "qq", "wechat"]

#: From the weakest; only the last two change what is suggested.
ACTIONS: tuple[Action, ...] = ("tag", "mask", "review", "block")
CONTACT_KINDS: tuple[ContactKind, ...] = get_args(ContactKind)
LEVEL_MAX = 4
#: Of what says nothing about its level.
LEVEL_USUAL = 3


@dataclass(frozen=True, slots=True)
class Rating:
    """What a find means.

    Args:
        category: free to choose, such as `gambling`; empty: none.
        level: 1, hardly worth a look, to 4.
    """

    category: str = ""
    level: int = LEVEL_USUAL
    action: Action = "block"
    tags: tuple[str, ...] = ()

    def row(self) -> list[Any]:
        """The rating as values that fit JSON, for `of_row`."""
        return [self.category, self.level, self.action, self.tags]

    @classmethod
    def of_row(cls, row: list[Any]) -> Self:
        category, level, action, tags = row
        return cls(category, level, action, tuple(tags))


#: Of a word that is text alone.
USUAL = Rating()


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a list.

    Args:
        boundary: `auto`: no Latin letter goes on beyond a Latin edge of the word, no digit beyond a digit;
            `none`: it is found inside longer words too.
        views: in which it is found too, besides those of the list.
    """

    word: str
    rating: Rating = USUAL
    boundary: Boundary = "auto"
    views: frozenset[View] = frozenset()


@dataclass(frozen=True, slots=True)
class Combination:
    """Words that mean something together only.

    Args:
        words: two or more; none of them is a hit by itself, even where the list denies it too.
        within: characters between one and the next, at most.
    """

    id: str
    words: tuple[str, ...]
    within: int
    rating: Rating = USUAL


@dataclass(frozen=True, slots=True)
class Expression:
    """A regular expression in the syntax of RE2, blind to case; it looks at the text as it was given."""

    id: str
    pattern: str
    rating: Rating = USUAL


#: What is done about contacts unless a list says otherwise: they are told, and change nothing.
TOLD = Rating(level=1, action="tag")


@dataclass(frozen=True, slots=True)
class RuleSet:
    """All that one list says.

    Args:
        contacts: the kinds that are looked for.
        views: what is found in them is never more than a review. `ocr`: an OCR engine took characters for others;
            `pinyin`: characters that sound alike, and syllables in Latin letters; `split`: characters taken apart.
    """

    deny: tuple[Word, ...] = ()
    allow: tuple[Word, ...] = ()
    combinations: tuple[Combination, ...] = ()
    expressions: tuple[Expression, ...] = ()
    contacts: Mapping[ContactKind, Rating] = field(default_factory=lambda: dict.fromkeys(CONTACT_KINDS, TOLD))
    views: frozenset[View] = frozenset()
