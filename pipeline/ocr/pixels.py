"""Pixels of every kind to 8-bit RGB as a person would see them."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageChops, ImageFilter, ImageStat

#: Half of the range of 8 bits: what is darker is laid on white, what is brighter on black; what is more opaque is seen.
_MIDDLE_GREY = 128

_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}


def turn_upright(image: Image.Image, orientation: int) -> Image.Image:
    """Undo an EXIF orientation, 1..8."""
    turn = _TURNS.get(orientation)
    return image if turn is None else image.transpose(turn)


def bgr(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The same pixels in the order that the models were trained on, and that engines take an array for."""
    return np.ascontiguousarray(pixels[..., ::-1])


def to_rgb(image: Image.Image) -> Image.Image:
    """Convert any mode of Pillow to RGB: deep samples scaled, transparency laid on a background that shows it."""
    if image.mode.startswith(("I", "F")):
        return _from_deep(np.asarray(image)).convert("RGB")
    if image.has_transparency_data:
        return _on_contrast(image.convert("RGBA"))
    return image.convert("RGB")


def _from_deep(samples: NDArray[np.generic]) -> Image.Image:
    """Scale samples of more than 8 bits to 8; Pillow's own conversion cuts them off at 255.

    The depth is that of the brightest sample, so that 12 bits stored in 16 do not come out black.
    """
    values = np.nan_to_num(samples.astype(np.float32), nan=0.0, posinf=0.0, neginf=0.0)
    brightest = max(float(values.max()), 0.0)
    if samples.dtype.kind == "f" and brightest <= 1.0:
        full = 1.0
    else:
        full = float(max(255, (1 << int(brightest).bit_length()) - 1))
    return Image.fromarray(np.clip(values * (255.0 / full), 0, 255).astype(np.uint8))


def _on_contrast(image: Image.Image) -> Image.Image:
    """Lay a picture on white or on black, whichever stands out against what borders on nothing.

    Only there the background is seen, and of text on nothing every stroke is border: a large opaque picture beside it
    has no say in it.
    """
    alpha = image.getchannel("A")
    visible = alpha.point(lambda value: 255 if value >= _MIDDLE_GREY else 0)
    if not visible.getbbox():
        visible = alpha.point(lambda value: 255 if value else 0)
    border = ImageChops.subtract(visible, visible.filter(ImageFilter.MinFilter(3)))
    shown = border if border.getbbox() else visible
    is_bright = bool(shown.getbbox()) and ImageStat.Stat(image.convert("L"), mask=shown).mean[0] >= _MIDDLE_GREY
    background = Image.new("RGB", image.size, (0, 0, 0) if is_bright else (255, 255, 255))
    background.paste(image, mask=alpha)
    return background
