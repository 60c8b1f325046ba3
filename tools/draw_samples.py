"""Draw the pictures of `pipeline/samples`: everything on them is invented here.

Run it only to change them; the pictures are part of the repository. It needs the fonts of Debian's package
`fonts-noto-cjk` and writes the same bytes on every run with the same Pillow:

    python -m tools.draw_samples
"""

from collections.abc import Callable
from pathlib import Path

from PIL import Image

from tools import sample_papers, sample_phones

FOLDER = Path(__file__).parent.parent / "pipeline" / "samples"
#: Colours kept in a file; enough for smooth edges on flat areas, and a third of the bytes.
COLOURS = 96

PICTURES: dict[str, Callable[[], Image.Image]] = {
    "chat_colleagues.png": sample_phones.colleagues,
    "chat_part_time_job.png": sample_phones.part_time_job,
    "maintenance_notice_en.png": sample_papers.maintenance_notice,
    "message_lottery.png": sample_phones.lottery_message,
    "parcel_label.png": sample_papers.parcel,
    "poster_loan.png": sample_papers.loan_poster,
    "receipt_coffee.png": sample_papers.receipt,
    "water_notice.png": sample_papers.water_notice,
}


def main() -> None:
    for name, draw in PICTURES.items():
        picture = draw().quantize(COLOURS, dither=Image.Dither.NONE)
        picture.save(FOLDER / name, optimize=True)
        print(f"{name}: {picture.width}x{picture.height}, {(FOLDER / name).stat().st_size} bytes")


if __name__ == "__main__":
    main()
