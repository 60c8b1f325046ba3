"""What OCR gives back: frozen values that travel between processes."""

from dataclasses import dataclass, field

Point = tuple[int, int]
Box = tuple[Point, Point, Point, Point]


@dataclass(frozen=True, slots=True)
class OcrLine:
    """One line of text.

    Args:
        confidence: of the engine, 0..1.
        box: corners in px of the upright original image, clockwise from where its text begins.
    """

    text: str
    confidence: float
    box: Box


@dataclass(frozen=True, slots=True)
class OcrResult:
    """What one image says; no lines at all is an honest result.

    Args:
        lines: in reading order.
        width_px: of the upright original image, as height_px.
        scale: of the image the engine saw, against the original; above 1 where it was enlarged.
        duration_ms: `decode`, `find` (where lines are) and `read` (what they say).
        tiles: parts in which the image was searched; 0 when it was not shown to the engine at all.
        direction: where most lines run to, in the image as it came: `right`; `down` in one that lies on its side, and
            in columns of characters; `left` in one that stands on its head; `up`.
    """

    lines: tuple[OcrLine, ...]
    width_px: int
    height_px: int
    scale: float
    engine: str
    model: str
    duration_ms: dict[str, int] = field(default_factory=dict)
    tiles: int = 1
    direction: str = "right"

    @property
    def text(self) -> str:
        return "\n".join(line.text for line in self.lines)

    @property
    def line_count(self) -> int:
        return len(self.lines)

    @property
    def mean_confidence(self) -> float:
        """The mean over the lines, 0 when there is none."""
        if not self.lines:
            return 0.0
        return sum(line.confidence for line in self.lines) / len(self.lines)
