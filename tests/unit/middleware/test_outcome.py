"""RetryRules: when a failed attempt comes again."""

import pytest

from pipeline.middleware import RetryRules

RULES = RetryRules(max_attempts=10, max_losses=3, base_ms=2_000, max_ms=300_000)


@pytest.mark.feature("Q15")
@pytest.mark.parametrize(("attempt", "full_ms"), [(1, 2_000), (2, 4_000), (5, 32_000), (9, 300_000), (500, 300_000)])
def test_the_delay_doubles_up_to_its_limit_and_a_fifth_of_it_is_chance(attempt: int, full_ms: int) -> None:
    delays = {RULES.delay_ms(attempt) for _ in range(50)}

    assert all(0.8 * full_ms <= delay_ms <= full_ms for delay_ms in delays)
    assert len(delays) > 1
