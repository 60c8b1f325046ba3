"""`python -m tests.faults.harness.shifted SECONDS PROGRAM ARGS…`: a Python program for which it is another time.

The wall clock is wrapped where Python code asks for it (`time.time`, `time.time_ns`): fairlane's own clock asks there,
and so do dramatiq and redis-py. Code in C that asks the kernel itself still hears the real time. The workers of a
Dramatiq master are forked, so they keep it.
"""

import runpy
import sys
import time


def shift(seconds: float) -> None:
    """Let it be later by so many seconds, from now on and in this process."""
    real_s, real_ns, ahead_ns = time.time, time.time_ns, int(seconds * 1e9)  # noqa: TID251 - it is wrapped here
    vars(time).update(time=lambda: real_s() + seconds, time_ns=lambda: real_ns() + ahead_ns)


def main() -> None:
    seconds, program = sys.argv[1], sys.argv[2]
    shift(float(seconds))
    sys.stderr.write(f"shifted by {seconds} s\n")
    sys.argv = sys.argv[2:]
    runpy.run_module(program, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
