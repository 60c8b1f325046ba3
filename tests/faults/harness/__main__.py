"""`python -m tests.faults.harness`: rounds until so many are played; a file keeps each, and a second call goes on.

Exit 0 when no round was red, 1 when one was; an inconclusive round is told and makes nothing red.
"""

import argparse
import sys
from itertools import cycle, islice
from pathlib import Path

from tests.faults.harness.course import RATE, Course
from tests.faults.harness.rounds import DRAIN_LIMIT_S
from tests.faults.harness.scenarios import all_faults
from tests.faults.harness.table import Round, parsed, table


def main() -> int:
    options = _options()
    known = {fault.name for fault in all_faults()}
    if unknown := set(options.only) - known:
        sys.exit(f"no fault is called {', '.join(sorted(unknown))}; there are: {', '.join(sorted(known))}")
    rounds = _read(options.into)
    if rounds:
        print(f"{len(rounds)} rounds are in {options.into} already", flush=True)
    wanted = options.rounds or len(options.only or known)
    chosen = [fault for fault in all_faults() if not options.only or fault.name in options.only]
    course = Course(options.lease, options.rate, options.patience)
    try:
        for fault in islice(cycle(chosen), len(rounds), wanted):
            rounds.append(course.play(fault))
            _keep(options.into, rounds[-1])
            print(told(len(rounds), wanted, rounds[-1]), flush=True)
    finally:
        course.close()
        print(f"\n{table(rounds)}\n" if rounds else "no round", flush=True)
    return int(any(one.is_red for one in rounds))


def told(number: int, wanted: int, one: Round) -> str:
    """One line of progress, and what is wrong."""
    head = f"{number}/{wanted} {one.verdict:12} {one.fault}: {one.trace or 'no trace'}; "
    head += f"{one.accepted} accepted, {one.troubles} troubles, {len(one.reruns_s)} reruns, back after {one.back_s} s, "
    head += f"{one.took_s:.0f} s"
    return "\n".join([head, *(f"    {fault}" for fault in one.faults)])


def _read(path: Path | None) -> list[Round]:
    if path is None or not path.exists():
        return []
    return [parsed(line) for line in path.read_text("utf-8").splitlines()]


def _keep(path: Path | None, one: Round) -> None:
    if path:
        with path.open("a", encoding="utf-8") as file:
            file.write(one.line() + "\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.faults.harness", description=__doc__)
    parser.add_argument("--rounds", type=int, default=0, help="how many; each fault once when not given")
    parser.add_argument("--only", action="append", default=[], metavar="FAULT", help="this fault; may be repeated")
    parser.add_argument("--into", type=Path, help="file of the rounds, one JSON object a line; goes on where it ends")
    parser.add_argument("--lease", type=int, default=6, help="seconds after which a killed worker's task runs again")
    parser.add_argument("--rate", type=float, default=RATE, help="tasks a second")
    parser.add_argument(
        "--patience", type=float, default=DRAIN_LIMIT_S, help="seconds until a task is said never to end"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
