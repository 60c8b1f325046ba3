"""Find e-mail addresses and URLs, also with dots that are none and without a scheme, but no file names."""

import re
from collections.abc import Iterator

from pipeline.detector.contact_types import Contact

#: Endings of hosts that stand without a scheme. Those that are endings of files too (`sh`, `py`, `md`, `rs`) are not.
_ENDINGS = (
    "com|cn|net|org|top|xyz|vip|cc|info|club|shop|site|online|store|live|link|wang|ltd|group|work|fun|pro|mobi|biz|asia|"
    "edu|gov|co|io|me|tv|app|dev|ai|in|us|uk|jp|kr|hk|tw|ru|de|fr|eu|xin|icu|cloud|tech|space|website|ink|red|ws|la|im"
)
_HOST_ENDING = re.compile(
    rf"[.。｡]\s?(?:{_ENDINGS})(?![0-9a-z@-])|[点點](?:com|cn|net|org|top|xyz|vip|cc)(?![0-9a-z@-])"
)
_HOST = re.compile(r"(?:[0-9a-z](?:[0-9a-z-]{0,61}[0-9a-z])?[.。｡点點])*[0-9a-z](?:[0-9a-z-]{0,61}[0-9a-z])?\s?$")
_TAIL = re.compile(r"(?::[0-9]{1,5})?(?:[/?#][!-~]*)?")
_SCHEME = re.compile(r"(?:https?|ftp)[:：]//[^\s\u4e00-\u9fff，。；！？、（）《》“”‘’]+")
_MAIL = re.compile(
    r"[0-9a-z][0-9a-z._%+-]{0,63}\s?@\s?[0-9a-z-]{1,63}(?:[.。点][0-9a-z-]{1,63}){0,3}"
    rf"[.。点](?:{_ENDINGS})(?![0-9a-z-])"
)
#: Characters of the longest host.
_HOST_MAX_CHARS = 253
_TRAILING = ".,;:!?)]}>'\""


def addresses(plain: str) -> Iterator[Contact]:
    """Give what addresses stand in a text in small letters and of single width, left to right of each kind."""
    if "@" in plain:
        for match in _MAIL.finditer(plain):
            yield Contact("email", _dotted(match[0]), *match.span())
    if "://" in plain or "：//" in plain:
        for match in _SCHEME.finditer(plain):
            yield _url(plain, match.start(), match.end())
    for match in _HOST_ENDING.finditer(plain):
        host = _HOST.search(plain, max(0, match.start() - _HOST_MAX_CHARS), match.start())
        if host and any(char.isalpha() for char in host[0]) and not _is_inside_name(plain, host.start()):
            tail = _TAIL.match(plain, match.end())
            yield _url(plain, host.start(), tail.end() if tail else match.end())


def _url(plain: str, start: int, end: int) -> Contact:
    while plain[end - 1] in _TRAILING:
        end -= 1
    return Contact("url", _dotted(plain[start:end]), start, end)


def _is_inside_name(plain: str, start: int) -> bool:
    return start > 0 and plain[start - 1] in "@._-/\\"


def _dotted(text: str) -> str:
    return re.sub(r"\s?[.。｡点點]\s?", ".", text).replace(" ", "")
