"""Tie a program to the life of its runner; run as a script, it then becomes that program.

    python -I -S tether.py RUNNER_PID LIFELINE_FD PROGRAM [ARGUMENT ...]

With LIFELINE_FD -1 the kernel sends SIGTERM when the runner dies (Linux only). Otherwise a small watcher process reads
that end of a pipe whose other end only the runner holds: end of file means that the runner is gone.

A script and not a `preexec_fn`, because the runner has threads, and code between fork and exec could deadlock there.
"""

import ctypes
import os
import signal
import sys

#: From <linux/prctl.h>.
_PR_SET_PDEATHSIG = 1


def main(arguments: list[str]) -> None:
    runner_pid, lifeline, program = int(arguments[0]), int(arguments[1]), arguments[2:]
    if lifeline < 0:
        _die_with(runner_pid)
    else:
        _watch(lifeline)
    try:
        os.execvp(program[0], program)  # noqa: S606 (becoming the program is all this is for)
    except OSError as exc:
        sys.exit(f"cannot start {program[0]}: {exc.strerror}")


def _die_with(runner_pid: int) -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != runner_pid:
        sys.exit("the runner ended before its program began")


def _watch(lifeline: int) -> None:
    program_pid = os.getpid()
    middle_pid = os.fork()
    if middle_pid:
        os.waitpid(middle_pid, 0)
        os.close(lifeline)
        return
    # Forked twice: the program must not find a child that it did not start.
    if os.fork() == 0:
        os.read(lifeline, 1)
        os.kill(program_pid, signal.SIGTERM)
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
