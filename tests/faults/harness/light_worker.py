"""`dramatiq tests.faults.harness.light_worker:broker`: a worker whose engine children read by rote."""

import dramatiq

from pipeline.actors import build_broker
from pipeline.clock import SystemClock
from pipeline.ocr.engines import open_engines
from pipeline.settings import load_settings_or_exit
from tests.faults.harness.light_reader import by_rote

_settings = load_settings_or_exit()
broker = build_broker(_settings, open_engines(_settings, SystemClock(), by_rote))
dramatiq.set_broker(broker)
