"""Where traces go is a whole URL or nothing, and what is wrong with it never repeats its credentials."""

import pytest

from pipeline.errors import ConfigurationError
from pipeline.settings import load_settings


def test_traces_are_off_unless_they_are_asked_for() -> None:
    assert load_settings().traces_endpoint == ""


@pytest.mark.parametrize("url", ["http://127.0.0.1:4318/v1/traces", "https://user:word@collector.example/v1/traces"])
def test_a_whole_url_is_taken_as_it_is_and_not_shown(url: str) -> None:
    settings = load_settings(traces_endpoint=url)

    assert settings.traces_endpoint == url
    assert url not in repr(settings)


@pytest.mark.parametrize(
    "url",
    [
        "127.0.0.1:4318",
        "collector",
        "grpc://sesame:1",
        "http://",
        "http:///sesame",
        "http://h:sesame/",
        "http://h /sesame",
    ],
)
def test_anything_else_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(ConfigurationError, match="FAIRLANE_TRACES_ENDPOINT: must be a whole URL") as caught:
        load_settings(traces_endpoint=url)
    assert "sesame" not in str(caught.value)
