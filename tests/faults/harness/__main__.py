"""`python -m tests.faults.harness`: rounds until so many are played; a file keeps each, and a second call goes on.

Exit 0 when no round was red, 1 when one was; an inconclusive round is told and makes nothing red.
"""

import argparse
import sys
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.faults.harness.course import RATE, Course
from tests.faults.harness.fault import Fault
from tests.faults.harness.faults_versions import OtherVersion, tree_of
from tests.faults.harness.rounds import DRAIN_LIMIT_S
from tests.faults.harness.scenarios import all_faults
from tests.faults.harness.table import Round, parsed, table


def main() -> int:
    options = _options()
    with TemporaryDirectory(prefix="fairlane-other-") as folder:
        try:
            chosen = _chosen(options, Path(folder) / "other")
        except ValueError as exc:
            sys.exit(f"nothing was run: {exc}")
        return _run(options, chosen)


def _chosen(options: argparse.Namespace, folder: Path) -> list[Fault]:
    """The faults that are wanted. Raises: ValueError, where there is no such fault or version."""
    if options.beside:
        return [OtherVersion(f"{options.beside} beside this version", tree_of(options.beside, folder))]
    known = {fault.name: fault for fault in all_faults(on_sqlite=options.sqlite)}
    if unknown := set(options.only) - set(known):
        raise ValueError(f"no fault is called {', '.join(sorted(unknown))}; there are: {', '.join(sorted(known))}")
    return [fault for name, fault in known.items() if not options.only or name in options.only]


def _run(options: argparse.Namespace, chosen: Sequence[Fault]) -> int:
    rounds = _read(options.into)
    if rounds:
        print(f"{len(rounds)} rounds are in {options.into} already", flush=True)
    wanted = options.rounds or len(chosen)
    course = Course(options.lease, options.rate, options.patience, on_sqlite=options.sqlite)
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
    parser.add_argument("--beside", metavar="VERSION", help="a commit or a folder, of which scheduler and workers join")
    parser.add_argument("--sqlite", action="store_true", help="the ledger is a file of SQLite, not a PostgreSQL")
    parser.add_argument("--into", type=Path, help="file of the rounds, one JSON object a line; goes on where it ends")
    parser.add_argument("--lease", type=int, default=6, help="seconds after which a killed worker's task runs again")
    parser.add_argument("--rate", type=float, default=RATE, help="tasks a second")
    parser.add_argument(
        "--patience", type=float, default=DRAIN_LIMIT_S, help="seconds until a task is said never to end"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
