"""The setting of traces; a part of `Settings`."""

from urllib.parse import urlsplit

from pydantic import BaseModel, Field, field_validator


class TraceSettings(BaseModel):
    """Where traces are sent to."""

    traces_endpoint: str = Field(
        "",
        repr=False,
        description="http(s)://host:4318/v1/traces, which takes traces by OTLP (extra `otel`); empty: none are written",
    )

    @field_validator("traces_endpoint")
    @classmethod
    def _check_endpoint(cls, value: str) -> str:
        # The fault never repeats the value: credentials may be in it.
        try:
            parts = urlsplit(value)
            is_whole = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            is_whole = False
        if value and (not is_whole or any(sign.isspace() for sign in value)):
            raise ValueError("must be a whole URL, such as http://127.0.0.1:4318/v1/traces")
        return value
