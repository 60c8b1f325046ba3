"""The bodies of requests, checked strictly: types, unknown fields, and every fault at once."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    WithJsonSchema,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from pipeline import submission
from pipeline.errors import FieldProblem, InvalidInput, InvalidMac
from pipeline.receivers import URL_MAX_CHARS
from pipeline.submission import Rules

#: Characters of the short texts of a report.
LABEL_MAX_CHARS = 200
#: Times after the year 2286 are a mistake in the unit.
_TIME_MAX_MS = 9_999_999_999_999
#: Tasks of one request.
BATCH_MAX = 100

#: Fields of one object, known or not; a body of a million unknown ones is not worth a million faults.
_FIELDS_MAX = 64
#: Names that may be repeated in an answer: anything else could be the content of the request.
_SHOWN_NAME_MAX_CHARS = 64

#: The type of a fault that a rule of ours found.
_FAULT = "fault"
#: Our words for what pydantic finds; its own may be about Python.
_DETAILS = {
    "missing": "is required",
    "extra_forbidden": "is not a known field",
    "string_type": "must be a string",
    "string_unicode": "must not hold NUL characters or halves of surrogate pairs",
    "list_type": "must be an array",
    "model_type": "must be an object",
    "dict_type": "must be an object",
    "int_type": "must be an integer",
    "bool_type": "must be true or false",
    "float_type": "must be a number",
    "too_short": "must not be empty",
    "too_long": "has too many items",
    "literal_error": "is not one of the values allowed",
    "greater_than": "is too small",
    "greater_than_equal": "is too small",
    "less_than_equal": "is too large",
    "finite_number": "must be a finite number",
}


def _keeps(fault_of: Callable[[str], str | None]) -> AfterValidator:
    def check(value: str) -> str:
        _refuse(fault_of(value))
        return value

    return AfterValidator(check)


def _refuse(fault: str | None) -> None:
    if fault:
        # The template is filled from the context, so that braces in a fault would mean nothing.
        raise PydanticCustomError(_FAULT, "{fault}", {"fault": fault})


def _text_in_bounds(value: str, info: ValidationInfo) -> str:
    _refuse(submission.text_fault(value, _rules(info).text_max_chars))
    return value


def _text_in_bounds_or_empty(value: str, info: ValidationInfo) -> str:
    return _text_in_bounds(value, info) if value else value


def _label_in_bounds(value: str) -> str:
    _refuse(submission.text_fault(value, LABEL_MAX_CHARS) if value else None)
    return value


def _words_in_bounds(value: Any, info: ValidationInfo) -> Any:
    # Before the words themselves are looked at: a million bad ones would be a million faults to list.
    if isinstance(value, list):
        _refuse(submission.words_fault(value, _rules(info).words_max))
    return value


def _callback_allowed(value: str, info: ValidationInfo) -> str:
    _refuse(submission.callback_fault(value, _rules(info).receivers))
    return value


def _rules(info: ValidationInfo) -> Rules:
    return cast(Rules, info.context)


Mac = Annotated[
    str,
    _keeps(submission.mac_fault),
    Field(description="MAC address in any usual spelling", examples=["aa:bb:cc:dd:ee:ff"]),
]
ClientId = Annotated[str, _keeps(submission.id_fault), Field(json_schema_extra={"pattern": submission.ID_PATTERN})]
Text = Annotated[str, AfterValidator(_text_in_bounds), Field(json_schema_extra={"minLength": 1})]
Word = Annotated[
    str,
    _keeps(submission.word_fault),
    Field(json_schema_extra={"minLength": 1, "maxLength": submission.WORD_MAX_CHARS}),
]
Label = Annotated[str, AfterValidator(_label_in_bounds), Field(json_schema_extra={"maxLength": LABEL_MAX_CHARS})]
ReportedText = Annotated[str, AfterValidator(_text_in_bounds_or_empty)]
CallbackUrl = Annotated[
    str,
    AfterValidator(_callback_allowed),
    Field(json_schema_extra={"format": "uri", "maxLength": URL_MAX_CHARS}),
]
Words = Annotated[list[Word], BeforeValidator(_words_in_bounds)]


class Request(BaseModel):
    """Base of all request bodies: no unknown fields, no guessing of types."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class ImageFields(Request):
    """What goes with an image, whatever way it is sent."""

    mac: Mac
    words: Words = Field(default=[], description="words to look for in this task only, besides the global list")
    task_id: ClientId | None = Field(None, description="chosen by the client to submit again safely")
    detection_id: ClientId | None = Field(None, description="what the client calls its own finding")
    callback_url: CallbackUrl | None = Field(None, description="where a signed webhook announces hits")


class ImageTask(ImageFields):
    """An image inside JSON."""

    image_base64: str = Field(description="the image file, standard base64")


class TextTask(ImageFields):
    """A text to screen."""

    text: Text


class TryText(Request):
    """A text to screen at once, by the lists of a device or site and these words; nothing is stored."""

    text: Text
    words: Words = []
    site: ClientId | None = Field(None, description="whose lists apply besides the global ones; `local` if not given")
    mac: Mac | None = Field(None, description="of a device, whose own lists apply too")


class TextBatch(Request):
    """Several texts, each accepted or refused on its own."""

    tasks: Annotated[
        list[Any],
        Field(min_length=1, max_length=BATCH_MAX),
        WithJsonSchema(
            {
                "type": "array",
                "minItems": 1,
                "maxItems": BATCH_MAX,
                "items": {"$ref": "#/components/schemas/TextTask"},
            }
        ),
    ]


class Report(Request):
    """What a device found by itself; kept as it says."""

    mac: Mac
    detection_id: ClientId
    type: Label = ""
    label: Label = ""
    text: ReportedText = ""
    score: Annotated[float, Field(ge=0, le=1)] | None = None
    words: Words = []
    occurred_ms: Annotated[int, Field(ge=0, le=_TIME_MAX_MS)] | None = Field(None, description="epoch milliseconds")


_R = TypeVar("_R", bound=Request)


def validated(model: type[_R], data: Any, rules: Rules, *, at: str = "") -> _R:
    """Return `data` as a `model`.

    Args:
        at: JSON pointer of `data` inside the body.
    Raises: InvalidInput (InvalidMac) listing everything wrong, by JSON pointers.
    """
    if isinstance(data, dict) and len(data) > _FIELDS_MAX:
        raise InvalidInput([FieldProblem(at, "has too many fields")])
    try:
        return model.model_validate(data, context=rules)
    except ValidationError as exc:
        found = exc.errors(include_url=False, include_input=False)
        only_mac = [(error["type"], *error["loc"]) for error in found] == [(_FAULT, "mac")]
        kind = InvalidMac if only_mac else InvalidInput
        raise kind([_problem_of(error, at) for error in found]) from exc


def _problem_of(error: ErrorDetails, at: str) -> FieldProblem:
    pointer = at + _pointer(error["loc"], is_known=error["type"] != "extra_forbidden")
    if error["type"] == _FAULT:
        return FieldProblem(pointer, error["msg"])
    return FieldProblem(pointer, _DETAILS.get(error["type"], "is not valid"))


def _pointer(location: Sequence[str | int], *, is_known: bool) -> str:
    """The JSON pointer of a place; the name of an unknown field only when it is a plain short one."""
    steps = [str(step) for step in location]
    if not is_known:
        name = steps[-1]
        if not (name.isascii() and name.replace("_", "").isalnum() and len(name) <= _SHOWN_NAME_MAX_CHARS):
            steps.pop()
    return "".join(f"/{step}" for step in steps)
