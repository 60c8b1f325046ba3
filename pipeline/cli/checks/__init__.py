"""What `fairlane doctor` looks at, one file for each part of fairlane; each check says what it found and the cure."""

from collections.abc import Callable

from pipeline.cli.checks.clocks import look_at_clocks
from pipeline.cli.checks.crew import look_at_scheduler, look_at_workers
from pipeline.cli.checks.data import look_at_database, look_at_storage, look_at_words
from pipeline.cli.checks.doors import look_at_keys, look_at_traces, look_at_webhook
from pipeline.cli.checks.finding import Check, wrong
from pipeline.cli.checks.host import look_at_disks, look_at_engine, look_at_files
from pipeline.cli.checks.server import look_at_layout, look_at_queue
from pipeline.errors import ConfigurationError, DatabaseUnavailable, FairlaneError, QueueUnavailable
from pipeline.settings import Settings

__all__ = ["Check", "all_checks", "refused_settings"]

START = "start it with `fairlane up`"

#: What does not answer when these are raised.
_SERVERS: dict[type[Exception], str] = {QueueUnavailable: "queue", DatabaseUnavailable: "database"}

Look = Callable[[Settings], list[Check]]


def all_checks(settings: Settings) -> list[Check]:
    """Look at everything, however much of it is broken."""
    server = START if settings.is_redis_embedded else "check FAIRLANE_REDIS_URL and the server"
    looks: tuple[tuple[str, Look, str], ...] = (
        ("queue", look_at_queue, server),
        ("queue layout", look_at_layout, server),
        ("scheduler", look_at_scheduler, server),
        ("workers", look_at_workers, server),
        ("database", look_at_database, "check FAIRLANE_DATABASE_URL and the server"),
        ("clocks", look_at_clocks, server),
        ("keys", look_at_keys, "run `fairlane migrate`"),
        ("webhook", look_at_webhook, "check FAIRLANE_WEBHOOK_URL"),
        ("traces", look_at_traces, "check FAIRLANE_TRACES_ENDPOINT"),
        ("storage", look_at_storage, "check FAIRLANE_STORAGE_URL, its permissions and the free space"),
        ("disk", look_at_disks, "check FAIRLANE_DATA_DIR"),
        ("open files", look_at_files, "raise the limit: `ulimit -n 4096`, or LimitNOFILE= in a systemd unit"),
        ("engine", look_at_engine, "install fairlane again; its OCR engine is incomplete"),
        ("words", look_at_words, "check FAIRLANE_WORDS_FILE and `fairlane words list`"),
    )
    gone: set[str] = set()
    return [check for name, look, cure in looks for check in _tried(name, look, settings, cure, gone)]


def refused_settings(exc: ConfigurationError) -> list[Check]:
    """The faults of settings with which nothing can be looked at."""
    cure = "mend it in the environment or in .env; docs/reference/settings.md has them all"
    problems = [line.strip() for line in str(exc).splitlines() if line.startswith("  ")]
    return [wrong("settings", problem, cure) for problem in problems or [str(exc)]]


def _tried(name: str, look: Look, settings: Settings, cure: str, gone: set[str]) -> list[Check]:
    """What a look finds; one that cannot be had for want of a server that is gone says only that.

    Args:
        gone: servers that did not answer their own look.
    """
    try:
        return look(settings)
    except (FairlaneError, OSError, ImportError) as exc:
        server = _SERVERS.get(type(exc), "")
        if server in gone:
            return [wrong(name, f"not known: the {server} does not answer", f"see the {server}")]
        if name == server:
            gone.add(server)
        return [wrong(name, str(exc) or type(exc).__name__, cure)]
