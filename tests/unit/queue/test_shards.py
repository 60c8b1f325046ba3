"""Where a device lives: the same everywhere, for ever, and even."""

from collections import Counter

import pytest

from pipeline.errors import LeaseLost
from pipeline.queue import Rules
from pipeline.queue.scripts import expand, script_paths
from pipeline.queue.shards import SHARDS_MAX, home_of, rules_of_shards, shard_of_token
from pipeline.settings import Settings


def test_a_home_never_changes() -> None:
    # Written down, not computed: another hash would leave every line behind in its old shard.
    assert [home_of(mac, 8) for mac in ("aa0000000001", "bb0000000002", "ffffffffffff")] == [6, 5, 5]


def test_addresses_in_sequence_spread_evenly() -> None:
    homes = Counter(home_of(f"{number:012x}", 8) for number in range(8_000))

    assert all(900 < count < 1_100 for count in homes.values())


def test_all_of_a_shard_is_in_one_slot_and_otherwise_as_the_rules_say() -> None:
    first, second = rules_of_shards(Rules(prefix="sensitive:", max_total=7), 2)

    assert (first.prefix, second.prefix) == ("{sensitive:0}:", "{sensitive:1}:")
    assert second.max_total == 7


def test_a_token_tells_its_shard() -> None:
    assert shard_of_token(64 * 10**12 + 3, 4) == 3
    with pytest.raises(LeaseLost):
        shard_of_token(64 * 10**12 + 4, 4)


def test_scripts_and_settings_know_the_same_largest_number_of_shards() -> None:
    claim = next(path for path in script_paths() if path.stem == "claim")
    bound = next(bound for bound in Settings.model_fields["queue_shards"].metadata if hasattr(bound, "le"))

    assert f"local SHARDS_MAX = {SHARDS_MAX}\n" in expand(claim)
    assert bound.le == SHARDS_MAX
