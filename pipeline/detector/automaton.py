"""Search for many patterns in one pass; the only code that knows the engines."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar, Protocol, Self

import daachorse
import numpy as np

#: Code points that are searched at once: bounds the memory that the matches of a text of one letter take.
_PIECE_CHARS = 2_048
#: Patterns from which on the engine works on UTF-16.
CHARWISE_MAX_PATTERNS = 100_000
_UTF16 = "utf-16-be"
#: Bytes before those of the engine: the length of the longest pattern.
_HEAD_BYTES = 4

Match = tuple[int, int, int]


class Engine(Protocol):
    """What searches: start, end and index of every match, in the order of their ends, of one end the longest first."""

    name: ClassVar[str]

    def find(self, text: str) -> list[Match]: ...
    def to_bytes(self) -> bytes: ...
    @classmethod
    def of_patterns(cls, patterns: Sequence[str]) -> Self: ...
    @classmethod
    def of_bytes(cls, data: memoryview) -> Self: ...


class Daachorse:
    """The engine of the product: double arrays, over code points, or over UTF-16 where there are many patterns.

    PERF: over code points 1,000 characters are searched in 9 us for 20,000 patterns, over UTF-16 in 19; but to make it
    takes 2.1 s for 200,000 patterns and 40 for 1,000,000, over UTF-16 0.9 s and 5.
    """

    name: ClassVar[str] = "daachorse"

    def __init__(self, built: "daachorse.CharwiseDoubleArrayAhoCorasick | _Utf16") -> None:
        self._built = built
        self.find = built.find_overlapping

    @classmethod
    def of_patterns(cls, patterns: Sequence[str]) -> Self:
        if len(patterns) > CHARWISE_MAX_PATTERNS:
            return cls(_Utf16(daachorse.DoubleArrayAhoCorasick([one.encode(_UTF16) for one in patterns])))
        return cls(daachorse.CharwiseDoubleArrayAhoCorasick(list(patterns)))

    def to_bytes(self) -> bytes:
        return bytes((isinstance(self._built, _Utf16),)) + self._built.serialize()

    @classmethod
    def of_bytes(cls, data: memoryview) -> Self:
        if data[0]:
            return cls(_Utf16(daachorse.DoubleArrayAhoCorasick.deserialize(bytes(data[1:]))))
        return cls(daachorse.CharwiseDoubleArrayAhoCorasick.deserialize(bytes(data[1:])))


class _Utf16:
    """An automaton over the bytes of UTF-16; what it finds is in code points."""

    def __init__(self, built: "daachorse.DoubleArrayAhoCorasick") -> None:
        self._built = built
        self.serialize = built.serialize

    def find_overlapping(self, text: str) -> list[Match]:
        encoded = text.encode(_UTF16)
        # A match that begins inside a unit is none.
        found = [
            (start >> 1, end >> 1, index)
            for start, end, index in self._built.find_overlapping(encoded)
            if not start & 1
        ]
        if len(encoded) == 2 * len(text):
            return found
        units = np.frombuffer(encoded, ">u2")
        points = np.cumsum(np.concatenate(([0], (units & 0xFC00) != 0xDC00))).tolist()
        return [(points[start], points[end], index) for start, end, index in found]


class AhocorasickRs:
    """The spare engine, where daachorse has no wheel (extra `spare`); it has no file format, so it is built again."""

    name: ClassVar[str] = "ahocorasick_rs"

    def __init__(self, patterns: Sequence[str]) -> None:
        import ahocorasick_rs  # only where the extra is installed

        self._patterns = list(patterns)
        self._built = ahocorasick_rs.AhoCorasick(
            self._patterns, matchkind=ahocorasick_rs.MatchKind.Standard, store_patterns=False
        )

    @classmethod
    def of_patterns(cls, patterns: Sequence[str]) -> Self:
        return cls(patterns)

    def find(self, text: str) -> list[Match]:
        found = self._built.find_matches_as_indexes(text, overlapping=True)
        return [(start, end, index) for index, start, end in found]

    def to_bytes(self) -> bytes:
        return json.dumps(self._patterns).encode()

    @classmethod
    def of_bytes(cls, data: memoryview) -> Self:
        return cls(json.loads(bytes(data)))


ENGINES: dict[str, type[Engine]] = {engine.name: engine for engine in (Daachorse, AhocorasickRs)}


class Automaton:
    """Finds patterns in a text; immutable, so any number of threads may search at once.

    Args:
        longest: code points of the longest pattern; 0 when there are none.
    """

    __slots__ = ("_engine", "longest")

    def __init__(self, engine: Engine, longest: int) -> None:
        self._engine, self.longest = engine, longest

    @classmethod
    def of_patterns(cls, patterns: Sequence[str], engine: type[Engine] = Daachorse) -> Self:
        """Make one ready.

        Args:
            patterns: none empty, none twice, no lone surrogates; there may be none at all.
        """
        return cls(engine.of_patterns(patterns), max(map(len, patterns), default=0))

    def to_bytes(self) -> bytes:
        """All there is to it, for `of_bytes` of the same engine."""
        return self.longest.to_bytes(_HEAD_BYTES, "little") + self._engine.to_bytes()

    @classmethod
    def of_bytes(cls, data: memoryview, engine: type[Engine] = Daachorse) -> Self:
        """Return the automaton that was made bytes; the bytes must be known to be undamaged."""
        return cls(engine.of_bytes(data[_HEAD_BYTES:]), int.from_bytes(data[:_HEAD_BYTES], "little"))

    def find(self, text: str) -> Iterable[Match]:
        """Give (start, end, index of the pattern) of every match, those inside others too, in code points.

        They come in the order of their ends; of those of one end the longest is first.
        """
        if len(text) <= _PIECE_CHARS:
            return self._engine.find(text)
        return self._find_in_pieces(text)

    def _find_in_pieces(self, text: str) -> Iterator[Match]:
        for begin in range(0, len(text), _PIECE_CHARS):
            # A match may have begun before the piece in which it ends.
            from_ = max(0, begin - self.longest + 1)
            for start, end, index in self._engine.find(text[from_ : begin + _PIECE_CHARS]):
                if from_ + end > begin:
                    yield from_ + start, from_ + end, index
