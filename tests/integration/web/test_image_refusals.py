"""Everything that may be wrong with a submitted image; whatever is, nothing is stored."""

import base64

import pytest

from tests.support.pictures import png_of_size
from tests.support.service import MAC, on_sqlite
from tests.support.uploads import (
    FORM,
    GOOD_FORM,
    IMAGE_PART,
    IMAGE_PATH,
    JSON,
    MAC_PART,
    PNG,
    form,
    json_body,
    part,
    post_image,
)


def assert_refused(service, result, status, slug, pointer=None):
    assert (result.status_code, result.json["type"]) == (status, f"/problems/{slug}")
    assert result.headers["Content-Type"] == "application/problem+json"
    assert result.json["request_id"] == result.headers["X-Request-Id"]
    if pointer is not None:
        assert [error["pointer"] for error in result.json["errors"]] == [pointer]
    assert service.traces() == ([], [], [])


@on_sqlite
@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("multipart/form-data", GOOD_FORM),
        ("multipart/form-data; boundary=", GOOD_FORM),
        ("multipart/form-data; boundary=" + "B" * 71, GOOD_FORM),
        ("multipart/form-data; boundary=other", GOOD_FORM),
        ("multipart/form-data; boundary=BB", b""),
        ("multipart/form-data; boundary=BB", b"no form at all"),
        ("multipart/form-data; boundary=BB", b"--BB\r\nContent-Dispo"),
        ("multipart/form-data; boundary=BB", GOOD_FORM[:-40]),
        ("multipart/form-data; boundary=BB", form(*[part(f"p{i}", "x") for i in range(100)])),
        ("multipart/form-data; boundary=BB", form(part("mac", "x", "X-Long: " + "x" * 20_000))),
        (
            "multipart/form-data; boundary=BB",
            form(IMAGE_PART, part("mac", MAC, "Content-Type: text/plain; charset=zzz")),
        ),
        (
            "multipart/form-data; boundary=BB",
            form(IMAGE_PART, part("mac", MAC, "Content-Type: text/plain; charset=utf-7")),
        ),
        ("multipart/form-data; boundary=BB", form(IMAGE_PART, part("mac", b"\xff\xfe"))),
        ("multipart/form-data; boundary=BB", form(IMAGE_PART, part("mac", "x" * 1_100_000))),
        ("multipart/form-data; boundary=BB", form(IMAGE_PART, b"--BB\r\n\r\nnameless\r\n")),
        (
            "multipart/form-data; boundary=BB",
            form(b'--BB\r\nContent-Disposition: form-data; name="\xff"\r\n\r\nx\r\n', IMAGE_PART, MAC_PART),
        ),
        (
            "multipart/form-data; boundary=BB",
            form(part("mac", MAC, "Content-Transfer-Encoding: base64"), IMAGE_PART),
        ),
    ],
)
def test_a_broken_form_is_refused(service, content_type, body):
    assert_refused(service, post_image(service, body, {"Content-Type": content_type}), 400, "invalid-multipart")


@on_sqlite
@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        (form(MAC_PART), "/file"),
        (form(MAC_PART, IMAGE_PART, IMAGE_PART), "/file"),
        (form(MAC_PART, IMAGE_PART, part("image", "x")), "/image"),
        (form(MAC_PART, IMAGE_PART, MAC_PART), "/mac"),
        (form(MAC_PART, IMAGE_PART, part("task_id", "a/b")), "/task_id"),
        (form(MAC_PART, IMAGE_PART, part("words", "a\x00b")), "/words/0"),
    ],
)
def test_a_form_with_wrong_fields_is_refused(service, body, pointer):
    assert_refused(service, post_image(service, body), 422, "validation-failed", pointer)


@on_sqlite
@pytest.mark.parametrize("mac", ["zz:zz:zz:zz:zz:zz", "*:*:*:*:*:*", "", "ａａ:bb:cc:dd:ee:ff", "aabbccddee"])
def test_a_wrong_mac_is_named(service, mac):
    assert_refused(service, post_image(service, form(part("mac", mac), IMAGE_PART)), 422, "invalid-mac", "/mac")


@on_sqlite
@pytest.mark.parametrize(
    ("image", "status", "slug"),
    [
        (b"", 422, "invalid-image"),
        (b"\x89PNG\r\n\x1a\njunk", 422, "invalid-image"),
        (png_of_size(0, 0), 422, "invalid-image"),
        (b"GIF89a/*\xff\xff*/=1;alert(1)", 422, "invalid-image"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>", 415, "unsupported-image-type"),
        (b"%PDF-1.7", 415, "unsupported-image-type"),
        (b"plain text", 415, "unsupported-image-type"),
        (png_of_size(13_000, 13_000), 422, "image-too-large"),
    ],
)
@pytest.mark.parametrize("way", ["form", "json", "raw"])
def test_a_bad_image_is_refused_however_it_comes(service, image, status, slug, way):
    if way == "form":
        result = post_image(service, form(MAC_PART, part("file", image)))
    elif way == "json":
        result = post_image(service, json_body(image_base64=base64.b64encode(image).decode()), JSON)
    else:
        result = post_image(service, image, {"Content-Type": "image/png"}, f"mac={MAC}")
    if slug == "invalid-image" and image.startswith(b"GIF"):
        assert result.status_code in (415, 422)
        assert service.traces() == ([], [], [])
        return
    assert_refused(service, result, status, slug)
    assert "0x" not in result.text.replace("13000x13000", "")


@on_sqlite
def test_a_form_larger_than_any_image_is_refused_by_its_length(service_of):
    service = service_of(image_max_bytes=1_000)
    assert_refused(service, post_image(service, form(MAC_PART, part("file", b"x" * 3_000_000))), 413, "body-too-large")


@on_sqlite
def test_a_file_larger_than_allowed_is_refused_inside_the_form(service_of):
    service = service_of(image_max_bytes=1_000)
    assert_refused(service, post_image(service, form(MAC_PART, part("file", b"x" * 1_001))), 422, "image-too-large")


@on_sqlite
def test_a_raw_body_larger_than_allowed_is_refused(service_of):
    service = service_of(image_max_bytes=1_000)
    result = post_image(service, b"x" * 1_001, {"Content-Type": "image/png"}, f"mac={MAC}")
    assert_refused(service, result, 413, "body-too-large")


@on_sqlite
def test_base64_larger_than_allowed_is_refused(service_of):
    service = service_of(image_max_bytes=1_000)
    result = post_image(service, json_body(image_base64="A" * 2_000), JSON)
    assert_refused(service, result, 413, "body-too-large")


@on_sqlite
@pytest.mark.parametrize("content_type", ["", "text/plain", "application/x-www-form-urlencoded", "application/xml"])
def test_another_content_type_is_refused(service, content_type):
    headers = {"Content-Type": content_type} if content_type else {}
    assert_refused(service, post_image(service, GOOD_FORM, headers), 415, "unsupported-media-type")


@on_sqlite
@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"image_base64": ...}, "/image_base64"),
        ({"image_base64": "no base64!"}, "/image_base64"),
        ({"image_base64": 1}, "/image_base64"),
        ({"image_url": "http://169.254.169.254/"}, "/image_url"),
        ({"words": "red"}, "/words"),
        ({"words": ["x"] * 1001}, "/words"),
    ],
)
def test_json_with_wrong_fields_is_refused(service, changes, pointer):
    assert_refused(service, post_image(service, json_body(**changes), JSON), 422, "validation-failed", pointer)


@on_sqlite
@pytest.mark.parametrize("query", ["mac=aabbccddeeff&mac=aabbccddeeff", "mac=x&mac=y"])
def test_a_parameter_of_a_raw_body_may_not_be_repeated(service, query):
    assert_refused(
        service, post_image(service, PNG, {"Content-Type": "image/png"}, query), 422, "validation-failed", "/mac"
    )


@on_sqlite
def test_an_unknown_parameter_is_refused(service):
    result = post_image(service, PNG, {"Content-Type": "image/png"}, f"mac={MAC}&word=x")
    assert_refused(service, result, 400, "unknown-parameter")


@on_sqlite
def test_a_client_that_goes_away_in_the_middle_leaves_nothing(service):
    for body, headers, query in (
        (GOOD_FORM, FORM, ""),
        (json_body().encode(), JSON, ""),
        (PNG, {"Content-Type": "image/png"}, f"mac={MAC}"),
    ):
        client = service.http()
        result = client.simulate_post(
            IMAGE_PATH,
            body=body[: len(body) // 2],
            headers={**headers, "Content-Length": str(len(body))},
            query_string=query,
        )
        assert_refused(service, result, 400, "incomplete-body")


@on_sqlite
def test_a_form_whose_end_is_missing_leaves_nothing(service):
    client = service.http()
    result = client.simulate_post(
        IMAGE_PATH, body=GOOD_FORM, headers={**FORM, "Content-Length": str(len(GOOD_FORM) + 5)}
    )
    assert_refused(service, result, 400, "incomplete-body")


@on_sqlite
def test_a_form_without_file_and_device_is_told_both(service):
    result = post_image(service, form(part("words", "x")))
    assert [error["pointer"] for error in result.json["errors"]] == ["/file", "/mac"]


@on_sqlite
def test_a_query_beside_a_form_is_refused(service):
    result = service.http().simulate_post(
        "/api/ocr/image", query_string="task_id=t1", body=form(MAC_PART, IMAGE_PART), headers=FORM
    )
    assert_refused(service, result, 400, "unknown-parameter")


@on_sqlite
def test_blank_lines_of_words_are_left_out(service):
    result = post_image(service, form(MAC_PART, IMAGE_PART, part("words", "one\r\n \ntwo\u2028three")))
    assert result.status_code == 202
    assert service.ledger.get(result.json["task_id"]).payload["words"] == ["one", "two\u2028three"]
