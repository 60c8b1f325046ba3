"""The set of benchmarks whose figures stand in docs/why/performance.md, one after the other: `make bench`.

Each runs in a process of its own, on servers of its own; one that fails does not stop the others. `--list` only says
what would be run, `--only NAME …` runs a part of it.
"""

import argparse
import os
import subprocess
import sys
from dataclasses import dataclass
from time import perf_counter


@dataclass(frozen=True, slots=True)
class Entry:
    """One benchmark of the set.

    Args:
        command: arguments of Python.
        minutes: it takes about so long on two cores.
    """

    name: str
    what: str
    command: tuple[str, ...]
    minutes: int


SET = (
    Entry("task-cost", "what a text costs, HTTP to stored result", ("-m", "benchmarks.bench_task_cost"), 4),
    Entry(
        "peers",
        "fairlane beside what people would use instead",
        ("-m", "benchmarks.bench_peers", "--rounds", "1", "--only", "postgresql", "latency", "flood"),
        9,
    ),
    Entry("ocr", "images a second beside the bare engine", ("-m", "benchmarks.bench_ocr"), 6),
    Entry("live", "submit to start, freed slot to next task", ("-m", "pipeline", "simulate", "--live"), 2),
    Entry("queue", "the queue at 10 to 1,000,000 devices", ("-m", "benchmarks.bench_queue"), 4),
    Entry("scale", "3, 10 and 30 hosts on one server", ("-m", "benchmarks.bench_scale", "--only", "hosts"), 4),
)


def main() -> int:
    """Run the set; return how many failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="only say what would be run")
    parser.add_argument("--only", nargs="+", choices=[entry.name for entry in SET], help="these")
    options = parser.parse_args()
    chosen = [entry for entry in SET if not options.only or entry.name in options.only]
    print(f"{len(chosen)} benchmarks, about {sum(entry.minutes for entry in chosen)} minutes; {os.cpu_count()} cores\n")
    for entry in chosen:
        print(f"  {entry.name:10} {entry.minutes:3} min  {entry.what}")
    return 0 if options.list else sum(not _ran(entry) for entry in chosen)


def _ran(entry: Entry) -> bool:
    print(f"\n## {entry.name}: {entry.what}\n\n$ python {' '.join(entry.command)}\n", flush=True)
    began_s = perf_counter()
    code = subprocess.run([sys.executable, *entry.command], check=False).returncode
    print(f"\n{entry.name}: {'done' if code == 0 else f'failed ({code})'} in {(perf_counter() - began_s) / 60:.1f} min")
    return code == 0


if __name__ == "__main__":
    sys.exit(main())
