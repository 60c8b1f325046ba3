"""Wiring of the server: what `gunicorn web.asgi:app` loads in each worker."""

from web.long_polls import WaitingRoom
from web.resources.images import body_max_bytes as image_body_max_bytes
from web.resources.texts import body_max_bytes as text_body_max_bytes
from web.whole_requests import WholeRequests
from web.wsgi import app as wsgi_app
from web.wsgi import settings

app = WholeRequests(
    wsgi_app,
    threads=settings.web_threads,
    room=WaitingRoom(settings.long_polls, settings.long_polls_per_address),
    body_max_bytes=max(image_body_max_bytes(settings), text_body_max_bytes(settings)),
)
