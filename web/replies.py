"""Turn an answer into the response."""

import falcon

from web.answers import Answer


def reply(resp: falcon.Response, answer: Answer, *, status: int = 200) -> None:
    """Make the answer the response, as JSON."""
    resp.status = status
    resp.content_type = falcon.MEDIA_JSON
    resp.data = answer.model_dump_json().encode()
