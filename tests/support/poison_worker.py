"""`dramatiq tests.support.poison_worker:broker`: a worker whose engine does what the picture says."""

import dramatiq

from pipeline.actors import build_broker
from pipeline.clock import SystemClock
from pipeline.ocr.engines import open_engines
from pipeline.settings import load_settings_or_exit
from tests.support.ocr_readers import by_marker

_settings = load_settings_or_exit()
broker = build_broker(_settings, open_engines(_settings, SystemClock(), by_marker))
dramatiq.set_broker(broker)
