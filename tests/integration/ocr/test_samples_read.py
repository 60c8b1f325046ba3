"""The engine reads the sample pictures, and the detector finds what the demo shows."""

from pipeline.detector.detector import Detector
from pipeline.lists.following import source_of_file
from pipeline.ocr.pool import OcrPool
from pipeline.samples import sample_images, words_file

EXPECTED = {
    "chat_colleagues.png": ("B-1207", []),
    "chat_part_time_job.png": ("兼职助手小雅", ["刷单返利", "加微信"]),
    "maintenance_notice_en.png": ("Scheduled Maintenance", []),
    "message_lottery.png": ("幸运星活动组", ["获得二等奖", "保证金"]),
    "parcel_label.png": ("571-A12", []),
    "poster_loan.png": ("急用钱找我们", ["无抵押贷款", "黑户可做"]),
    "receipt_coffee.png": ("108.50", []),
    "water_notice.png": ("停水通知", []),
}


def test_each_sample_is_read_and_screened_as_the_demo_promises(engine_pool: OcrPool) -> None:
    detector = Detector(*source_of_file(words_file()))

    found = {name: engine_pool.read(data).text for name, data in sample_images()}

    assert found.keys() == EXPECTED.keys()
    for name, (text, words) in EXPECTED.items():
        assert text in found[name], name
        assert [hit.word for hit in detector.screen(found[name]).hits] == words, name
