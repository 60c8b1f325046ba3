"""MAC addresses: any usual spelling in, 12 lowercase hexadecimal digits kept."""

import re

from pipeline.errors import FieldProblem, InvalidMac

#: The usual spellings, ASCII digits only (`\d` and `int()` would take digits of every script):
#: bare, in six pairs by `:` or `-` or a space, in three groups by `.` `-` or `:`.
_SPELLINGS = re.compile(
    r"[0-9a-f]{12}"
    r"|[0-9a-f]{2}([:\- ])[0-9a-f]{2}(?:\1[0-9a-f]{2}){4}"
    r"|[0-9a-f]{4}([.\-:])[0-9a-f]{4}\2[0-9a-f]{4}",
    re.IGNORECASE | re.ASCII,
)
_SEPARATORS = str.maketrans("", "", ":-. ")


def normalize_mac(spelling: str, *, field: str = "/mac") -> str:
    """Return the one form under which a device is known: 12 lowercase hexadecimal digits.

    Args:
        spelling: `AA:BB:CC:DD:EE:FF`, `aa-bb-…`, `aabb.ccdd.eeff`, `AABBCCDDEEFF`; outer spaces are ignored.
        field: where the value stood, for the error.
    Raises: InvalidMac.
    """
    trimmed = spelling.strip(" \t\r\n")
    if not _SPELLINGS.fullmatch(trimmed):
        raise InvalidMac(
            [FieldProblem(field, "is not a MAC address: 12 hexadecimal digits, bare or separated by ':', '-' or '.'")]
        )
    return trimmed.translate(_SEPARATORS).lower()


def prefix_of_mac(spelling: str) -> str | None:
    """The first digits of a MAC, as it is kept, of any part of its beginning; None when it cannot be one."""
    digits = spelling.translate(_SEPARATORS).lower()
    return digits if re.fullmatch(r"[0-9a-f]{1,12}", digits, re.ASCII) else None


def spell_mac(mac: str) -> str:
    """Return the form people read: `aa:bb:cc:dd:ee:ff`."""
    return ":".join(mac[i : i + 2] for i in range(0, 12, 2))
