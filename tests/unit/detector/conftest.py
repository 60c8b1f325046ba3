"""The detector's tests that use lists run over each way in which a list may come to be."""

from collections.abc import Callable, Iterable

import pytest

from pipeline.detector import automaton
from pipeline.detector.automaton import AhocorasickRs
from pipeline.detector.compiled import Compiled
from pipeline.detector.rules import RuleSet

_of_rules = Compiled.of_rules


def _read_back(words: Iterable[str], rules: RuleSet) -> Compiled:
    return Compiled.of_bytes(_of_rules(words, rules).to_bytes())


def _with_spare_engine(words: Iterable[str], rules: RuleSet) -> Compiled:
    return _of_rules(words, rules, AhocorasickRs)


def _with_spare_engine_read_back(words: Iterable[str], rules: RuleSet) -> Compiled:
    return Compiled.of_bytes(_with_spare_engine(words, rules).to_bytes(), AhocorasickRs)


WAYS: dict[str, Callable[[Iterable[str], RuleSet], Compiled]] = {
    "made": _of_rules,
    "over UTF-16, read back": _read_back,
    "spare engine": _with_spare_engine,
    "spare engine, read back": _with_spare_engine_read_back,
}


@pytest.fixture(params=WAYS.values(), ids=WAYS.keys())
def each_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists are made in the one way and then the other; what they find must be the same."""
    monkeypatch.setattr(Compiled, "of_rules", request.param)
    if request.param is _read_back:
        monkeypatch.setattr(automaton, "CHARWISE_MAX_PATTERNS", 0)
