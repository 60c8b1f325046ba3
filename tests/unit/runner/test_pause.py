"""The pause before a restart."""

from pipeline.runner.child import describe_exit
from pipeline.runner.supervisor import pause_ms


def test_the_pause_starts_at_half_a_second_and_doubles_up_to_thirty_seconds() -> None:
    assert [pause_ms(n) for n in (1, 2, 3, 6, 7, 1_000)] == [500, 1_000, 2_000, 16_000, 30_000, 30_000]


def test_an_exit_is_described_by_its_code_or_the_name_of_its_signal() -> None:
    assert [describe_exit(code) for code in (0, 2, -9, -15, -999)] == [
        "exit 0",
        "exit 2",
        "killed by SIGKILL",
        "killed by SIGTERM",
        "killed by signal 999",
    ]
