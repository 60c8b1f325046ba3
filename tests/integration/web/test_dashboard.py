"""The dashboard's page and files, and what it asks besides the rest."""

import re

import pytest

from tests.support.callers import guest


@pytest.mark.feature("H4")
def test_the_page_comes_with_a_policy_that_lets_only_our_files_run(service):
    answer = service.http().simulate_get("/")
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert "<script>" not in answer.text
    assert " style=" not in answer.text


def test_every_file_that_the_page_names_is_there(service):
    http = service.http()
    names = re.findall(r'(?:src|href)="([^"]+)"', http.simulate_get("/").text)
    assert len(names) > 5
    for name in names:
        answer = http.simulate_get(f"/{name}")
        assert answer.status_code == 200, name
        assert answer.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    "name", ["../pages.py", "js/../../files.py", "%2e%2e/files.py", "", "js", "js/", "nothing.js", "/etc/passwd"]
)
def test_nothing_else_can_be_named(service, name):
    assert service.http().simulate_get(f"/static/{name}").status_code == 404


def test_a_file_that_is_known_is_not_sent_again(service):
    http = service.http()
    etag = http.simulate_get("/static/app.css").headers["ETag"]
    answer = http.simulate_get("/static/app.css", headers={"If-None-Match": etag})
    assert (answer.status_code, answer.content) == (304, b"")


def test_the_page_needs_no_key_and_holds_nothing_of_anybodys(service):
    guest(service, site="north")  # from now on keys are needed
    http = service.http()
    assert http.simulate_get("/").status_code == 200
    assert http.simulate_get("/api/me").status_code == 401


@pytest.mark.feature("H4")
def test_me_says_what_a_key_may_do(service):
    viewer = guest(service, site="north", role="viewer")
    answer = viewer.ask("GET", "/api/me").json
    assert (answer["role"], answer["site"], answer["macs"]) == ("viewer", "north", None)
    assert answer["may"] == ["open", "own", "read"]
