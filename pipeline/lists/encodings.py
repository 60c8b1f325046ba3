"""Turn the bytes of a list into text, whatever program wrote them."""

import codecs
import math
from collections import Counter
from collections.abc import Mapping
from functools import cache

from pipeline.detector.normalize import fold
from pipeline.errors import FieldProblem, InvalidInput
from pipeline.lists.ordinary import ordinary_words

#: Byte order marks, the longer one of two that begin alike first.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
#: What a list without a mark that is not UTF-8 may be.
_CANDIDATES = ("gb18030", "big5", "utf-16-le", "utf-16-be")
#: Enough to tell them apart (docs/why/dependencies.md).
_SAMPLE_BYTES = 65_536
#: How likely a letter, digit or sign of ASCII is, and a character that no ordinary word has; natural logarithms.
_ASCII_LOG, _UNKNOWN_LOG = math.log(0.01), math.log(1e-7)


def decoded(data: bytes, encoding: str | None = None) -> tuple[str, str]:
    """Return the text and the encoding it was in: as named, as its mark says, UTF-8, or the likeliest.

    Args:
        encoding: a name that Python knows, such as `gbk`; None: it is found out.
    Raises: InvalidInput naming the line that is not in that encoding.
    """
    if encoding is not None:
        return _strictly(data, _known(encoding)), encoding
    for mark, name in _MARKS:
        if data.startswith(mark):
            return _strictly(data, name), name
    fault_at = data.find(b"\0")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as exc:
        fault_at = exc.start
    if fault_at < 0:
        return text, "utf-8"
    likeliest = None if _is_damaged(data) else _likeliest(data)
    if likeliest is None:
        line = data.count(b"\n", 0, fault_at) + 1
        raise InvalidInput([FieldProblem(f"line {line}", "is not UTF-8, and no other encoding fits all; name it")])
    return _strictly(data, likeliest), likeliest


def _known(encoding: str) -> str:
    try:
        known = codecs.lookup(encoding)
    except LookupError as exc:
        raise InvalidInput([FieldProblem("encoding", "is none that is known here")]) from exc
    if not known._is_text_encoding:  # base64 and its like are codecs too
        raise InvalidInput([FieldProblem("encoding", "is none that is known here")])
    return known.name


def _is_damaged(data: bytes) -> bool:
    """Say whether data is UTF-8 in the main: at least twice as many ideographs and their like as misfits."""
    sample = data[:_SAMPLE_BYTES].decode("utf-8", "replace")
    misfits = sample.count("\N{REPLACEMENT CHARACTER}")
    return misfits > 0 and sum(char >= "\u0800" for char in sample) >= 2 * misfits


def _likeliest(data: bytes) -> str | None:
    """Return the encoding in which a list is made of the commonest characters; None when it fits none."""
    sample = data[:_SAMPLE_BYTES]
    if len(data) > len(sample) and b"\n" in sample:
        # Half a character at the end would speak against the right encoding; two bytes for one of UTF-16.
        sample = sample[: sample.rindex(b"\n") & ~1]
    fitting: dict[str, float] = {}
    for name in _CANDIDATES:
        try:
            text = sample.decode(name)
        except UnicodeDecodeError:
            continue
        if "\0" not in text:
            fitting[name] = _likelihood(text)
    return max(fitting, key=lambda name: fitting[name], default=None)


def _likelihood(text: str) -> float:
    """Return the mean logarithm of how common the characters are; traditional ones count as the simplified ones."""
    logs = _character_logs()
    of_each = [_ASCII_LOG if char.isascii() else logs.get(char, _UNKNOWN_LOG) for char in fold(text).text]
    return sum(of_each) / len(of_each) if of_each else -math.inf


@cache
def _character_logs() -> Mapping[str, float]:
    counts = Counter(ordinary_words().replace("\n", ""))
    total = counts.total()
    return {char: math.log(count / total) for char, count in counts.items()}


def _strictly(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as exc:
        before = data[: exc.start].decode(encoding, "ignore").count("\n")
        raise InvalidInput([FieldProblem(f"line {before + 1}", f"is not {encoding}, as what comes before it")]) from exc
    except UnicodeError as exc:
        raise InvalidInput([FieldProblem("line 1", f"is not {encoding}")]) from exc
