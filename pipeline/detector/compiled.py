"""A list made ready: made from its rules, or read from the bytes that were made of it before."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import Self

from pipeline.detector.automaton import Daachorse, Engine
from pipeline.detector.characters import characters_version
from pipeline.detector.compiling import Compilation
from pipeline.detector.expressions import Expressions
from pipeline.detector.index import Index
from pipeline.detector.misread import misread_version
from pipeline.detector.openings import Openings
from pipeline.detector.readings import readings_version
from pipeline.detector.rules import Combination, ContactKind, Expression, Rating, RuleSet, Word
from pipeline.detector.sections import Bytes, packed, unpacked
from pipeline.detector.split_glyphs import glyphs_version
from pipeline.detector.word_table import WordTable
from pipeline.errors import InvalidInput

_INDICES = ("texts", "literal", "sounds")


@dataclass(frozen=True, slots=True)
class Mates:
    """A combination and the numbers of its words."""

    combination: Combination
    words: frozenset[int]


@dataclass(frozen=True, slots=True)
class Compiled:
    """All that is needed to search by a list.

    Args:
        engine: of its indices.
        indices: by name, as those of `Compilation`; `texts` is always there, others where they hold something.
        openings: of the index `sounds`, with which it comes.
        longest_split: characters of the longest word that is found taken apart; 0: none is.
    """

    engine: type[Engine]
    table: WordTable
    indices: Mapping[str, Index]
    combinations: tuple[Mates, ...]
    expressions: Expressions
    contacts: Mapping[ContactKind, Rating]
    openings: Openings | None
    longest_split: int

    @classmethod
    def of_rules(cls, words: Iterable[str], rules: RuleSet, engine: type[Engine] = Daachorse) -> Self:
        """Make a list ready.

        Raises: InvalidInput, naming each word that is blank or holds half a character, and each wrong expression.
        """
        made = Compilation(rules.views)
        problems = [
            *made.put_words("/words", words),
            *made.put_rules("/deny", "deny", rules.deny),
            *made.put_rules("/allow", "allow", rules.allow),
        ]
        for index, combination in enumerate(rules.combinations):
            problems += made.put_rules(f"/combos/{index}/all", "part", [*map(Word, combination.words)])
        if problems:
            raise InvalidInput(problems)
        made.blur()
        columns = {name: getattr(made, name) for name in _INDICES}
        return cls(
            engine,
            made.table(),
            {
                name: Index.of(column.texts, column.numbers, engine)
                for name, column in columns.items()
                if column.texts or name == "texts"
            },
            tuple(Mates(one, frozenset(map(made.part, one.words))) for one in rules.combinations),
            Expressions(rules.expressions),
            rules.contacts,
            Openings.of(made.sounds.texts) if made.sounds.texts else None,
            made.longest_split,
        )

    def to_bytes(self) -> bytes:
        """Return what `of_bytes` makes the same of, in processes with the same tables and engine."""
        sections: dict[str, Bytes] = {"said": self._said(), **self.table.sections()}
        for name, index in self.indices.items():
            sections |= index.sections(name)
        if self.openings:
            sections |= self.openings.sections("openings")
        return packed(_about(self.engine), sections)

    @classmethod
    def of_bytes(cls, data: Bytes, engine: type[Engine] = Daachorse) -> Self:
        """Read what `to_bytes` wrote; `data` is looked into as long as the list is in use, and must not change.

        Raises: ListDamaged, ListOutdated.
        """
        sections = unpacked(data, _about(engine))
        said = json.loads(bytes(sections["said"]))
        return cls(
            engine,
            WordTable.of_sections(sections),
            {name: Index.of_sections(name, sections, engine) for name in _INDICES if f"{name}.firsts" in sections},
            tuple(
                Mates(Combination(name, tuple(words), within, Rating.of_row(row)), frozenset(numbers))
                for name, words, within, row, numbers in said["combinations"]
            ),
            Expressions([Expression(name, text, Rating.of_row(row)) for name, text, row in said["expressions"]]),
            {kind: Rating.of_row(row) for kind, row in said["contacts"].items()},
            Openings.of_sections("openings", sections) if "openings.first" in sections else None,
            said["longest_split"],
        )

    def _said(self) -> bytes:
        said = {
            "combinations": [
                (one.id, one.words, one.within, one.rating.row(), sorted(mates.words))
                for mates in self.combinations
                for one in (mates.combination,)
            ],
            "expressions": [(one.id, one.pattern, one.rating.row()) for one in self.expressions.all],
            "contacts": {kind: rating.row() for kind, rating in self.contacts.items()},
            "longest_split": self.longest_split,
        }
        return json.dumps(said).encode()


@cache
def _about(engine: type[Engine]) -> dict[str, str]:
    """What the bytes of a list depend on besides the list."""
    return {
        "characters": characters_version(),
        "look-alikes": misread_version(),
        "readings": readings_version(),
        "glyphs": glyphs_version(),
        "engine": f"{engine.name} {version(engine.name)}",
    }
