"""fairlane's own worker, whose texts each take a known time: `dramatiq benchmarks.peers.fairlane_waiting:broker`."""

from collections.abc import Sequence

import dramatiq

from benchmarks.peers.work import FLOOD_WAIT_MS, wait
from pipeline.actors import build_broker
from pipeline.attempts import Attempt
from pipeline.clock import SystemClock
from pipeline.ocr.engines import open_engines
from pipeline.settings import load_settings_or_exit

_settings = load_settings_or_exit()
broker = build_broker(_settings, open_engines(_settings, SystemClock()))
dramatiq.set_broker(broker)
_actor = broker.get_actor("execute_text")
_work = _actor.fn


def _work_and_wait(attempts: Sequence[Attempt]) -> None:
    _work(attempts)
    wait(FLOOD_WAIT_MS * len(attempts))


_actor.fn = _work_and_wait
