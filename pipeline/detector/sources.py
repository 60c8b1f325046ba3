"""Lists as a detector goes by them: whose they are, and what they say together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipeline.detector.findings import ListScope, ListVersion
from pipeline.detector.lexicon import Lexicon
from pipeline.detector.rules import ACTIONS, ContactKind, Rating, RuleSet

#: What a list that says nothing about contacts says.
_UNSAID = RuleSet().contacts


@dataclass(frozen=True, slots=True)
class Source:
    """A list that applies.

    Args:
        name: empty for the words of a request.
        version: 0 for a file of the host, which has none.
        list_id: that of its row; 0 for what has none.
    """

    lexicon: Lexicon
    scope: ListScope = "global"
    name: str = ""
    version: int = 0
    list_id: int = 0

    def list_version(self) -> ListVersion:
        return ListVersion(self.scope, self.name, self.version)


def contact_ratings(lexicons: Sequence[Lexicon]) -> Mapping[ContactKind, Rating]:
    """Return what is done about contacts: all that any list looks for, each as the list with the strongest action says;
    as by default when no list says anything about them.
    """
    said = [lexicon.contacts for lexicon in lexicons if lexicon.contacts != _UNSAID]
    if not said:
        return _UNSAID
    ratings: dict[ContactKind, Rating] = {}
    for kind, rating in (pair for contacts in said for pair in contacts.items()):
        ratings[kind] = max(ratings.get(kind, rating), rating, key=_strength)
    return ratings


def _strength(rating: Rating) -> tuple[int, int]:
    return ACTIONS.index(rating.action), rating.level
