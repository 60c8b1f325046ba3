"""Hostile requests and the answers they must get: `tests/data/bad_inputs.json`, whose paths, names and words for
problems are placeholders. This is where they are mapped to ours, once.
"""

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from PIL import Image

from tests.support.pictures import encoded, png_of_size
from tests.support.uploads import IMAGE_PART, MAC_PART, form, part

_ROOT = Path(__file__).parents[2]
FILE = _ROOT / "tests" / "data" / "bad_inputs.json"

MAC = "aabbccddeeff"
_JSON = {"Content-Type": "application/json"}
_TEXT, _IMAGE, _TASKS, _REPLAY = "/api/ocr/text", "/api/ocr/image", "/api/ocr/tasks", "/api/dead-letters/replay"

#: Names of problems in the file -> ours.
_TYPES = {
    "unknown-field": "validation-failed",
    "invalid-device-id": "invalid-mac",
    "task-already-finished": "task-ended",
    "filter-required": "validation-failed",
    "url-not-allowed": "validation-failed",
}
#: Where ours is another one in this case only, and why.
_OTHER_TYPE = {
    "bola_list_other_device": "forbidden",  # the role of a device lists nothing, whichever device it asks for
    "global_high_watermark": "queue-full",
}
#: Where our contract says another status than the file, and why that is as good.
_OTHER_STATUS = {
    "mac_malformed": 422,  # the MAC is a field of the body here, and its syntax is fine
    "mac_redis_glob": 422,
    "mac_unicode_digits": 422,
    "replay_without_filter": 422,  # the body can be parsed, and names nothing
    "webhook_dns_rebinding": 202,  # a receiver comes with a task, which is accepted, and is no thing of its own
    "webhook_redirect_internal": 202,
}
#: Cases that are not in `cases` but played by tests of their own, each of which asks `expected` for it. What they need
#: is not one request to a server that is well: keys, a part that is down, a receiver.
APART = (
    "tests/integration/web/test_bad_inputs_keys.py",
    "tests/integration/web/test_bad_inputs_outages.py",
    "tests/acceptance/test_bad_inputs_receivers.py",
)
#: Played with the numbers of the file by another test, over more kinds of slowness.
SLOW = ("tests/integration/web/test_slow_clients.py", {"slow_headers_20", "slow_body_20"})


@dataclass(frozen=True, slots=True)
class Expected:
    """What must come back.

    Args:
        statuses: any of these; 0: nothing, since the client hangs up.
        type: of the problem, as status and slug; None when the file leaves it open.
    """

    statuses: frozenset[int]
    type: tuple[int, str] | None


@dataclass(frozen=True, slots=True)
class Case:
    """One case: what is sent, and what must come back."""

    name: str
    raw: bytes
    expected: Expected

    @property
    def hangs_up(self) -> bool:
        return self.expected.statuses == {0}


def all_cases() -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))["cases"]
    return cases


def names_apart() -> set[str]:
    """The cases that the tests `APART` ask for."""
    texts = [(_ROOT / path).read_text(encoding="utf-8") for path in APART]
    return {name for text in texts for name in re.findall(r'expected\("(\w+)"\)', text)}


@cache
def cases() -> list[Case]:
    """The cases that are one request each to a server that is well and has no keys."""
    elsewhere = names_apart() | SLOW[1]
    return [
        Case(given["name"], _raw(given), _expected(given)) for given in all_cases() if given["name"] not in elsewhere
    ]


def expected(name: str) -> Expected:
    """What the file expects in a case."""
    return next(_expected(given) for given in all_cases() if given["name"] == name)


def _expected(given: dict[str, Any]) -> Expected:
    name = given["name"]
    status = _OTHER_STATUS.get(name, given["expected_status"])
    slug = str(given["expected_problem_type"] or "").removeprefix("/problems/")
    is_problem = slug not in ("", "about:blank") and status >= 400
    slug = _OTHER_TYPE.get(name, _TYPES.get(slug, slug))
    return Expected(
        statuses=frozenset({status, *given.get("accept_also", ())}),
        type=(status, f"/problems/{slug}") if is_problem else None,
    )


def _raw(given: dict[str, Any]) -> bytes:
    if "raw" in given:
        return _raw_of_ours(given)
    if given["category"] == "upload" or given["name"] in ("client_disconnect_mid_upload", "image_url_internal"):
        return _upload(given)
    if given["name"] == "pause_unknown_queue":  # what can be paused here is a device
        return raw_request("PATCH", "/api/devices/0000000000ff", _JSON, b'{"paused":true}')
    if given["category"] == "ssrf":
        wanted = json.loads(given["body"])
        wanted["callback_url"] = wanted.pop("url")
        return raw_request("POST", _TEXT, _JSON, json.dumps({"mac": MAC, "text": "hi", **wanted}).encode())
    return _asked(given)


def _asked(given: dict[str, Any]) -> bytes:
    method, path = given["method"], given["path"]
    if given["name"] == "state_change_by_get":
        path, body = _REPLAY, b""
    elif given["name"] == "csrf_cross_site_post":
        path, body = _REPLAY, b'{"all":true}'
    elif "dead-letters" in path:
        path, body = _REPLAY, given["body"].encode()
    elif method == "POST":
        path, body = _TEXT, _text_body(given)
    else:
        path, body = _listed(path), b""
    headers = {name: value for name, value in given["headers"].items() if not name.startswith(("X-Device", "Auth"))}
    if given["name"] == "csrf_cross_site_post":
        headers |= _JSON
    headers["Idempotency-Key"] = given["name"]
    if "X-A" in headers:
        headers["X-A"] = "a" * 20_000
    return raw_request(method, path, headers, body)


def raw_request(method: str, path: str, headers: dict[str, str], body: bytes) -> bytes:
    """The bytes of a request that is the last of its connection."""
    head = [f"{method} {path} HTTP/1.1", "Host: localhost", "Connection: close"]
    head += [f"{name}: {value}" for name, value in headers.items()]
    if body or method == "POST":
        head.append(f"Content-Length: {len(body)}")
    return "\r\n".join(head).encode("latin-1") + b"\r\n\r\n" + body


def _raw_of_ours(given: dict[str, Any]) -> bytes:
    path = _TEXT if given["method"] == "POST" else _TASKS
    raw = given["raw"].encode("latin-1").replace(b"/v1/tasks", path.encode())
    if given["name"] == "chunked_without_length":  # its body must be a good one
        body = json.dumps({"mac": MAC, "text": "hi"}).encode()
        raw = raw.partition(b"\r\n\r\n")[0] + b"\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    # The last lines of some say nothing of the connection; HTTP/1.1 would keep it open.
    return bytes(raw)


def _listed(path: str) -> str:
    path = path.replace("/v1/tasks", _TASKS).replace("?q=${'a'*9000}", "?text=" + "a" * 9_000)
    path = path.replace("since=", "from=").replace("${TASK_OF_B}", "task-of-b").replace("${DONE_TASK_OF_A}", "ended")
    return re.sub(r"\$\{[^}]*\}", MAC, path)


_TEXT_BODIES: dict[str, bytes] = {
    "json_bad_utf8": b'{"mac":"%s","text":"\xff\xfe raw bytes"}' % MAC.encode(),
    "json_bom": b'\xef\xbb\xbf{"mac":"%s","text":"hi"}' % MAC.encode(),
    "idem_same_payload_replay": b'{"mac":"%s","text":"hi"}' % MAC.encode(),
    "mac_malformed": b'{"mac":"zz:zz:zz:zz:zz:zz","text":"hi"}',
    "mac_redis_glob": b'{"mac":"*:*:*:*:*:*","text":"hi"}',
    "mac_unicode_digits": '{"mac":"１１:bb:cc:dd:ee:01","text":"hi"}'.encode(),
    "mac_alias_same_identity": b'{"mac":"AA-BB-CC-DD-EE-01","text":"hi"}',
}


def _text_body(given: dict[str, Any]) -> bytes:
    ours = _TEXT_BODIES.get(given["name"])
    if ours is not None:
        return ours
    return str(given["body"]).replace('"type":"text"', f'"mac":"{MAC}"').replace("${MAC_B}", "aabbccddee02").encode()


def _upload(given: dict[str, Any]) -> bytes:
    name = given["name"]
    if name == "image_url_internal":
        body = json.dumps({"mac": MAC, "image_url": "http://169.254.169.254/"}).encode()
        return raw_request("POST", _IMAGE, _JSON, body)
    if name == "client_disconnect_mid_upload":
        whole = raw_request("POST", _IMAGE, {"Content-Type": "multipart/form-data; boundary=BB"}, bytes(5 << 20))
        return whole[: len(whole) // 2]
    return raw_request("POST", _IMAGE, {**given["headers"], "Idempotency-Key": name}, _forms()[name])


@cache
def _forms() -> dict[str, bytes]:
    def with_image(data: bytes) -> bytes:
        return form(MAC_PART, part("file", data, "Content-Type: image/png"))

    whole = encoded(Image.effect_noise((300, 200), 60))
    return {
        "mp_no_boundary": b"any",
        "mp_truncated": b"--BB\r\nContent-Dispo",
        "mp_100_parts": form(*[part(f"p{number}", "x") for number in range(100)]),
        "mp_part_headers_20k": form(part("mac", MAC, "X-Long: " + "x" * 20_000)),
        "mp_bad_charset": form(IMAGE_PART, part("mac", MAC, "Content-Type: text/plain; charset=zzz")),
        "mp_two_images": form(MAC_PART, IMAGE_PART, IMAGE_PART),
        "mp_image_missing": form(MAC_PART),
        "img_gif_js_polyglot": with_image(b"GIF89a/*" + b"x" * 40 + b"*/=1;alert(1)"),
        "img_svg_script": with_image(b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><script/></svg>'),
        "img_bomb_20kB_169MP": with_image(png_of_size(13_000, 13_000)),
        "img_extreme_aspect": with_image(png_of_size(1, 60_000)),
        "img_zero_dimension": with_image(png_of_size(0, 0)),
        "img_truncated_png": with_image(whole[: len(whole) // 2]),
        "img_animated_10000_frames": with_image(_animation()),
    }


def _animation() -> bytes:
    frames = [Image.new("1", (8, 8), number % 2) for number in range(200)]
    return encoded(frames[0], "GIF", save_all=True, append_images=frames[1:] * 50)
