"""Bytes in named sections, whole or refused: a hash over all of them tells what was changed since they were made."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from pipeline.errors import ListDamaged, ListOutdated

Bytes = bytes | memoryview

_MAGIC = b"FAIRLANE-WORDS\n\x00"
_HASH_BYTES = 32
_LENGTH_BYTES = 4
_HEAD_BYTES = len(_MAGIC) + _HASH_BYTES + _LENGTH_BYTES
#: Sections begin at multiples of this, so that numbers in them lie where processors like them.
_ALIGNED_BYTES = 8
#: Grows with every change of what the sections mean.
FORMAT = 2


def packed(about: Mapping[str, Any], sections: Mapping[str, Bytes]) -> bytes:
    """Return sections as one piece; `about` must fit JSON, and what was packed with another is `ListOutdated`."""
    lengths = [(name, memoryview(section).nbytes) for name, section in sections.items()]
    head = json.dumps({"format": FORMAT, "about": about, "sections": lengths}).encode()
    pieces: list[Bytes] = [len(head).to_bytes(_LENGTH_BYTES, "little"), head]
    place = _HEAD_BYTES + len(head)
    for section in sections.values():
        pad = -place % _ALIGNED_BYTES
        pieces += bytes(pad), section
        place += pad + memoryview(section).nbytes
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    return b"".join((_MAGIC, digest.digest(), *pieces))


def unpacked(data: Bytes, about: Mapping[str, Any]) -> dict[str, memoryview]:
    """Return the sections by name; they are views of `data`, nothing is copied.

    Raises:
        ListDamaged: it is not what was packed.
        ListOutdated: it is, but of another format or `about`; it must be compiled again.
    """
    view = memoryview(data)
    if len(view) < _HEAD_BYTES or view[: len(_MAGIC)] != _MAGIC:
        raise ListDamaged("is no compiled list of words: it begins otherwise")
    content = view[len(_MAGIC) + _HASH_BYTES :]
    if hashlib.sha256(content).digest() != view[len(_MAGIC) : len(_MAGIC) + _HASH_BYTES]:
        raise ListDamaged("is damaged or cut short: its SHA-256 is not the one it was written with")
    head_bytes = int.from_bytes(content[:_LENGTH_BYTES], "little")
    head = json.loads(bytes(content[_LENGTH_BYTES : _LENGTH_BYTES + head_bytes]))
    if (head["format"], head["about"]) != (FORMAT, about):
        there = {"format": head["format"], **head["about"]}
        raise ListOutdated(f"was compiled for {_told(there)}; this release reads {_told({'format': FORMAT, **about})}")
    return _cut(view, _HEAD_BYTES + head_bytes, head["sections"])


def _cut(view: memoryview, place: int, lengths: list[tuple[str, int]]) -> dict[str, memoryview]:
    sections = {}
    for name, length in lengths:
        place += -place % _ALIGNED_BYTES
        sections[name] = view[place : place + length]
        place += length
    return sections


def _told(about: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in about.items())
