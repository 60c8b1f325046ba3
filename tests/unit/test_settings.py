"""Settings: read once, refused all at once, never wrong in silence."""

from pathlib import Path

import pytest

from pipeline.errors import ConfigurationError
from pipeline.settings import child_environment, environment_of, load_settings, load_settings_or_exit, rows


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No `.env` of the developer's comes in."""
    monkeypatch.chdir(tmp_path)


def test_nothing_set_means_everything_embedded(tmp_path: Path) -> None:
    settings = load_settings(data_dir=tmp_path)

    assert settings.effective_redis_url == f"unix://{settings.valkey_socket}"
    assert settings.effective_database_url == f"sqlite:///{tmp_path}/fairlane.db"
    assert settings.effective_storage_url == f"{tmp_path}/objects"


def test_the_environment_wins_over_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".env").write_text("FAIRLANE_OCR_SLOTS=2\nFAIRLANE_OCR_THREADS=3\n")
    monkeypatch.setenv("FAIRLANE_OCR_SLOTS", "5")

    settings = load_settings()

    assert (settings.ocr_slots, settings.ocr_threads) == (5, 3)


def test_everything_wrong_is_said_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".env").write_text("FAIRLANE_RETRY_AFTR=3\n")
    monkeypatch.setenv("FAIRLANE_MAX_TOTAL_PENDNG", "1")
    monkeypatch.setenv("FAIRLANE_OCR_SLOTS", "many")
    monkeypatch.setenv("FAIRLANE_LEASE_SECONDS", "1")

    with pytest.raises(ConfigurationError) as refused:
        load_settings()

    message = str(refused.value)
    assert "FAIRLANE_RETRY_AFTR: unknown setting; the nearest known one is FAIRLANE_RETRY_AFTER" in message
    assert "the nearest known one is FAIRLANE_MAX_TOTAL_PENDING" in message
    assert "FAIRLANE_OCR_SLOTS: " in message
    assert "FAIRLANE_LEASE_SECONDS: " in message


@pytest.mark.parametrize(
    ("overrides", "named"),
    [
        ({"lease_seconds": 10, "lease_renew_seconds": 9}, "FAIRLANE_LEASE_SECONDS"),
        ({"worker_ttl_seconds": 20, "worker_heartbeat_seconds": 15}, "FAIRLANE_WORKER_TTL_SECONDS"),
        ({"mac_defer_backoff_base": 700}, "FAIRLANE_MAC_DEFER_BACKOFF_BASE"),
        ({"max_per_mac_pending": 6000}, "FAIRLANE_MAX_PER_MAC_PENDING"),
        ({"ocr_hard_limit_seconds": 901}, "FAIRLANE_OCR_HARD_LIMIT_SECONDS"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(overrides: dict[str, int], named: str) -> None:
    with pytest.raises(ConfigurationError, match=named):
        load_settings(**overrides)


@pytest.mark.parametrize("listed", ["10.0.0.0/33", "proxy.local", "10.0.0.1,,x"])
def test_what_is_no_network_is_not_trusted(listed: str) -> None:
    with pytest.raises(ConfigurationError, match="FAIRLANE_TRUSTED_PROXIES"):
        load_settings(trusted_proxies=listed)


def test_the_key_of_a_person_is_neither_printed_nor_handed_to_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAIRLANE_API_KEY", "fl_secret")
    settings = load_settings()

    assert settings.api_key.get_secret_value() == "fl_secret"
    assert "fl_secret" not in repr(settings) + str(settings.model_dump()) + str(environment_of(settings))
    assert "FAIRLANE_API_KEY" not in child_environment(settings, ())


@pytest.mark.parametrize("bind", ["127.0.0.1:1", "[::1]:8000", "localhost:8000"])
def test_loopback_is_served(bind: str) -> None:
    assert load_settings(web_bind=bind).web_bind == bind


def test_a_child_reads_the_same_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    settings = load_settings(ocr_slots=3, data_dir=tmp_path, image_delete_after_end=True)
    for name, value in environment_of(settings).items():
        monkeypatch.setenv(name, value)

    assert load_settings() == settings


def test_a_path_too_long_for_a_socket_puts_it_elsewhere(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 120)

    assert len(str(load_settings(data_dir=deep).valkey_socket)) <= 100


def test_settings_cannot_be_changed_after_they_were_read() -> None:
    with pytest.raises(ValueError, match="frozen"):
        load_settings().ocr_slots = 2


def test_a_process_with_wrong_settings_says_so_in_words_and_ends_with_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FAIRLANE_OCR_SLOTS", "0")

    with pytest.raises(SystemExit) as ended:
        load_settings_or_exit()

    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("fairlane: settings refused:\n  FAIRLANE_OCR_SLOTS")


def test_every_setting_says_what_it_is() -> None:
    assert all(row.description for row in rows())


@pytest.mark.feature("S4")
@pytest.mark.parametrize("kind", ["cpu", "mem", "gpu_mem"])
def test_a_low_watermark_that_is_not_below_the_high_one_is_refused(kind: str) -> None:
    wrong = f"FAIRLANE_WORKER_{kind.upper()}_LOW_WATERMARK must be below FAIRLANE_WORKER_{kind.upper()}_HIGH_WATERMARK"
    with pytest.raises(ConfigurationError, match=wrong):
        load_settings(**{f"worker_{kind}_high_watermark": 60})
    with pytest.raises(ConfigurationError, match=wrong):
        load_settings(**{f"worker_{kind}_low_watermark": 75})
