"""Which key a command sends, and where it goes."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from models.key_text import make_key
from pipeline.cli.service import api_of
from pipeline.errors import ConfigurationError, Forbidden, Retryable, Unauthenticated
from pipeline.settings import Settings
from tests.support.http_service import Asked, Reply, serving

KEY = make_key().text


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(_env_file=None, data_dir=tmp_path, api_key=SecretStr(KEY))


@pytest.mark.feature("H3")
def test_the_key_of_the_settings_is_sent(settings: Settings) -> None:
    with serving(lambda _: Reply(200, {})) as service:
        api_of(settings, url=service.url).task("t1")
    assert service.asked[0].authorization == f"Bearer {KEY}"


def test_the_file_wins_over_the_settings(settings: Settings, tmp_path: Path) -> None:
    other = make_key().text
    (tmp_path / "key").write_text(f"  {other}\n")
    with serving(lambda _: Reply(200, {})) as service:
        api_of(settings, url=service.url, key_file=tmp_path / "key").task("t1")
    assert service.asked[0].authorization == f"Bearer {other}"


def test_without_a_key_none_is_sent(tmp_path: Path) -> None:
    with serving(lambda _: Reply(200, {})) as service:
        api_of(Settings(_env_file=None, data_dir=tmp_path), url=service.url).task("t1")
    assert service.asked[0].authorization == ""


@pytest.mark.parametrize("content", [b"", b" \n", b"secret-of-mine", b"\xff", b"fl_x\nfl_y"])
def test_what_is_no_key_is_refused_and_not_repeated(settings: Settings, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "key").write_bytes(content)
    with pytest.raises(ConfigurationError) as refused:
        api_of(settings, key_file=tmp_path / "key")
    assert "secret-of-mine" not in str(refused.value)


def test_a_redirect_is_not_followed_so_the_key_goes_nowhere_else(settings: Settings) -> None:
    asked: list[Asked] = []

    def elsewhere(request: Asked) -> Reply:
        asked.append(request)
        return Reply(200, {})

    with (
        serving(elsewhere) as other,
        serving(lambda _: Reply(302, {}, {"Location": f"{other.url}/x"})) as service,
        pytest.raises(Retryable),
    ):
        api_of(settings, url=service.url).task("t1")
    assert asked == []


@pytest.mark.parametrize(("status", "error"), [(401, Unauthenticated), (403, Forbidden)])
def test_refusals_come_back_as_what_they_are(settings: Settings, status: int, error: type[Exception]) -> None:
    with serving(lambda _: Reply(status, {"detail": "no"})) as service, pytest.raises(error):
        api_of(settings, url=service.url).task("t1")
