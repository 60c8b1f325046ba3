"""`dramatiq tests.support.poison_worker:broker`: a worker whose engine does what the picture says."""

import dramatiq

from pipeline.actors import build_broker
from pipeline.settings import load_settings_or_exit
from tests.support.ocr_readers import by_marker

broker = build_broker(load_settings_or_exit(), by_marker)
dramatiq.set_broker(broker)
