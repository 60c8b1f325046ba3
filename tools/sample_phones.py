"""Screens of phones: two conversations and a message."""

from PIL import Image

from tools.sample_canvas import ZOOM, Canvas, Colour, font, wrapped


def part_time_job() -> Image.Image:
    return chat(
        "兼职助手小雅",
        "20:41",
        [
            ("time", "昨天 20:36"),
            ("them", "您好，看到您在找兼职，现在还有名额"),
            ("me", "具体做什么工作？"),
            ("them", "手机就能做，刷单返利，每单 5 到 50 元，做完马上结算"),
            ("me", "要先交钱吗"),
            ("them", "不用的，新人先送 30 元体验金。名额不多，加微信 xiaoya_0000 我拉您进群"),
            ("time", "20:41"),
            ("me", "我再考虑一下"),
        ],
    )


def colleagues() -> Image.Image:
    return chat(
        "项目一组 (8)",
        "09:17",
        [
            ("time", "星期三 09:02"),
            ("them", "今天的评审改到下午 3:30，会议室 B-1207"),
            ("me", "好的，我把 Q3 的报表带上"),
            ("them", "报表里营收那一页请再核对一遍，同比应该是 +17.3%"),
            ("me", "收到，中午之前发到群里"),
            ("them", "Thanks! See you at 15:30."),
        ],
        dark=True,
        colours=("#8e6bd8", "#d88b3c"),
    )


def lottery_message() -> Image.Image:
    canvas = Canvas(750, 1000, "#f2f2f7")
    canvas.box(0, 0, 750, 170, "#ffffff")
    status_bar(canvas, "11:28", "#111111")
    canvas.disc(375, 92, 30, "#b8bcc6")
    canvas.disc(375, 84, 10, "#ffffff")
    canvas.box(358, 98, 34, 14, "#ffffff", 7)
    canvas.text(375, 146, "+00 170 0000 0000", 22, "#333333", anchor="mm")
    canvas.text(375, 214, "短信 今天 11:26", 24, "#8e8e93", anchor="mm")
    texts = [
        "【幸运星活动组】恭喜您！您的手机号已被抽中，获得二等奖：现金 98,000 元及笔记本电脑一台。",
        "请在今天 18:00 前登录 www.prize.example 填写资料，验证码 6823，逾期视为放弃。领奖前需先付保证金 1,200 元。",
    ]
    y = 250.0
    for text in texts:
        lines = wrapped(text, 32, 500)
        canvas.box(36, y, 560, len(lines) * 48 + 40, "#e3e3e8", 28)
        for row, line in enumerate(lines):
            canvas.text(64, y + 16 + row * 48, line, 32)
        y += len(lines) * 48 + 64
    canvas.box(0, 890, 750, 110, "#ffffff")
    canvas.box(36, 912, 620, 62, "#ffffff", 31)
    canvas.draw.rounded_rectangle([v * ZOOM for v in (36, 912, 656, 974)], 31 * ZOOM, outline="#c7c7cc", width=3)
    canvas.text(64, 943, "短信/彩信", 28, "#b0b0b5", anchor="lm")
    canvas.disc(700, 943, 28, "#34c759")
    canvas.polygon([(700, 926), (713, 945), (687, 945)], "#ffffff")
    canvas.box(696, 944, 8, 15, "#ffffff")
    return canvas.finished()


def chat(
    title: str,
    time: str,
    messages: list[tuple[str, str]],
    *,
    dark: bool = False,
    colours: tuple[Colour, Colour] = ("#5b8def", "#3aa675"),
) -> Image.Image:
    """A phone with a conversation; a message is (`me` | `them` | `time`, text)."""
    paper, bar, ink, faint = (
        ("#111418", "#1b1f24", "#e8eaed", "#8a9099") if dark else ("#ededed", "#f7f7f7", "#1f2328", "#9a9a9a")
    )
    mine, theirs = ("#2f6f4f", "#262b31") if dark else ("#a6e57f", "#ffffff")
    size, leading, text_width = 32, 46, 440
    heights = [60 if who == "time" else len(wrapped(text, size, text_width)) * leading + 72 for who, text in messages]
    canvas = Canvas(750, 170 + sum(heights) + 140, paper)
    canvas.box(0, 0, 750, 150, bar)
    status_bar(canvas, time, ink)
    canvas.text(375, 108, title, 34, ink, face="Sans-Bold", anchor="mm")
    canvas.draw.line([(v * ZOOM) for v in (48, 94, 34, 108, 48, 122)], fill=ink, width=8, joint="curve")
    y = 170.0
    for (who, text), height in zip(messages, heights, strict=True):
        if who == "time":
            canvas.text(375, y + 28, text, 24, faint, anchor="mm")
        else:
            bubble(
                canvas,
                y,
                wrapped(text, size, text_width),
                mine if who == "me" else theirs,
                ink,
                colours,
                is_mine=who == "me",
            )
        y += height
    canvas.box(0, canvas.height - 110, 750, 110, bar)
    canvas.box(90, canvas.height - 86, 520, 62, "#2a3036" if dark else "#ffffff", 12)
    canvas.disc(50, canvas.height - 55, 24, faint)
    canvas.disc(666, canvas.height - 55, 24, faint)
    return canvas.finished()


def bubble(
    canvas: Canvas,
    y: float,
    lines: list[str],
    fill: Colour,
    ink: Colour,
    colours: tuple[Colour, Colour],
    *,
    is_mine: bool,
) -> None:
    width = max(font(32).getlength(line) for line in lines) / ZOOM + 48
    height = len(lines) * 46 + 36
    left = 750 - 120 - width if is_mine else 120
    head = 664 if is_mine else 28
    canvas.box(head, y, 58, 58, colours[1] if is_mine else colours[0], 10)
    canvas.disc(head + 29, y + 22, 11, "#ffffff")
    canvas.box(head + 12, y + 38, 34, 22, "#ffffff", 11)
    canvas.box(head, y + 52, 58, 8, canvas.image.getpixel((4, int(y * ZOOM))))
    canvas.box(left, y, width, height, fill, 14)
    tip = left + width if is_mine else left
    step = 12 if is_mine else -12
    canvas.polygon([(tip, y + 20), (tip + step, y + 30), (tip, y + 40)], fill)
    for row, line in enumerate(lines):
        canvas.text(left + 24, y + 16 + row * 46, line, 32, ink)


def status_bar(canvas: Canvas, time: str, fill: Colour) -> None:
    canvas.text(36, 14, time, 26, fill, face="Sans-Bold")
    right = canvas.width - 36
    canvas.box(right - 48, 20, 44, 22, fill, 6)
    canvas.box(right - 3, 26, 4, 10, fill, 2)
    for step in range(4):
        canvas.box(right - 110 + step * 12, 40 - 6 * (step + 1), 8, 6 * (step + 1), fill, 2)
