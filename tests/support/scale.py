"""How much a test of scale does: little in every run, all of it when asked."""

import os


def is_long() -> bool:
    """Say whether the long form was asked for: TEST_LONG, which is a word of the tests, not a setting."""
    return os.environ.get("TEST_LONG") == "1"  # noqa: TID251
