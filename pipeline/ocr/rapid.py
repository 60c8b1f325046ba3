"""RapidOCR on ONNX Runtime: PP-OCRv6 small, the models inside its wheel, nothing fetched.

Imported in the engine's child process only: it loads ONNX Runtime and OpenCV, 0.2 GB.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import rapidocr
from numpy.typing import NDArray

from pipeline.errors import ConfigurationError, EngineCrashed
from pipeline.ocr.types import Box, OcrLine

_MODELS = Path(rapidocr.__file__).parent / "models"
_DETECTION = _MODELS / "PP-OCRv6_det_small.onnx"
_RECOGNITION = _MODELS / "PP-OCRv6_rec_small.onnx"

#: The setting with the fewest errors per CPU second on 77 pictures (docs/why/dependencies.md, OCR engines).
_TUNED = {
    "Global.use_cls": False,
    "Global.max_side_len": 4096,
    "Global.text_score": 0.5,
    "Global.log_level": "error",
    "Det.limit_type": "max",
    "Det.limit_side_len": 1536,
    "Rec.rec_batch_num": 1,
}


class RapidEngine:
    """One instance of RapidOCR.

    Args:
        threads: of one inference, 1..64; never more than the machine has cores.
    Raises: ConfigurationError when a shipped model is missing. The models are loaded by the first read.
    """

    name = "rapidocr"
    model = "PP-OCRv6-small"

    def __init__(self, threads: int) -> None:
        threads = min(threads, os.cpu_count() or 1)
        for path in (_DETECTION, _RECOGNITION):
            if not path.is_file():
                raise ConfigurationError(f"the OCR model {path.name} is missing from the rapidocr package")
        cv2.setNumThreads(threads)
        self._ocr = rapidocr.RapidOCR(params=_params(threads))

    def read(self, pixels: NDArray[np.uint8]) -> Sequence[OcrLine]:
        """Return the lines of a picture; see `Engine.read`."""
        try:
            # The models were trained on BGR, and an array is taken as it is.
            output: Any = self._ocr(np.ascontiguousarray(pixels[..., ::-1]))
        except Exception as exc:
            # Out of memory comes as MemoryError, cv2.error or an error of ONNX Runtime; only a new process mends it.
            raise EngineCrashed(f"RapidOCR failed: {type(exc).__name__}: {str(exc)[-300:]}") from exc
        if output.boxes is None or output.txts is None:
            return []
        found = zip(output.txts, output.scores, output.boxes, strict=True)
        return [OcrLine(text, min(1.0, float(score)), _box(box)) for text, score, box in found]


def _params(threads: int) -> dict[str, Any]:
    engine = "EngineConfig.onnxruntime"
    return {
        **_TUNED,
        "Det.model_path": str(_DETECTION),
        "Rec.model_path": str(_RECOGNITION),
        f"{engine}.intra_op_num_threads": threads,
        f"{engine}.inter_op_num_threads": 1,
    }


def _box(corners: NDArray[Any]) -> Box:
    top_left, top_right, bottom_right, bottom_left = ((round(float(x)), round(float(y))) for x, y in corners)
    return top_left, top_right, bottom_right, bottom_left
