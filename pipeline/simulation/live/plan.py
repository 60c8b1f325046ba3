"""How much the live rows measure."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Plan:
    """One measurement of everything.

    Args:
        devices: the two sizes between which no operation may need more commands.
        claims: counted one by one.
        submits: to an idle worker, one after the other.
        pause_s: between a start and the next submit, so that the worker is idle again.
        backlog: tasks waiting while freed slots are timed.
        rounds: turns of the scripts and of the bare commands.
        calls: of each operation in one turn, on as many devices.
        holders: worker processes that are killed, spread evenly over one period of renewal.
        held: tasks that each of them holds.
        lease_s: the promise: a killed worker's task runs again within this.
        renew_s: between two renewals of a lease.
    """

    devices: tuple[int, int] = (10, 100_000)
    claims: int = 50
    submits: int = 400
    pause_s: float = 0.02
    backlog: int = 1_000
    rounds: int = 40
    calls: int = 200
    holders: int = 5
    held: int = 20
    lease_s: int = 30
    renew_s: float = 10.0


#: Each thing once, in seconds: shows that it works and means nothing.
TINY = Plan(
    devices=(10, 30),
    claims=4,
    submits=5,
    backlog=20,
    rounds=2,
    calls=10,
    holders=2,
    held=2,
    lease_s=3,
    renew_s=0.3,
)
