"""OrderedSet: scores first, then members, as Redis does it."""

from pipeline.simulation.ordered import OrderedSet


def test_members_are_ordered_by_score_then_by_name() -> None:
    ordered = OrderedSet()
    for member, score in (("b", 2.0), ("a", 2.0), ("c", 1.0)):
        ordered.put(member, score)

    assert ordered.first(3) == [(1.0, "c"), (2.0, "a"), (2.0, "b")]


def test_a_new_score_moves_a_member() -> None:
    ordered = OrderedSet()
    ordered.put("a", 1.0)
    ordered.put("b", 2.0)
    ordered.put("a", 3.0)

    assert ordered.first(2) == [(2.0, "b"), (3.0, "a")]
    assert len(ordered) == 2


def test_only_scores_up_to_a_limit_are_returned() -> None:
    ordered = OrderedSet()
    ordered.put("a", 1.0)
    ordered.put("b", 2.0)

    assert ordered.first(5, until=1.0) == [(1.0, "a")]


def test_dropping_says_whether_it_was_there() -> None:
    ordered = OrderedSet()
    ordered.put("a", 1.0)

    assert ordered.drop("a")
    assert not ordered.drop("a")
    assert ordered.first() == []
