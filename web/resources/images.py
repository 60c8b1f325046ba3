"""Submit an image: as a form, inside JSON, or as the body itself."""

import re
from collections.abc import Mapping
from typing import Any, ClassVar

import falcon

from pipeline.errors import FieldProblem, InvalidInput
from pipeline.intake import Intake, rules_of
from pipeline.settings import Settings
from pipeline.submission import ImageSubmission
from web.access import Access
from web.answers import Accepted
from web.bodies import Body, decode_base64, media_type_of, read_json
from web.errors import unknown_parameters, unsupported_media_type
from web.forms import read_form
from web.idempotency import KEY_PARAMETER, submit_once
from web.operations import Operation, Parameter
from web.parameters import all_values
from web.resources.submissions import reply_accepted, with_site
from web.schemas import ImageFields, ImageTask, validated

#: Bytes of a body besides the image: part headers, words, JSON names.
_REST_MAX_BYTES = 2_000_000
#: The part of a form that holds the image.
_FILE = "file"
#: What ends a line of a form field; a word may hold the other characters at which Python would split.
_LINE_END = re.compile(r"\r\n|\r|\n")
_RAW_TYPE = "application/octet-stream"
_FIELDS = ("mac", "task_id", "detection_id", "words", "callback_url")

_FORM_SCHEMA = {
    "type": "object",
    "required": ["file", "mac"],
    "additionalProperties": False,
    "properties": {
        "file": {"type": "string", "format": "binary"},
        "mac": {"type": "string"},
        "task_id": {"type": "string"},
        "detection_id": {"type": "string"},
        "callback_url": {"type": "string"},
        "words": {"type": "array", "items": {"type": "string"}, "description": "one word a line; may be repeated"},
    },
}
_BINARY_SCHEMA = {"type": "string", "format": "binary"}


def body_max_bytes(settings: Settings) -> int:
    """Bytes of a body with an image in base64, which is longer than any other."""
    return settings.image_max_bytes * 4 // 3 + _REST_MAX_BYTES


class ImagesResource:
    """`POST /api/ocr/image`."""

    operations: ClassVar[Mapping[str, Operation]] = {
        "POST": Operation(
            access=Access.SUBMIT,
            summary="Submit an image to be read and screened",
            requests={
                "multipart/form-data": _FORM_SCHEMA,
                "application/json": (ImageTask,),
                "image/*": _BINARY_SCHEMA,
                _RAW_TYPE: _BINARY_SCHEMA,
            },
            parameters=(
                KEY_PARAMETER,
                Parameter("mac", "for a raw image body: as in the form"),
                Parameter("task_id", "for a raw image body: as in the form"),
                Parameter("detection_id", "for a raw image body: as in the form"),
                Parameter("callback_url", "for a raw image body: as in the form"),
                Parameter(
                    "words",
                    "for a raw image body: as in the form",
                    {"type": "array", "items": {"type": "string"}},
                ),
            ),
            answers={202: (Accepted,)},
            refusals=(409, 411, 413, 415, 422, 429, 503),
        )
    }

    def __init__(self, intake: Intake, settings: Settings) -> None:
        self._intake = intake
        self._rules = rules_of(settings)
        self._image_max_bytes = settings.image_max_bytes
        self._body_max_bytes = body_max_bytes(settings)

    def on_post(self, req: falcon.Request, resp: falcon.Response) -> None:
        submission = with_site(req, self._read(req))
        reply_accepted(resp, submit_once(req, resp, self._intake.submit_image, submission))

    def _read(self, req: falcon.Request) -> ImageSubmission:
        media_type, _ = media_type_of(req)
        if media_type == "multipart/form-data":
            return self._read_form(req)
        if media_type == "application/json":
            return self._read_json(req)
        if media_type == _RAW_TYPE or media_type.startswith("image/"):
            return self._read_raw(req)
        raise unsupported_media_type("multipart/form-data", "application/json", "image/*", _RAW_TYPE)

    def _read_form(self, req: falcon.Request) -> ImageSubmission:
        _refuse_parameters(req)
        form = read_form(
            req,
            file_field=_FILE,
            body_max_bytes=self._image_max_bytes + _REST_MAX_BYTES,
            file_max_bytes=self._image_max_bytes,
        )
        problems = form.file_problems(_FILE)
        try:
            fields = validated(ImageFields, _fields_of(form.texts), self._rules)
        except InvalidInput as exc:
            if not problems:
                raise
            raise InvalidInput([*problems, *exc.problems]) from exc
        if problems:
            raise InvalidInput(problems)
        return _submission(fields, form.files[0])

    def _read_json(self, req: falcon.Request) -> ImageSubmission:
        _refuse_parameters(req)
        body = read_json(req, self._body_max_bytes)
        fields = validated(ImageTask, body, self._rules)
        return _submission(fields, decode_base64(fields.image_base64, "/image_base64", self._image_max_bytes))

    def _read_raw(self, req: falcon.Request) -> ImageSubmission:
        given = {name: all_values(req, name) for name in _FIELDS if name in req.params}
        fields = validated(ImageFields, _fields_of(given), self._rules)
        return _submission(fields, Body(req, self._image_max_bytes).read())


def _refuse_parameters(req: falcon.Request) -> None:
    """Refuse a query beside a form or JSON: it describes a body that is the image itself, and would be ignored."""
    if req.params:
        raise unknown_parameters(())


def _fields_of(texts: Mapping[str, list[str]]) -> dict[str, Any]:
    """The fields of a form or query as they would stand in JSON; `words` holds one word a line."""
    repeated = [name for name, values in texts.items() if name != "words" and len(values) > 1]
    if repeated:
        raise InvalidInput(
            [FieldProblem(f"/{name}" if name in _FIELDS else "", "stands there twice") for name in repeated]
        )
    fields: dict[str, Any] = {name: values[0] for name, values in texts.items() if name != "words"}
    fields["words"] = [word for value in texts.get("words", []) for word in _LINE_END.split(value) if word.strip()]
    return fields


def _submission(fields: ImageFields, image: bytes) -> ImageSubmission:
    return ImageSubmission(
        mac=fields.mac,
        image=image,
        words=tuple(fields.words),
        task_id=fields.task_id,
        detection_id=fields.detection_id,
        callback_url=fields.callback_url,
    )
