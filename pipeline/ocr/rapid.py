"""RapidOCR on ONNX Runtime: PP-OCRv6 small, the models inside its wheel, nothing fetched.

Imported in the engine's child process only: it loads ONNX Runtime and OpenCV, 0.2 GB.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import rapidocr
from rapidocr.ch_ppocr_rec import TextRecInput

from pipeline.errors import ConfigurationError, EngineCrashed
from pipeline.ocr.engine import Pixels, Quad, Reading
from pipeline.ocr.pixels import bgr

_MODELS = Path(rapidocr.__file__).parent / "models"
_DETECTION = _MODELS / "PP-OCRv6_det_small.onnx"
_RECOGNITION = _MODELS / "PP-OCRv6_rec_small.onnx"

#: The setting with the fewest errors per CPU second (docs/why/ocr.md). A line is laid on at least 160 px of width, not
#: on 320: short ones, as in tables, then cost half. Up to 3,000 places are looked at, so that what is left out of a
#: crowded picture is known.
_TUNED = {
    "Global.use_cls": False,
    "Global.log_level": "error",
    "Det.limit_type": "max",
    "Det.limit_side_len": 1536,
    "Det.max_candidates": 3000,
    "Rec.rec_batch_num": 1,
    "Rec.rec_img_shape": [3, 48, 160],
}


class RapidEngine:
    """The finder and the reader of one instance of RapidOCR.

    Args:
        threads: of one inference, 1..64; never more than the machine has cores.
    Raises: ConfigurationError when a shipped model is missing. The models are loaded by the first picture.
    """

    name = "rapidocr"
    model = "PP-OCRv6-small"

    def __init__(self, threads: int) -> None:
        threads = min(threads, os.cpu_count() or 1)
        for path in (_DETECTION, _RECOGNITION):
            if not path.is_file():
                raise ConfigurationError(f"the OCR model {path.name} is missing from the rapidocr package")
        cv2.setNumThreads(threads)
        self._ocr: Any = rapidocr.RapidOCR(params=_params(threads))

    def find(self, pixels: Pixels) -> Sequence[Quad]:
        """Return where lines are; see `Engine.find`."""
        found = _guarded(lambda: self._ocr._load_det_model()(bgr(pixels)))
        return [] if found.boxes is None else [np.asarray(box, dtype=np.float32) for box in found.boxes]

    def read(self, lines: Sequence[Pixels]) -> Sequence[Reading]:
        """Return what lines say; see `Engine.read`."""
        if not lines:
            return []
        task = TextRecInput(img=[bgr(line) for line in lines], return_word_box=False)
        said = _guarded(lambda: self._ocr._load_rec_model()(task))
        return [Reading(text, min(1.0, float(score))) for text, score in zip(said.txts, said.scores, strict=True)]


def _guarded(act: Callable[[], Any]) -> Any:
    try:
        return act()
    except Exception as exc:
        # Out of memory comes as MemoryError, cv2.error or an error of ONNX Runtime; only a new process mends it.
        raise EngineCrashed(f"RapidOCR failed: {type(exc).__name__}: {str(exc)[-300:]}") from exc


def _params(threads: int) -> dict[str, Any]:
    engine = "EngineConfig.onnxruntime"
    return {
        **_TUNED,
        "Det.model_path": str(_DETECTION),
        "Rec.model_path": str(_RECOGNITION),
        f"{engine}.intra_op_num_threads": threads,
        f"{engine}.inter_op_num_threads": 1,
    }
