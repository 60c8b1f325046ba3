"""`dramatiq tests.support.gpu_worker:broker`: a worker whose GPU is the file `gpu` of its data folder."""

import dramatiq

from pipeline.actors import build_broker
from pipeline.clock import SystemClock
from pipeline.ocr.engines import open_engines
from pipeline.settings import load_settings_or_exit
from tests.support.ocr_readers import PretendedGpu, by_marker

_settings = load_settings_or_exit()
_gpu = PretendedGpu(_settings.data_dir / "gpu")
broker = build_broker(_settings, open_engines(_settings, SystemClock(), by_marker, _gpu))
dramatiq.set_broker(broker)
