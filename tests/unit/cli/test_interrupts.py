"""Ctrl-C, once and twice."""

import os
import signal

import pytest

from pipeline.cli.interrupts import handled_signals


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_first_signal_asks_to_stop_and_the_second_kills(number: signal.Signals) -> None:
    killed: list[bool] = []
    with handled_signals() as interrupts:
        interrupts.kill = lambda: killed.append(True)
        interrupts.raise_if_stopped()
        os.kill(os.getpid(), number)
        assert (interrupts.stop.is_set(), killed) == (True, [])
        os.kill(os.getpid(), number)
        assert killed == [True]
        with pytest.raises(KeyboardInterrupt):
            interrupts.raise_if_stopped(wait_s=5)


def test_signals_mean_again_what_they_meant_before() -> None:
    before = signal.getsignal(signal.SIGINT)
    with handled_signals():
        assert signal.getsignal(signal.SIGINT) != before
    assert signal.getsignal(signal.SIGINT) == before
