"""What a client hands in, and the rules its fields must keep; shared by the intake and the HTTP schemas."""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from models.sites import LOCAL_SITE
from pipeline.detector import forms
from pipeline.errors import FieldProblem, InvalidInput, InvalidMac
from pipeline.mac import normalize_mac
from pipeline.queue.types import Lane
from pipeline.receivers import ReceiverRules

#: Ids that clients may choose: safe in URLs, keys of stores and Redis, and logs, without any quoting.
ID_PATTERN = r"^[0-9A-Za-z_-]{1,64}$"
_ID = re.compile(r"[0-9A-Za-z_-]{1,64}", re.ASCII)

#: Characters of one word to look for.
WORD_MAX_CHARS = 200

#: PostgreSQL can store neither NUL nor half a surrogate pair, and UTF-8 cannot spell the latter.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class Rules(NamedTuple):
    """The limits that an operator sets.

    Args:
        receivers: whom a request may have announced to; None: nobody, since nothing could be signed.
    """

    text_max_chars: int
    words_max: int
    receivers: ReceiverRules | None = None


@dataclass(frozen=True, slots=True)
class TextSubmission:
    """A text to screen.

    Args:
        mac: of the device, in any usual spelling.
        words: to look for besides the global list, in this text only.
        task_id: chosen by the client so that it may submit again safely; None: one is made.
        detection_id: what the client calls its own finding, if it has one.
        site: owner of the device.
        callback_url: where the end is announced, as the settings say which.
    """

    mac: str
    text: str
    words: tuple[str, ...] = ()
    task_id: str | None = None
    detection_id: str | None = None
    site: str = LOCAL_SITE
    callback_url: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class ImageSubmission:
    """An image to read and screen: the encoded file as it came; the rest as in `TextSubmission`."""

    mac: str
    image: bytes
    words: tuple[str, ...] = ()
    task_id: str | None = None
    detection_id: str | None = None
    site: str = LOCAL_SITE
    callback_url: str | None = field(default=None, repr=False)


Submission = TextSubmission | ImageSubmission


def lane_of(submission: Submission) -> Lane:
    return "ocr" if isinstance(submission, ImageSubmission) else "text"


def content_of(submission: Submission) -> bytes:
    """The bytes whose reading or screening is wanted; a text must have passed `checked_mac` first."""
    return submission.image if isinstance(submission, ImageSubmission) else submission.text.encode()


def checked_mac(submission: Submission, rules: Rules) -> str:
    """Return the normalised MAC of a submission that keeps every rule.

    Raises: InvalidMac when the MAC is the only thing wrong, else InvalidInput; both list everything wrong.
    """
    problems = list(_problems_in(submission, rules))
    if [problem.pointer for problem in problems] == ["/mac"]:
        raise InvalidMac(problems)
    if problems:
        raise InvalidInput(problems)
    return normalize_mac(submission.mac)


def content_hash(submission: Submission, mac: str) -> str:
    """A digest that is equal exactly when two submissions ask for the same work of the same device."""
    digest = hashlib.sha256()
    detection_id = submission.detection_id or ""
    for part in (lane_of(submission), mac, submission.site, detection_id, *submission.words):
        # The length goes first, so that no two lists of parts run together into the same bytes.
        digest.update(b"%d:" % len(part.encode()) + part.encode())
    if submission.callback_url is not None:
        digest.update(b"callback:%d:" % len(submission.callback_url) + submission.callback_url.encode())
    digest.update(b"content:")
    digest.update(content_of(submission))
    return digest.hexdigest()


def image_sha256(submission: Submission) -> str | None:
    """The digest of the image file as it came; None for a text."""
    return hashlib.sha256(submission.image).hexdigest() if isinstance(submission, ImageSubmission) else None


def mac_fault(value: str) -> str | None:
    """Say what is wrong with a MAC, None when nothing is."""
    try:
        normalize_mac(value)
    except InvalidMac as exc:
        return exc.problems[0].detail
    return None


def id_fault(value: str) -> str | None:
    """Say what is wrong with an id that a client chose, None when nothing is."""
    return None if _ID.fullmatch(value) else "must be 1 to 64 characters of 0-9 A-Z a-z _ -"


def callback_fault(value: str, receivers: ReceiverRules | None) -> str | None:
    """Say what is wrong with the URL of a receiver that a request names, None when nothing is."""
    if receivers is None:
        return "is not offered here: the service has no secret to sign announcements with"
    return receivers.url_fault(value)


def text_fault(value: str, max_chars: int) -> str | None:
    """Say what is wrong with a text of at most `max_chars` characters, None when nothing is."""
    if not value:
        return "must not be empty"
    if len(value) > max_chars:
        return f"must be at most {max_chars} characters"
    if _UNSTORABLE.search(value):
        return "must not hold NUL characters or halves of surrogate pairs"
    return None


def word_fault(value: str) -> str | None:
    """Say what is wrong with one word to look for, None when nothing is."""
    return text_fault(value, WORD_MAX_CHARS) or forms.word_fault(value)


def words_fault(values: Sequence[str], max_count: int) -> str | None:
    """Say what is wrong with the number of words, None when nothing is."""
    return f"must be at most {max_count} words" if len(values) > max_count else None


def _problems_in(submission: Submission, rules: Rules) -> Iterator[FieldProblem]:
    faults = [("/mac", mac_fault(submission.mac)), ("/words", words_fault(submission.words, rules.words_max))]
    if isinstance(submission, TextSubmission):
        faults.append(("/text", text_fault(submission.text, rules.text_max_chars)))
    for name in ("task_id", "detection_id"):
        value = getattr(submission, name)
        faults.append((f"/{name}", None if value is None else id_fault(value)))
    if submission.callback_url is not None:
        faults.append(("/callback_url", callback_fault(submission.callback_url, rules.receivers)))
    faults += [(f"/words/{i}", word_fault(word)) for i, word in enumerate(submission.words)]
    for pointer, fault in faults:
        if fault:
            yield FieldProblem(pointer, fault)
