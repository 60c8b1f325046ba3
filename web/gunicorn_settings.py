"""Settings of gunicorn: `gunicorn -c python:web.gunicorn_settings web.asgi:app`; the names are gunicorn's own."""

from typing import Any

from gunicorn.glogging import Logger

from pipeline.log import configure_logging
from pipeline.settings import load_settings
from web.keyring import insist_on_keys_or_exit

_settings = load_settings()
configure_logging(_settings.log_level, _settings.log_style)
insist_on_keys_or_exit(_settings)


class SharedLogger(Logger):  # type: ignore[misc]  # gunicorn has no type hints
    """Lets gunicorn's lines go the way of all others; requests are logged by `web.middleware`."""

    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        self.error_log.handlers.clear()
        self.error_log.propagate = True


bind = _settings.web_bind
workers = _settings.web_workers
# An event loop waits for clients; threads of our own (`web_threads`) do the work (docs/why/web.md).
worker_class = "web.connections.Worker"
asgi_lifespan = "off"
# The parser that is tested, though another be installed.
http_parser = "python"
# A connection opened before the fork would be shared by all workers (docs/why/dependencies.md): so no preload.
preload_app = False

# The silence of a worker's event loop, not the length of a request.
timeout = 60
# What is under way at SIGTERM is still answered, an upload on a slow line too; long polls are answered at once.
graceful_timeout = _settings.long_poll_max_seconds + 10
keepalive = 5
#: Bytes; longer request lines are refused with 414, longer or more headers with 431.
limit_request_line = 8190
limit_request_fields = 64
limit_request_field_size = 8190

logger_class = SharedLogger
loglevel = _settings.log_level.lower()
# One socket file in the home folder would be shared by all instances of a user.
control_socket_disable = True
