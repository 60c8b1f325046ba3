"""Which Paddle models the engine takes: those of a local folder, or the library's own, fetched if that is allowed."""

import re
from dataclasses import dataclass
from pathlib import Path

from pipeline.errors import ConfigurationError

#: Beside the weights of a model; says which it is.
_DESCRIPTION = "inference.yml"
_NAME = re.compile(r"\bmodel_name['\"]?\s*:\s*['\"]?([\w.-]+)")


@dataclass(frozen=True, slots=True)
class PaddleModel:
    """One model, by its name and where it lies; a name that is empty stands for the library's own choice, fetched."""

    name: str = ""
    folder: Path | None = None


@dataclass(frozen=True, slots=True)
class PaddleModels:
    """The two models of an engine."""

    detection: PaddleModel = PaddleModel()
    recognition: PaddleModel = PaddleModel()


def models_in(folder: Path) -> PaddleModels:
    """Return the models in the sub-folders of `folder`: one named `…_det`, one named `…_rec`.

    Raises: ConfigurationError when it doesn't hold exactly one of each.
    """
    found = [_model_in(path) for path in sorted(folder.glob(f"*/{_DESCRIPTION}"))]
    return PaddleModels(_only(found, "_det", folder), _only(found, "_rec", folder))


def _model_in(description: Path) -> PaddleModel:
    # The recognition's file lists every character it knows: the name stands near the top.
    name = _NAME.search(description.read_text(encoding="utf-8"))
    if name is None:
        raise ConfigurationError(f"{description} names no model (`model_name`)")
    return PaddleModel(name[1], description.parent)


def _only(models: list[PaddleModel], ending: str, folder: Path) -> PaddleModel:
    chosen = [model for model in models if model.name.endswith(ending)]
    if len(chosen) != 1:
        named = ", ".join(model.name for model in chosen) or "none"
        raise ConfigurationError(
            f"FAIRLANE_OCR_MODELS_DIR: {folder} must hold one Paddle model named …{ending} "
            f"in a sub-folder with its {_DESCRIPTION}; found: {named}"
        )
    return chosen[0]
