"""A WSGI environ made of an ASGI scope. Source: PEP 3333; the ASGI specification, HTTP and WebSocket, 2.3."""

import re
import sys
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote_to_bytes

#: What comes before the path of a target in absolute form, which a server must take. Source: RFC 9112, 3.2.2.
_ABSOLUTE = re.compile(rb"https?://[^/]*", re.IGNORECASE)
_UNPREFIXED = {b"content-type": "CONTENT_TYPE", b"content-length": "CONTENT_LENGTH"}


def environ_of(scope: Mapping[str, Any], body: Any) -> dict[str, Any]:
    """The environ of a request whose body has arrived; headers that stand there twice are joined by commas.

    Args:
        body: a file to read it from; it ends where the body does.
    """
    host, port = scope.get("server") or ("localhost", 0)
    environ: dict[str, Any] = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        "PATH_INFO": _path(scope),
        "QUERY_STRING": scope.get("query_string", b"").decode("latin-1"),
        "SERVER_NAME": host,
        "SERVER_PORT": str(port),
        "SERVER_PROTOCOL": f"HTTP/{scope.get('http_version', '1.1')}",
        "REMOTE_ADDR": (scope.get("client") or ("", 0))[0],
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope.get("scheme", "http"),
        "wsgi.input": body,
        "wsgi.input_terminated": True,
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }
    for name, value in scope["headers"]:
        key = _UNPREFIXED.get(name) or "HTTP_" + name.decode("latin-1").upper().replace("-", "_")
        said = value.decode("latin-1")
        environ[key] = f"{environ[key]},{said}" if key in environ else said
    return environ


def _path(scope: Mapping[str, Any]) -> str:
    """The bytes of the path, each as one character, as WSGI wants them."""
    raw = scope.get("raw_path")
    data: bytes = scope["path"].encode() if raw is None else unquote_to_bytes(raw.partition(b"?")[0])
    absolute = _ABSOLUTE.match(data)
    return (data[absolute.end() :] or b"/" if absolute else data).decode("latin-1")
