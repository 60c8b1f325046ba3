"""Read multipart forms with one file."""

from dataclasses import dataclass, field

import falcon
from falcon.media.multipart import BodyPart, MultipartForm, MultipartFormHandler, MultipartParseOptions

from pipeline.errors import FieldProblem, ImageTooLarge
from web.bodies import Body
from web.errors import malformed_multipart

#: Parts of one form.
_PARTS_MAX = 64
#: Bytes of one text part: words come one a line, a thousand or so.
_TEXT_PART_MAX_BYTES = 1 << 20
_PART_HEADERS_MAX_BYTES = 8192
_CHUNK_BYTES = 1 << 18


@dataclass(slots=True)
class Form:
    """The parts of one form: text parts by name, in their order, and the file."""

    texts: dict[str, list[str]] = field(default_factory=dict)
    files: list[bytes] = field(default_factory=list)

    def file_problems(self, file_field: str) -> list[FieldProblem]:
        """What is wrong with the number of files, if anything."""
        if len(self.files) == 1:
            return []
        return [FieldProblem(f"/{file_field}", "must be one file" if self.files else "is required")]


def read_form(req: falcon.Request, *, file_field: str, body_max_bytes: int, file_max_bytes: int) -> Form:
    """Read a form whose file is the part named `file_field`; `Form.file_problems` says whether there is just one.

    Raises: HttpProblem 400, 411, 413; ImageTooLarge.
    """
    body = Body(req, body_max_bytes)
    form = Form()
    try:
        # The length given only ends falcon's own counting early; the body itself knows where it ends.
        for part in _parts(body, req.content_type or "", body_max_bytes):
            _take_part(form, part, file_field, file_max_bytes)
    except (falcon.MultipartParseError, falcon.HTTPInvalidHeader) as exc:
        raise malformed_multipart("Its parts cannot be told apart, or there are too many or too large ones.") from exc
    except UnicodeDecodeError as exc:
        raise malformed_multipart("The headers of a part are not UTF-8.") from exc
    body.read()  # what comes after the last part must be there, too
    return form


def _parts(body: Body, content_type: str, max_bytes: int) -> MultipartForm:
    options = MultipartParseOptions()
    options.max_body_part_count = _PARTS_MAX
    options.max_body_part_buffer_size = _TEXT_PART_MAX_BYTES
    options.max_body_part_headers_size = _PART_HEADERS_MAX_BYTES
    return MultipartFormHandler(options).deserialize(body, content_type, max_bytes)


def _take_part(form: Form, part: BodyPart, file_field: str, file_max_bytes: int) -> None:
    if part.name == file_field:
        form.files.append(_read_file(part, file_max_bytes) if not form.files else b"")
        return
    if part.name is None:
        raise malformed_multipart("A part has no name.")
    _, parameters = falcon.parse_header(part.content_type)
    if parameters.get("charset", "utf-8").lower() not in ("utf-8", "utf8", "us-ascii"):
        raise malformed_multipart("A part is in another charset than UTF-8.")
    try:
        text = part.get_data().decode("utf-8")
    except UnicodeDecodeError as exc:
        raise malformed_multipart("A part is not UTF-8.") from exc
    form.texts.setdefault(part.name, []).append(text)


def _read_file(part: BodyPart, max_bytes: int) -> bytes:
    # falcon's own limit does not hold for part.stream, and one read(n) of it may return less than n.
    data = bytearray()
    while chunk := part.stream.read(_CHUNK_BYTES):
        data += chunk
        if len(data) > max_bytes:
            raise ImageTooLarge(f"the image has more bytes than the {max_bytes} allowed")
    return bytes(data)
