"""A worker process that prints the tasks it holds and never finishes one: made to be killed."""

import sys
from threading import Event

from pipeline.queue import Rules
from pipeline.simulation.live.worker import Site, working


def main(arguments: list[str]) -> None:
    """Hold tasks until somebody kills this process.

    Args:
        arguments: URLs of Valkey and database, policy, lease in ms, seconds between renewals, tasks held at once.
    """
    url, database_url, policy, lease_ms, renew_s, held = arguments
    rules = Rules(policy="aging" if policy == "aging" else "fair", lease_ms=int(lease_ms))
    for_ever = Event()

    def hold(task_id: str) -> None:
        # One write: several threads print at once.
        sys.stdout.write(f"{task_id}\n")
        sys.stdout.flush()
        for_ever.wait()

    with working(Site(url, database_url, rules, float(renew_s)), hold, threads=int(held)):
        for_ever.wait()


if __name__ == "__main__":
    main(sys.argv[1:])
