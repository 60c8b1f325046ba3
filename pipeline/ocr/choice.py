"""Which engine a worker takes: PaddleOCR where CUDA, its library and its models are, else RapidOCR."""

import importlib.metadata
import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pipeline.errors import ConfigurationError
from pipeline.ocr import cuda
from pipeline.ocr.paddle_models import PaddleModels, models_in

_log = logging.getLogger(__name__)

EngineWish = Literal["auto", "paddle", "rapid"]
#: What computes on a GPU; the package `paddlepaddle` computes on the CPU only.
_CUDA_PACKAGE = "paddlepaddle-gpu"


def _has_package(name: str) -> bool:
    try:
        importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class PaddleChoice:
    """PaddleOCR, with these models, on this device: `cpu`, or `gpu:` and its number."""

    models: PaddleModels
    device: str


@dataclass(frozen=True, slots=True)
class Host:
    """What is asked of this host; each answer is had on demand, since the driver is asked in a process of its own."""

    count_cuda_devices: Callable[[], int] = cuda.count_devices
    has_package: Callable[[str], bool] = _has_package


def choose_paddle(
    wish: EngineWish, *, models_dir: Path | None, may_fetch: bool, gpu_index: int, host: Host = Host()
) -> PaddleChoice | None:
    """Return PaddleOCR as it is to be used, or None for RapidOCR alone.

    Args:
        wish: auto takes Paddle for a GPU only; paddle takes it on the CPU too, where there is no GPU.
        models_dir: with one model for finding and one for reading, each in a folder of its own.
        may_fetch: without a folder, the library's own models are fetched at the first start.
        gpu_index: as CUDA counts.
    Raises: ConfigurationError when Paddle is wished for and can't be had, or the folder doesn't hold two models.
    """
    if wish == "rapid":
        return None
    missing = _missing(wish, models_dir, host, may_fetch=may_fetch)
    if missing and wish == "paddle":
        raise ConfigurationError(f"FAIRLANE_OCR_ENGINE=paddle: {missing}")
    if missing:
        _log.debug("the engine is RapidOCR: %s", missing)
        return None
    has_gpu = host.has_package(_CUDA_PACKAGE) and host.count_cuda_devices() > gpu_index
    if not has_gpu and wish == "auto":
        return None
    models = models_in(models_dir) if models_dir else PaddleModels()
    return PaddleChoice(models, f"gpu:{gpu_index}" if has_gpu else "cpu")


def _missing(wish: EngineWish, models_dir: Path | None, host: Host, *, may_fetch: bool) -> str:
    """What keeps Paddle from being used at all; empty when nothing does."""
    if not host.has_package("paddleocr"):
        return "PaddleOCR is not installed (pip install 'fairlane[gpu]')"
    if wish == "auto" and not host.has_package(_CUDA_PACKAGE):
        return f"{_CUDA_PACKAGE} is not installed"
    if models_dir is None and not may_fetch:
        return "set FAIRLANE_OCR_MODELS_DIR to a folder with models, or let them be fetched: FAIRLANE_OCR_FETCH_MODELS"
    return ""
