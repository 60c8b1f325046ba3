"""Images that something has gnawed at: the kinds of damage that a network, a disk or an attacker does."""

import random
from collections.abc import Iterator

from pipeline.ocr.images import readable_formats
from tests.support.pictures import drawn, encoded

#: Bytes at the beginning of a file in which its header lies.
_HEADER_BYTES = 64


def mutated_images(count: int, seed: int) -> Iterator[bytes]:
    """Yield images of all formats, each damaged in one to three ways; the same ones for the same seed."""
    dice = random.Random(seed)
    originals = [encoded(drawn(size=(320, 96)), format_name) for format_name in readable_formats()]
    originals += [
        encoded(drawn(size=(320, 96)).convert(mode), format_name)
        for mode, format_name in (("P", "PNG"), ("LA", "PNG"), ("1", "TIFF"), ("CMYK", "JPEG"), ("CMYK", "TIFF"))
    ]
    for _ in range(count):
        data = bytearray(dice.choice(originals))
        for _ in range(dice.randint(1, 3)):
            dice.choice((_flip_bits, _cut_off, _edit_header, _repeat_a_part, _drop_a_part, _grow_a_number))(data, dice)
        yield bytes(data)


def _flip_bits(data: bytearray, dice: random.Random) -> None:
    for _ in range(dice.randint(1, 20)):
        if data:
            data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)


def _cut_off(data: bytearray, dice: random.Random) -> None:
    del data[dice.randrange(len(data) + 1) :]


def _edit_header(data: bytearray, dice: random.Random) -> None:
    for _ in range(dice.randint(1, 4)):
        if data:
            data[dice.randrange(min(len(data), _HEADER_BYTES))] = dice.choice(
                (0, 1, 0x7F, 0x80, 0xFF, dice.randrange(256))
            )


def _repeat_a_part(data: bytearray, dice: random.Random) -> None:
    begin = dice.randrange(len(data) + 1)
    part = data[begin : begin + dice.randint(1, 200)]
    data[begin:begin] = part


def _drop_a_part(data: bytearray, dice: random.Random) -> None:
    begin = dice.randrange(len(data) + 1)
    del data[begin : begin + dice.randint(1, 200)]


def _grow_a_number(data: bytearray, dice: random.Random) -> None:
    """Set four bytes to a large number: a length, an offset, a side."""
    if len(data) > 4:
        begin = dice.randrange(len(data) - 4)
        number = dice.choice((0x7FFFFFFF, 0xFFFFFFFF, 0x10000000, 40_000, 65_535))
        data[begin : begin + 4] = number.to_bytes(4, dice.choice(("big", "little")))
