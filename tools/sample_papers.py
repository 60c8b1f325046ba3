"""Things on paper: notices, a receipt, a parcel label, a bill on a wall."""

import math

from PIL import Image

from tools.sample_canvas import ZOOM, Canvas, wrapped


def water_notice() -> Image.Image:
    canvas = Canvas(900, 1010, "#fdfaf3")
    canvas.box(0, 0, 900, 22, "#b3261e")
    canvas.text(450, 112, "停水通知", 64, "#b3261e", face="Serif-Bold", anchor="mm")
    canvas.line(80, 180, 820, 180, "#b3261e", 3)
    canvas.line(80, 187, 820, 187, "#b3261e", 1)
    body = [
        ("尊敬的业主：", 0),
        ("因供水管道检修，本小区将于 11 月 14 日（周六）", 72),
        ("8:00 至 17:00 暂停供水。请各位业主提前储水，", 0),
        ("并关好家中水龙头，以免恢复供水时跑水。", 0),
        ("停水范围：1 号楼至 6 号楼、地下车库", 72),
        ("应急取水点：南门岗亭，每户限取 20 升", 72),
        ("给您带来不便，敬请谅解。", 72),
    ]
    for row, (line, indent) in enumerate(body):
        canvas.text(80 + indent, 225 + row * 66, line, 33, "#2b2b2b", face="Serif-Regular")
    canvas.text(820, 740, "幸福里物业服务中心", 34, "#2b2b2b", face="Serif-Regular", anchor="ra")
    canvas.text(820, 806, "2026 年 11 月 10 日", 34, "#2b2b2b", face="Serif-Regular", anchor="ra")
    canvas.line(80, 900, 820, 900, "#c9bfae", 1)
    canvas.text(80, 922, "值班电话：010-0000 1234", 28, "#6b6456")
    return canvas.finished()


def maintenance_notice() -> Image.Image:
    canvas = Canvas(1000, 880, "#eef1f5")
    canvas.box(60, 60, 880, 760, "#ffffff", 18)
    canvas.box(60, 60, 880, 130, "#1f4e8c", 18)
    canvas.box(60, 150, 880, 40, "#1f4e8c")
    canvas.text(100, 125, "Scheduled Maintenance", 48, "#ffffff", face="Sans-Bold", anchor="lm")
    canvas.text(100, 222, "Dear residents,", 32)
    body = (
        "The elevators in Building C will be out of service on Saturday, November 21, from 9:00 AM to 4:30 PM "
        "while our technicians replace the main cables. Please use the elevators in Building B or the stairs."
    )
    y = 284
    for line in wrapped(body, 32, 800):
        canvas.text(100, y, line, 32)
        y += 50
    canvas.box(100, y + 30, 800, 130, "#fff4d6", 12)
    canvas.box(100, y + 30, 10, 130, "#e0a100", 4)
    canvas.text(136, y + 50, "Need a hand with groceries or a wheelchair?", 30, "#5c4300", face="Sans-Bold")
    canvas.text(136, y + 100, "Call the front desk: +1 555 0100", 30, "#5c4300")
    canvas.text(100, y + 200, "Thank you for your patience.", 32)
    canvas.text(100, y + 250, "Harbor View Property Management", 32, "#1f4e8c", face="Sans-Bold")
    return canvas.finished()


def receipt() -> Image.Image:
    canvas = Canvas(620, 1130, "#8b8f94")
    canvas.box(40, 40, 540, 1050, "#fffefb")
    for tooth in range(27):
        x = 40 + tooth * 20
        canvas.polygon([(x, 1090), (x + 10, 1076), (x + 20, 1090)], "#8b8f94")
    canvas.text(310, 106, "山茶咖啡", 46, face="Sans-Bold", anchor="mm")
    canvas.text(310, 156, "CAMELLIA COFFEE", 24, "#555555", anchor="mm")
    canvas.text(80, 210, "单号 20261114-0087", 26)
    canvas.text(80, 250, "2026-11-14  08:52  收银员 03", 26)
    dashes(canvas, 304)
    goods = [
        ("美式咖啡（大）", 2, "36.00"),
        ("燕麦拿铁", 1, "24.00"),
        ("牛角面包", 3, "42.00"),
        ("Orange Juice", 1, "18.50"),
    ]
    canvas.text(80, 324, "品名", 26, "#555555")
    canvas.text(400, 324, "数量", 26, "#555555", anchor="ra")
    canvas.text(540, 324, "金额", 26, "#555555", anchor="ra")
    for row, (name, count, price) in enumerate(goods):
        y = 378 + row * 54
        canvas.text(80, y, name, 28)
        canvas.text(400, y, f"x{count}", 28, anchor="ra")
        canvas.text(540, y, price, 28, anchor="ra")
    dashes(canvas, 606)
    for row, (name, price) in enumerate([("小计", "120.50"), ("会员优惠", "-12.00")]):
        canvas.text(80, 632 + row * 50, name, 28)
        canvas.text(540, 632 + row * 50, price, 28, anchor="ra")
    canvas.text(80, 746, "应付", 40, face="Sans-Bold")
    canvas.text(540, 746, "￥108.50", 40, face="Sans-Bold", anchor="ra")
    dashes(canvas, 826)
    for stripe in range(84):
        canvas.box(120 + stripe * 4.5, 856, 1 + (stripe * 37 % 5) * 0.7, 90, "#1f2328")
    canvas.text(310, 978, "6 9012 3456 7892", 26, anchor="mm")
    canvas.text(310, 1030, "谢谢惠顾，欢迎再来", 28, "#555555", anchor="mm")
    return canvas.finished()


def dashes(canvas: Canvas, y: float) -> None:
    for x in range(80, 540, 16):
        canvas.line(x, y, x + 9, y, "#777777", 1.5)


def parcel() -> Image.Image:
    canvas = Canvas(760, 980, "#d9c3a0")
    canvas.box(40, 40, 680, 900, "#ffffff", 8)
    canvas.box(40, 40, 680, 96, "#222222", 8)
    canvas.box(40, 110, 680, 26, "#222222")
    canvas.text(76, 88, "飞鸟速运", 46, "#ffffff", face="Sans-Bold", anchor="lm")
    canvas.text(684, 88, "标准快递 STANDARD", 28, "#ffffff", anchor="rm")
    for stripe in range(110):
        canvas.box(90 + stripe * 5.3, 160, 1 + (stripe * 53 % 7) * 0.6, 100, "#111111")
    canvas.text(380, 290, "FN 7725 0196 6314 08", 32, anchor="mm")
    canvas.line(40, 330, 720, 330, "#222222", 2)
    canvas.text(76, 350, "收", 60, face="Sans-Bold")
    canvas.text(170, 352, "林小满  138 0000 0000", 34, face="Sans-Bold")
    canvas.text(170, 408, "浙江省杭州市西湖区桂花路 88 号", 30)
    canvas.text(170, 454, "桂雨苑 5 幢 2 单元 1203 室", 30)
    canvas.line(40, 520, 720, 520, "#222222", 2)
    canvas.text(76, 540, "寄", 60, "#555555", face="Sans-Bold")
    canvas.text(170, 542, "青石书店  0571-0000 5678", 30)
    canvas.text(170, 592, "江苏省苏州市平江路 21 号", 30)
    canvas.line(40, 660, 720, 660, "#222222", 2)
    for row, line in enumerate(
        ["物品：图书 3 册", "重量：1.46 kg", "付款方式：寄付月结", "备注：工作日送达，请放快递柜"]
    ):
        canvas.text(76, 682 + row * 54, line, 30)
    canvas.text(684, 682, "571-A12", 54, face="Sans-Bold", anchor="ra")
    canvas.draw.rounded_rectangle([v * ZOOM for v in (560, 800, 684, 900)], 8 * ZOOM, outline="#b3261e", width=5)
    canvas.text(622, 850, "已验视", 32, "#b3261e", face="Sans-Bold", anchor="mm")
    return canvas.finished()


def loan_poster() -> Image.Image:
    """A bill pasted a little askew on a brick wall."""
    wall = Canvas(900, 1000, "#9c5a45")
    for row in range(21):
        for column in range(-1, 8):
            shade = 6 * ((row * 31 + column * 17) % 5)
            x = column * 130 + (65 if row % 2 else 0)
            wall.box(x, row * 50, 124, 44, (150 + shade, 82 + shade, 62 + shade), 3)
    bill = Canvas(600, 740, "#ffe45c")
    bill.box(18, 18, 564, 704, "#d32f2f")
    bill.box(26, 26, 548, 688, "#ffe45c")
    bill.text(300, 110, "急用钱找我们", 78, "#d32f2f", face="Sans-Bold", anchor="mm")
    bill.box(60, 190, 480, 6, "#d32f2f")
    for row, line in enumerate(["无抵押贷款", "黑户可做", "当天放款"]):
        bill.disc(110, 268 + row * 96, 12, "#d32f2f")
        bill.text(150, 268 + row * 96, line, 56, "#222222", face="Sans-Bold", anchor="lm")
    bill.box(60, 510, 480, 80, "#d32f2f", 12)
    bill.text(300, 550, "额度 5,000 - 200,000 元", 38, "#ffffff", face="Sans-Bold", anchor="mm")
    bill.text(300, 640, "电话：170 0000 0000", 42, "#222222", face="Sans-Bold", anchor="mm")
    sheet = bill.image.convert("RGBA").rotate(math.degrees(0.045), Image.Resampling.BICUBIC, expand=True)
    shadow = Image.new("RGBA", sheet.size, (60, 30, 20, 255))
    wall.image.paste(shadow, (158 * ZOOM, 128 * ZOOM), sheet.getchannel("A"))
    wall.image.paste(sheet, (148 * ZOOM, 116 * ZOOM), sheet)
    return wall.finished()
