"""Turn an answer into the response."""

import hashlib

import falcon

from web.answers import Answer


def reply_unless_known(req: falcon.Request, resp: falcon.Response, answer: Answer) -> None:
    """Make the answer the response, or 304 when the client has it already."""
    data = answer.model_dump_json().encode()
    ours = hashlib.sha256(data).hexdigest()[:32]
    resp.etag = ours
    if any(tag == "*" or str(tag) == ours for tag in req.if_none_match or ()):
        resp.status = 304
        return
    resp.content_type = falcon.MEDIA_JSON
    resp.data = data


def reply(resp: falcon.Response, answer: Answer, *, status: int = 200) -> None:
    """Make the answer the response, as JSON."""
    resp.status = status
    resp.content_type = falcon.MEDIA_JSON
    resp.data = answer.model_dump_json().encode()
