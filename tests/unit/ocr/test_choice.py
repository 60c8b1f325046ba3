"""Which engine a worker takes, by settings, packages, models and devices."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.errors import ConfigurationError
from pipeline.ocr.choice import EngineWish, Host, PaddleChoice, choose_paddle
from pipeline.ocr.paddle_models import PaddleModel, PaddleModels, models_in

GPU_HOST = frozenset({"paddleocr", "paddlepaddle-gpu"})
CPU_HOST = frozenset({"paddleocr"})


@pytest.fixture
def models_dir(tmp_path: Path) -> Path:
    """A folder with the descriptions of two models."""
    return describe(tmp_path, "PP-OCRv9_mobile_det", "PP-OCRv9_mobile_rec")


def describe(folder: Path, *names: str) -> Path:
    for number, name in enumerate(names):
        (folder / f"model-{number}").mkdir()
        (folder / f"model-{number}" / "inference.yml").write_text(f"Global:\n  model_name: {name}\nPostProcess: {{}}\n")
    return folder


def choose(
    wish: EngineWish,
    packages: frozenset[str],
    devices: int | Callable[[], int] = 0,
    models_dir: Path | None = None,
    *,
    may_fetch: bool = False,
    gpu_index: int = 0,
) -> PaddleChoice | None:
    host = Host(devices if callable(devices) else lambda: devices, packages.__contains__)
    return choose_paddle(wish, models_dir=models_dir, may_fetch=may_fetch, gpu_index=gpu_index, host=host)


def unasked() -> int:
    raise AssertionError("the driver was asked")


@pytest.mark.feature("O1")
def test_a_gpu_with_library_and_models_is_used(models_dir: Path) -> None:
    choice = choose("auto", GPU_HOST, 2, models_dir, gpu_index=1)

    assert choice
    assert choice.device == "gpu:1"
    assert choice.models == PaddleModels(
        PaddleModel("PP-OCRv9_mobile_det", models_dir / "model-0"),
        PaddleModel("PP-OCRv9_mobile_rec", models_dir / "model-1"),
    )


@pytest.mark.feature("O1")
@pytest.mark.parametrize(("packages", "devices"), [(frozenset(), 1), (CPU_HOST, 1), (GPU_HOST, 0)])
def test_auto_takes_the_cpu_engine_where_anything_of_the_gpu_is_missing(
    packages: frozenset[str], devices: int, models_dir: Path
) -> None:
    assert choose("auto", packages, devices, models_dir) is None


def test_auto_takes_the_cpu_engine_where_there_are_no_models() -> None:
    assert choose("auto", GPU_HOST, 1) is None
    assert choose("auto", GPU_HOST, 1, may_fetch=True) == PaddleChoice(PaddleModels(), "gpu:0")


def test_a_device_beyond_those_there_are_is_not_used(models_dir: Path) -> None:
    assert choose("auto", GPU_HOST, 1, models_dir, gpu_index=1) is None


def test_a_host_without_the_library_never_asks_the_driver(models_dir: Path) -> None:
    assert choose("auto", CPU_HOST, unasked, models_dir) is None
    assert choose("rapid", GPU_HOST, unasked, models_dir) is None


def test_paddle_is_taken_on_the_cpu_where_it_is_wished_for(models_dir: Path) -> None:
    choice = choose("paddle", CPU_HOST, unasked, models_dir)

    assert choice
    assert choice.device == "cpu"


def test_paddle_that_cannot_be_had_says_what_to_do(models_dir: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"fairlane\[gpu\]"):
        choose("paddle", frozenset(), 0, models_dir)
    with pytest.raises(ConfigurationError, match="FAIRLANE_OCR_MODELS_DIR"):
        choose("paddle", CPU_HOST)


@pytest.mark.parametrize("names", [(), ("a_det",), ("a_det", "b_det", "c_rec"), ("a_det", "b_cls")])
def test_a_folder_without_one_model_of_each_kind_is_refused(names: tuple[str, ...], tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="must hold one Paddle model named"):
        models_in(describe(tmp_path, *names))


def test_a_model_without_a_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "inference.yml").write_text("Global: {}")

    with pytest.raises(ConfigurationError, match="model_name"):
        models_in(tmp_path)
