"""PaddleOCR on a GPU, four lines at a time; on the CPU too, where somebody wants that.

Imported in the engine's child process only: it loads Paddle, 0.6 GB.
"""

import os
import re
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pipeline.errors import ConfigurationError, EngineCrashed, GpuLost
from pipeline.ocr.engine import Pixels, Quad, Reading
from pipeline.ocr.paddle_models import PaddleModel, PaddleModels
from pipeline.ocr.pixels import bgr

#: Lines of one inference: more gains little, and a wide line makes all of its batch wide.
_BATCH = 4
#: As the CPU engine is asked: the longest side a picture is searched at, px.
_SEARCHED_PX = 1536
#: How errors of a GPU name themselves. Running out of its memory comes as MemoryError ("ResourceExhausted"), what CUDA
#: reports as OSError or RuntimeError.
_OF_THE_GPU = re.compile(r"cuda|cudnn|cublas|nccl|gpu|out of memory|ResourceExhausted", re.IGNORECASE)


class PaddleEngine:
    """The finder and the reader of PaddleOCR; one process each, since one predictor fails when threads share it.

    Args:
        device: `cpu`, or `gpu:` and its number.
        threads: of one inference on the CPU.
    Raises: ConfigurationError when Paddle is missing or can't have its models; GpuLost when the device can't be used.
    """

    name = "paddleocr"

    def __init__(self, models: PaddleModels, device: str, threads: int) -> None:
        self._is_on_gpu = device != "cpu"
        self.model = "+".join(filter(None, (models.detection.name, models.recognition.name))) or "default"
        text_detection, text_recognition = _library(is_on_gpu=self._is_on_gpu)
        # On a GPU oneDNN has no part; on the CPU Paddle is three times slower without it.
        common: dict[str, Any] = {"device": device}
        if not self._is_on_gpu:
            common |= {"enable_mkldnn": True, "cpu_threads": threads}
        try:
            self._finder = text_detection(
                **_named(models.detection), limit_side_len=_SEARCHED_PX, limit_type="max", **common
            )
            self._reader = text_recognition(**_named(models.recognition), **common)
        except Exception as exc:
            raise self._failure(exc, ConfigurationError) from exc

    def find(self, pixels: Pixels) -> Sequence[Quad]:
        """Return where lines are; see `Engine.find`."""
        (found,) = self._guarded(lambda: self._finder.predict(input=bgr(pixels), batch_size=1))
        return [np.asarray(quad, dtype=np.float32) for quad in found["dt_polys"]]

    def read(self, lines: Sequence[Pixels]) -> Sequence[Reading]:
        """Return what lines say; see `Engine.read`."""
        if not lines:
            return []
        said = self._guarded(lambda: self._reader.predict(input=[bgr(line) for line in lines], batch_size=_BATCH))
        return [Reading(one["rec_text"], min(1.0, float(one["rec_score"]))) for one in said]

    def _guarded(self, act: Callable[[], Any]) -> list[Any]:
        try:
            return list(act())
        except Exception as exc:
            raise self._failure(exc, EngineCrashed) from exc

    def _failure(self, exc: Exception, otherwise: type[EngineCrashed] | type[ConfigurationError]) -> Exception:
        words = f"PaddleOCR failed: {type(exc).__name__}: {str(exc)[-300:]}"
        if self._is_on_gpu and (isinstance(exc, MemoryError) or _OF_THE_GPU.search(str(exc))):
            return GpuLost(words)
        return otherwise(words)


def _library(*, is_on_gpu: bool) -> tuple[Any, Any]:
    # Without this it looks for hosts of models at each start, also when all models are local.
    os.environ["PADDLE_PDX_DISABLE_MODEL_SOURCE_CHECK"] = "True"  # noqa: TID251 - told to a library, not asked
    warnings.simplefilter("ignore")
    try:
        import paddle
        from paddleocr import TextDetection, TextRecognition
    except ImportError as exc:
        raise ConfigurationError(f"PaddleOCR is not installed (the extra `gpu`): {exc}") from exc
    if is_on_gpu and not paddle.is_compiled_with_cuda():
        # It would go on with the CPU, and say so in a warning only.
        raise GpuLost("the installed paddlepaddle computes on the CPU only: a GPU needs paddlepaddle-gpu")
    return TextDetection, TextRecognition


def _named(model: PaddleModel) -> dict[str, Any]:
    if not model.name:
        return {}
    return {"model_name": model.name, "model_dir": str(model.folder)}
