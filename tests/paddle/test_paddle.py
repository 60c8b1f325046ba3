"""The real PaddleOCR on the CPU passes what the other engine passes; what needs a GPU says so."""

from functools import partial
from pathlib import Path

import pytest
from PIL import Image

from pipeline.clock import SystemClock
from pipeline.errors import BadImage, ConfigurationError, EngineFailure, GpuLost
from pipeline.ocr.child import build_paddle_reader
from pipeline.ocr.choice import PaddleChoice
from pipeline.ocr.engines import NamedPool, OcrEngines, open_engines
from pipeline.ocr.paddle_models import PaddleModel, PaddleModels, models_in
from pipeline.ocr.pool import OcrPool
from pipeline.ocr.slot import ChildLimits
from pipeline.samples import sample_images
from pipeline.settings import load_settings
from tests.integration.ocr.conftest import make_pool
from tests.support.pictures import LIMITS, TALL_LINES, drawn, encoded, tall_page

pytestmark = [pytest.mark.paddle, pytest.mark.timeout(300)]


@pytest.mark.feature("O1")
def test_paddle_reads_a_drawn_line(paddle_pool: OcrPool) -> None:
    result = paddle_pool.read(encoded(drawn("Invoice 2026")))

    assert result.text.replace(" ", "") == "Invoice2026"
    assert result.mean_confidence > 0.8
    assert (result.engine, result.model) == ("paddleocr", "PP-OCRv4_mobile_det+PP-OCRv4_mobile_rec")
    ((left, top), *_, (_, bottom)) = result.lines[0].box
    assert 0 < left < 200
    assert 0 < top < bottom < 300


@pytest.mark.feature("O1")
def test_paddle_finds_the_words_of_the_sample_chat(paddle_pool: OcrPool) -> None:
    text = paddle_pool.read(dict(sample_images())["chat_part_time_job.png"]).text

    assert "刷单返利" in text
    assert "加微信" in text


@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_paddle_reads_turned_pictures(paddle_pool: OcrPool, degrees: int) -> None:
    text = paddle_pool.read(encoded(drawn("Invoice 2026").rotate(degrees, expand=True))).text

    assert text.replace(" ", "") == "Invoice2026"


def test_paddle_reads_every_line_of_a_tall_page(paddle_pool: OcrPool) -> None:
    assert paddle_pool.read(encoded(tall_page())).line_count == len(TALL_LINES)


def test_paddle_answers_a_blank_picture_with_nothing_and_a_broken_one_with_its_reason(paddle_pool: OcrPool) -> None:
    assert paddle_pool.read(encoded(Image.new("RGB", (600, 400), "white"))).lines == ()
    with pytest.raises(BadImage):
        paddle_pool.read(b"\xff\xd8\xff truncated")


@pytest.mark.feature("O1")
def test_the_setting_brings_paddle_on_the_cpu(models_dir: Path, tmp_path: Path) -> None:
    settings = load_settings(data_dir=tmp_path, ocr_engine="paddle", ocr_models_dir=models_dir)
    engines = open_engines(settings, SystemClock())
    engines.warm_up()

    result = engines.read(encoded(drawn("Invoice 2026")))

    assert (result.engine, engines.name, engines.is_on_gpu) == ("paddleocr", "paddle", False)
    engines.close()


@pytest.mark.feature("O5")
def test_a_gpu_that_paddle_cannot_use_leaves_the_image_to_the_cpu(models_dir: Path) -> None:
    gpu = _pool_of(PaddleChoice(models_in(models_dir), "gpu:0"))
    with pytest.raises(GpuLost, match="paddlepaddle-gpu"):
        gpu.warm_up()
    engines = OcrEngines(NamedPool("rapid", make_pool()), NamedPool("paddle", gpu), SystemClock())
    engines.warm_up()

    assert (engines.read(b"image").engine, engines.is_on_gpu) == ("obedient", False)
    engines.close()


def test_models_that_cannot_be_loaded_are_told_with_their_name(tmp_path: Path) -> None:
    (tmp_path / "det").mkdir()
    models = PaddleModels(PaddleModel("PP-OCRv4_mobile_det", tmp_path / "det"), PaddleModel("x_rec", tmp_path))
    pool = _pool_of(PaddleChoice(models, "cpu"))

    with pytest.raises((ConfigurationError, EngineFailure), match="PaddleOCR failed"):
        pool.warm_up()
    pool.close()


def _pool_of(choice: PaddleChoice) -> OcrPool:
    factory = partial(build_paddle_reader, choice=choice)
    return OcrPool(slots=1, threads=1, child_limits=ChildLimits(60, 9), limits=LIMITS, factory=factory)
