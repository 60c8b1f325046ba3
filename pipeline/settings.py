"""Every knob, declared once: `FAIRLANE_<NAME>` in the environment or in `.env`.

Unknown names, wrong types, values out of range and contradictory pairs are refused, all at once, before anything
starts. `fairlane doctor` and `docs/reference/settings.md` print the table that `rows()` gives.
"""

import difflib
import hashlib
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

from dotenv import dotenv_values
from pydantic import Field, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from pipeline.env_file import insist_on_env_file
from pipeline.errors import ConfigurationError
from pipeline.network import networks_in
from pipeline.trace_settings import TraceSettings
from pipeline.webhook_settings import WebhookSettings

PREFIX = "FAIRLANE_"
_DOTENV = ".env"
_API_KEY = "api_key"

#: The longest path a unix socket may have on Linux is 107 bytes, on macOS 103.
_SOCKET_PATH_MAX_BYTES = 100


class Settings(TraceSettings, WebhookSettings, BaseSettings):
    """What an operator may set; frozen, so that no part of a process can change it for another."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_file=_DOTENV, frozen=True, extra="ignore")

    # Where things are. Each empty one means: embedded, inside data_dir.
    data_dir: Path = Field(Path("fairlane-data"), description="folder of everything embedded")
    redis_url: str = Field(
        "",
        description="redis://, rediss://, unix://, redis+cluster://host:port,… or "
        "redis+sentinel://host:port,…/service/db of Redis or Valkey; empty: embedded Valkey",
    )
    database_url: str = Field("", description="postgresql://user:password@host/name; empty: embedded SQLite")
    storage_url: str = Field("", description="s3://bucket/prefix or a folder; empty: folder inside data_dir")
    key_prefix: str = Field("sensitive:", min_length=1, pattern=r"^[^\s*?\[\]{}]+$", description="prefix of every key")
    queue_shards: int = Field(1, ge=1, le=64, description="parts of the queue, each in one slot of a Cluster")

    # The fair queue.
    schedule_policy: Literal["fair", "aging"] = Field("fair", description="order of devices: fair shares, or by age")
    max_total_pending: int = Field(5000, ge=1, description="tasks waiting and in flight, all devices; more: 503")
    max_per_mac_pending: int = Field(200, ge=1, description="tasks waiting and in flight, one device; more: 429")
    overload_scope: Literal["device", "all"] = Field("device", description="whom one overloaded device closes out")
    overload_policy: Literal["reject", "drop_oldest"] = Field("reject", description="what a full device's task does")
    retry_after: int = Field(30, ge=1, description="seconds; Retry-After while the drain rate is unknown")
    mac_task_ttl_seconds: int = Field(3600, ge=1, description="seconds a task may wait before it expires")
    refuse_beyond_ttl: bool = Field(default=False, description="refuse a task that would expire before its turn")
    mac_defer_backoff_base: int = Field(30, ge=1, description="seconds of a device's first backoff; doubles each time")
    mac_defer_backoff_max: int = Field(600, ge=1, description="seconds, the longest backoff")
    max_defer_count: int = Field(5, ge=0, description="defers before a task is dead")
    max_attempts: int = Field(10, ge=1, description="attempts before a task is dead")
    retry_backoff_base_seconds: int = Field(2, ge=1, description="seconds before the second attempt; doubles each time")
    retry_backoff_max_seconds: int = Field(300, ge=1, description="seconds, the longest wait between attempts")
    max_deliveries: int = Field(3, ge=1, description="times a task may lose its worker before it is dead")
    mac_scheduler_batch_size: int = Field(10, ge=1, le=1000, description="tasks of one turn of a device, at most")
    mac_aging_max_wait_seconds: int = Field(600, ge=1, description="seconds after which a device ages no more")
    mac_aging_weight: float = Field(1.0, gt=0, le=1000, description="of one second of waiting in the aging score")
    mac_starvation_hint_seconds: int = Field(30, ge=1, description="seconds of waiting that end others' turns early")
    lease_seconds: int = Field(30, ge=5, le=600, description="seconds after which a killed worker's task runs again")
    lease_renew_seconds: int = Field(10, ge=1, description="seconds between renewals")
    max_run_seconds: int = Field(900, ge=1, description="seconds a task may run before its lease is given up")
    dedupe_window_seconds: int = Field(3600, ge=1, description="seconds an ended task is remembered in Redis")
    dead_letter_max: int = Field(10000, ge=1, description="dead letters kept in Redis; the database keeps all")

    # Scheduler and workers.
    scheduler_tick_seconds: float = Field(0.5, gt=0, le=10, description="seconds between two rounds of the scheduler")
    replay_per_second: int = Field(10, ge=1, le=10_000, description="dead letters put back in line per second, at most")
    poll_interval_seconds: float = Field(0.5, gt=0, le=5, description="seconds an idle consumer waits for a wake-up")
    watermark_publish_interval: int = Field(15, ge=1, description="seconds between two watermark snapshots")
    reconcile_interval_seconds: int = Field(30, ge=1, description="seconds between two comparisons with the database")
    worker_heartbeat_seconds: int = Field(15, ge=1, description="seconds between two entries in the worker registry")
    worker_ttl_seconds: int = Field(60, ge=2, description="seconds after which a silent worker is forgotten")
    worker_cpu_counts: Literal["others", "all"] = Field(
        "others", description="CPU load that holds a worker: of others than fairlane, or all there is"
    )
    worker_cpu_high_watermark: int = Field(75, ge=1, le=100, description="percent CPU: claim nothing; 100: never")
    worker_cpu_low_watermark: int = Field(60, ge=0, le=99, description="percent CPU: claim again")
    worker_mem_high_watermark: int = Field(75, ge=1, le=100, description="percent memory: claim nothing; 100: never")
    worker_mem_low_watermark: int = Field(60, ge=0, le=99, description="percent memory: claim again")
    worker_gpu_mem_high_watermark: int = Field(
        75, ge=1, le=100, description="percent GPU memory: claim no images for the GPU; 100: never"
    )
    worker_gpu_mem_low_watermark: int = Field(60, ge=0, le=99, description="percent GPU memory: claim images again")
    worker_gpu_index: int = Field(0, ge=0, description="the GPU that is used and watched, as nvidia-smi counts")
    supervisor_pid: int = Field(0, ge=0, description="process whose whole tree counts as fairlane; `up` sets it")

    no_worker_strategy: Literal["defer", "reject", "cpu"] = Field(
        "defer",
        description="tasks that no live worker can do: later with backoff, dead at once, or to workers without a GPU",
    )
    scale_target_wait_seconds: int = Field(60, ge=1, description="seconds of expected wait that /api/scale aims at")
    scale_min_workers: int = Field(0, ge=0, description="workers of a lane that /api/scale asks for, at least")
    scale_max_workers: int = Field(100, ge=1, description="workers of a lane that /api/scale asks for, at most")
    scale_down_after_seconds: int = Field(300, ge=0, description="seconds of too many workers until one less")

    # OCR, detection and what is kept; days of 0 mean for ever.
    ocr_engine: Literal["auto", "paddle", "rapid"] = Field(
        "auto", description="auto: PaddleOCR on a GPU if it can be used, else RapidOCR; paddle: on the CPU too"
    )
    ocr_models_dir: Path | None = Field(
        None, description="folder of the Paddle models: one ..._det and one ..._rec, each in a folder of its own"
    )
    ocr_fetch_models: bool = Field(default=False, description="without a folder, let PaddleOCR fetch its models")
    ocr_requires_gpu: bool = Field(default=False, description="images are read by workers with a GPU only")
    ocr_slots: int = Field(1, ge=1, le=64, description="engine children of one worker process: images read at once")
    ocr_threads: int = Field(1, ge=1, le=64, description="threads of one engine child")
    ocr_hard_limit_seconds: int = Field(120, ge=1, description="seconds after which an engine child is ended")
    ocr_tasks_per_child: int = Field(500, ge=1, description="images after which an engine child is replaced")
    ocr_recycle_rss_bytes: int = Field(
        2_000_000_000, ge=500_000_000, description="resident bytes over which an engine child is replaced when idle"
    )
    ocr_memory_limit_bytes: int = Field(
        4_000_000_000, ge=500_000_000, description="resident bytes at which an engine child is ended, amid an image too"
    )
    image_max_bytes: int = Field(20_000_000, ge=1_000, description="bytes of one image")
    image_max_pixels: int = Field(40_000_000, ge=1_000, description="pixels of one image, read from its header")
    image_longest_side_px: int = Field(
        1920, ge=64, description="pixels; longer images are scaled down to this, of tall and wide ones the shorter side"
    )
    image_max_lines: int = Field(1000, ge=1, le=3000, description="lines one image may show; 1,000 take 15 to 45 s")
    ocr_reuse_seconds: int = Field(
        86_400, ge=0, description="seconds for which the reading of an image serves the same image again; 0: never"
    )
    image_delete_after_end: bool = Field(default=False, description="delete the stored image once its task has ended")
    retention_results_days: int = Field(0, ge=0, description="days after its end until a task goes, with its results")
    retention_reports_days: int = Field(0, ge=0, description="days until a device's own report goes")
    retention_dead_letters_days: int = Field(0, ge=0, description="days until a dead letter goes")
    retention_images_days: int = Field(0, ge=0, description="days after its task ended until an image goes")
    retention_audit_days: int = Field(0, ge=0, description="days until the copy of an image with hits goes")
    retention_orphans_days: int = Field(7, ge=0, description="days until an image goes that belongs to no task")
    statistics_utc_offset_minutes: int = Field(0, ge=-720, le=840, description="minutes its days begin before UTC's")
    words_file: Path | None = Field(None, description="a global list of this host alone: lines, .csv or rules in .json")
    words_refresh_seconds: float = Field(2.0, gt=0, le=60, description="seconds between two looks for published lists")
    words_per_request_max: int = Field(1000, ge=0, description="words one request may bring along")
    text_max_chars: int = Field(100_000, ge=1, description="characters of one text")

    # HTTP.
    web_bind: str = Field("127.0.0.1:8000", pattern=r"^(\[[0-9a-fA-F:]+\]|[^:\s]+):\d{1,5}$", description="host:port")
    web_workers: int = Field(1, ge=1, le=64, description="gunicorn worker processes")
    web_threads: int = Field(16, ge=1, le=1024, description="requests that one gunicorn worker works on at once")
    long_poll_max_seconds: int = Field(30, ge=0, le=60, description="seconds that ?wait= may hold a request")
    long_polls: int = Field(200, ge=0, description="requests that may wait at once, in one gunicorn worker")
    long_polls_per_address: int = Field(50, ge=0, description="of these, from one address")
    rate_per_key: int = Field(60_000, ge=0, description="requests a minute of one API key; 0: no limit")
    rate_per_device: int = Field(600, ge=0, description="submits a minute of one device; 0: no limit")
    rate_per_address: int = Field(12_000, ge=0, description="requests a minute of one address; 0: no limit")
    trusted_proxies: str = Field("", description="addresses and networks, with commas, whose X-Forwarded-For counts")
    signature_window_seconds: int = Field(300, ge=10, le=3600, description="seconds a signer's clock may be wrong")
    api_key: SecretStr = Field(SecretStr(""), description="the key that commands send; `--key-file` wins; never shown")

    # Logs.
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field("INFO", description="least severe level logged")
    log_style: Literal["json", "text"] = Field("json", description="one JSON object a line, or text for a terminal")

    @model_validator(mode="after")
    def _refuse_contradictions(self) -> Self:
        for low, high, times in (
            ("lease_renew_seconds", "lease_seconds", 2.5),
            ("worker_heartbeat_seconds", "worker_ttl_seconds", 2),
        ):
            if getattr(self, high) < times * getattr(self, low):
                raise ValueError(f"{PREFIX}{high.upper()} must be at least {times} times {PREFIX}{low.upper()}")
        for low, high in (
            ("mac_defer_backoff_base", "mac_defer_backoff_max"),
            ("retry_backoff_base_seconds", "retry_backoff_max_seconds"),
            ("max_per_mac_pending", "max_total_pending"),
            ("ocr_hard_limit_seconds", "max_run_seconds"),
            ("scale_min_workers", "scale_max_workers"),
            ("ocr_recycle_rss_bytes", "ocr_memory_limit_bytes"),
        ):
            if getattr(self, low) > getattr(self, high):
                raise ValueError(f"{PREFIX}{low.upper()} must not be above {PREFIX}{high.upper()}")
        for kind in ("cpu", "mem", "gpu_mem"):
            low, high = f"worker_{kind}_low_watermark", f"worker_{kind}_high_watermark"
            if getattr(self, low) >= getattr(self, high):
                raise ValueError(f"{PREFIX}{low.upper()} must be below {PREFIX}{high.upper()}")
        try:
            networks_in(self.trusted_proxies)
        except ValueError as exc:
            raise ValueError(f"{PREFIX}TRUSTED_PROXIES: {exc}") from exc
        return self

    @property
    def web_host(self) -> str:
        return self.web_bind.rpartition(":")[0].strip("[]")

    @property
    def valkey_socket(self) -> Path:
        """Where the embedded Valkey listens: inside the data folder, or beside it when that path is too long."""
        inside = (self.data_dir / "valkey.sock").resolve()
        if len(os.fsencode(inside)) <= _SOCKET_PATH_MAX_BYTES:
            return inside
        digest = hashlib.sha256(os.fsencode(inside)).hexdigest()[:16]
        return Path(tempfile.gettempdir()) / f"fairlane-{digest}" / "valkey.sock"

    @property
    def is_redis_embedded(self) -> bool:
        return not self.redis_url

    @property
    def effective_redis_url(self) -> str:
        return self.redis_url or f"unix://{self.valkey_socket}"

    @property
    def effective_database_url(self) -> str:
        return self.database_url or f"sqlite:///{(self.data_dir / 'fairlane.db').resolve()}"

    @property
    def effective_storage_url(self) -> str:
        return self.storage_url or str((self.data_dir / "objects").resolve())


class SettingRow(NamedTuple):
    """One line of the settings table."""

    name: str
    default: str
    description: str


def load_settings(**overrides: Any) -> Settings:
    """Read the environment and `.env`; everything wrong with them is said in one error.

    Args:
        overrides: field values that win over both, for the command line and tests.
    Raises: ConfigurationError.
    """
    insist_on_env_file(Path(_DOTENV))
    problems = list(_unknown_names())
    try:
        settings = Settings(**overrides)
    except ValidationError as exc:
        problems += [_describe(error) for error in exc.errors()]
    if problems:
        raise ConfigurationError("settings refused:\n  " + "\n  ".join(problems))
    return settings


def load_settings_or_exit(**overrides: Any) -> Settings:
    """Read the settings for a process of its own: what is wrong is said in words, and the process does not start."""
    try:
        return load_settings(**overrides)
    except ConfigurationError as exc:
        sys.stderr.write(f"fairlane: {exc}\n")
        raise SystemExit(2) from exc


def rows() -> list[SettingRow]:
    """The settings with their defaults, in the order of their declaration."""
    return [
        SettingRow(PREFIX + name.upper(), "" if field.default is None else str(field.default), field.description or "")
        for name, field in Settings.model_fields.items()
    ]


def environment_of(settings: Settings) -> dict[str, str]:
    """The variables under which a child process reads the same settings."""
    # Whose key a person uses is no business of the processes.
    values = {name: getattr(settings, name) for name in Settings.model_fields if name != _API_KEY}
    return {PREFIX + name.upper(): _spelled(value) for name, value in values.items() if value is not None}


def _spelled(value: object) -> str:
    return value.get_secret_value() if isinstance(value, SecretStr) else str(value)


def child_environment(settings: Settings, program_folders: Sequence[str]) -> dict[str, str]:
    """The whole environment of a child: ours, the same settings, and commands found in `program_folders` first."""
    path = os.pathsep.join([*program_folders, os.environ.get("PATH", os.defpath)])
    environment = {**os.environ, **environment_of(settings), "PATH": path}
    environment.pop(PREFIX + _API_KEY.upper(), None)
    return environment


def _unknown_names() -> Iterator[str]:
    known = [PREFIX + name.upper() for name in Settings.model_fields]
    given = {**os.environ, **dotenv_values(_DOTENV)}
    for name in sorted(given):
        if name.upper().startswith(PREFIX) and name.upper() not in known:
            nearest = difflib.get_close_matches(name.upper(), known, n=1, cutoff=0.0)[0]
            yield f"{name}: unknown setting; the nearest known one is {nearest}, `fairlane doctor` lists all"


def _describe(error: Any) -> str:
    where = PREFIX + str(error["loc"][0]).upper() + ": " if error["loc"] else ""
    return where + str(error["msg"]).removeprefix("Value error, ")
