"""Who is let in, whom hits are announced to, and where traces go."""

import socket
from urllib.parse import urlsplit

from models.base import bind, connect
from models.keys import ApiKeys
from models.migrate import pending
from models.sites import EVERY_SITE
from pipeline.cli.checks.finding import Check, fine, note, wrong
from pipeline.clock import SystemClock
from pipeline.network import is_loopback
from pipeline.receivers import port_of, shown_url
from pipeline.settings import Settings
from pipeline.tracing import is_extra_installed
from pipeline.webhooks.sending import addresses_of

#: Seconds that a collector of traces may take to let itself be connected to.
_COLLECTOR_S = 3.0


def look_at_keys(settings: Settings) -> list[Check]:
    database = connect(settings.effective_database_url)
    if pending(database):
        return []  # the check of the database says so
    bind(database)
    now_ms = SystemClock().now_ms()
    keys = ApiKeys(database, SystemClock()).all()
    good = sum(key.is_good(now_ms) for key in keys)
    make = f"`fairlane key create NAME --role admin --site '{EVERY_SITE}'`"
    if good:
        return [fine("keys", f"{good} valid of {len(keys)}")]
    if not is_loopback(settings.web_host):
        found = f"no valid key, and FAIRLANE_WEB_BIND is {settings.web_bind}: the web process does not start"
        return [wrong("keys", found, f"{make}, or bind to 127.0.0.1")]
    if keys:
        return [wrong("keys", f"none of {len(keys)} is valid: nobody is let in", make)]
    return [note("keys", "none: every user of this machine may do everything", f"others are refused; {make} opens it")]


def look_at_webhook(settings: Settings) -> list[Check]:
    """Whether hits can be announced; what is wrong with the URL itself keeps the settings from being read."""
    if not settings.webhook_url:
        return [fine("webhook", "none is set; requests may name their own")]
    parts = urlsplit(settings.webhook_url)
    host = parts.hostname or ""
    cure = "check FAIRLANE_WEBHOOK_URL and the resolver of this host"
    try:
        addresses = addresses_of(host, port_of(parts))
    except OSError as exc:
        return [wrong("webhook", f"{host} cannot be resolved: {exc.strerror}", cure)]
    for address in addresses:
        if fault := settings.receiver_rules.address_fault(address.ip):
            cure = "name a public receiver, or allow inner ones with FAIRLANE_WEBHOOK_ALLOW_PRIVATE=true"
            return [wrong("webhook", f"{host} is at {address.ip}, which {fault}", cure)]
    return [fine("webhook", shown_url(settings.webhook_url))]


def look_at_traces(settings: Settings) -> list[Check]:
    """Whether traces can be written and somebody is there to take them."""
    if not settings.traces_endpoint:
        return [fine("traces", "none are written")]
    if not is_extra_installed():
        cure = "install it, `pip install 'fairlane[otel]'`, or set FAIRLANE_TRACES_ENDPOINT to nothing"
        return [wrong("traces", "none are written: the extra `otel` is not installed on this host", cure)]
    parts = urlsplit(settings.traces_endpoint)
    host, port = parts.hostname or "", port_of(parts)
    try:
        socket.create_connection((host, port), _COLLECTOR_S).close()
    except OSError as exc:
        found = f"the collector at {host}:{port} cannot be reached, so traces are lost: {exc.strerror or exc}"
        return [wrong("traces", found, "check FAIRLANE_TRACES_ENDPOINT and the collector")]
    return [fine("traces", f"sent to {host}:{port}")]
