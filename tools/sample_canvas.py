"""A picture to draw on, its fonts, and the breaking of lines."""

from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

FONTS = Path("/usr/share/fonts/opentype/noto")
#: Pictures are drawn at this many times their size and scaled down, which makes their edges smooth.
ZOOM = 2
#: Punctuation that never begins a line.
NEVER_FIRST = "，。、！？：；）】》"

Colour = str | tuple[int, int, int]


class Canvas:
    """A picture in its final pixels, drawn at ZOOM times its size."""

    def __init__(self, width: int, height: int, background: Colour) -> None:
        self.width, self.height = width, height
        self.image = Image.new("RGB", (width * ZOOM, height * ZOOM), background)
        self.draw = ImageDraw.Draw(self.image)

    def box(self, x: float, y: float, width: float, height: float, fill: Colour, radius: float = 0) -> None:
        corners = (x * ZOOM, y * ZOOM, (x + width) * ZOOM - 1, (y + height) * ZOOM - 1)
        self.draw.rounded_rectangle(corners, radius * ZOOM, fill=fill)

    def disc(self, x: float, y: float, radius: float, fill: Colour) -> None:
        self.draw.ellipse([(v * ZOOM) for v in (x - radius, y - radius, x + radius, y + radius)], fill=fill)

    def line(self, x1: float, y1: float, x2: float, y2: float, fill: Colour, width: float = 1) -> None:
        self.draw.line([v * ZOOM for v in (x1, y1, x2, y2)], fill=fill, width=round(width * ZOOM))

    def polygon(self, points: list[tuple[float, float]], fill: Colour) -> None:
        self.draw.polygon([(x * ZOOM, y * ZOOM) for x, y in points], fill=fill)

    def text(
        self,
        x: float,
        y: float,
        text: str,
        size: int,
        fill: Colour = "#1f2328",
        *,
        face: str = "Sans-Regular",
        anchor: str = "la",
    ) -> None:
        self.draw.text((x * ZOOM, y * ZOOM), text, font=font(size, face), fill=fill, anchor=anchor)

    def finished(self) -> Image.Image:
        return self.image.resize((self.width, self.height), Image.Resampling.LANCZOS)


def font(size: int, face: str = "Sans-Regular") -> ImageFont.FreeTypeFont:
    family, weight = face.split("-")
    # Number 2 of the collection holds the shapes of simplified Chinese.
    return ImageFont.truetype(FONTS / f"Noto{family}CJK-{weight}.ttc", size * ZOOM, index=2)


def wrapped(text: str, size: int, width: float) -> list[str]:
    """Break a text into lines; English words stay whole."""
    lines, line = [], ""
    for piece in _pieces(text):
        if line and font(size).getlength((line + piece).rstrip()) > width * ZOOM:
            lines.append(line.rstrip())
            line = piece.lstrip()
        else:
            line += piece
    return [*lines, line.rstrip()]


def _pieces(text: str) -> list[str]:
    pieces: list[str] = []
    for char in text:
        is_inside_word = bool(pieces) and char.isascii() and pieces[-1][-1].isascii() and pieces[-1][-1] != " "
        if is_inside_word or (pieces and char in NEVER_FIRST):
            pieces[-1] += char
        else:
            pieces.append(char)
    return pieces
