"""The audit, read over HTTP."""

from tests.support.callers import guest


def test_the_audit_is_read_in_pages(service):
    admin = guest(service, site="*")
    for number in range(3):
        admin.ask("DELETE", f"/api/ocr/tasks/t{number}")
    first = admin.ask("GET", "/api/audit", params={"limit": "2"}).json
    path, _, query = first["next"].partition("?")
    rest = admin.ask("GET", path, query_string=query).json
    assert [line["target"][-2:] for line in first["lines"] + rest["lines"]] == ["t2", "t1", "t0"]
    assert rest["next"] is None
    for wrong in ("limit=0", "limit=201", "before=x", "before=1&before=2"):
        assert admin.ask("GET", "/api/audit", query_string=wrong).status_code == 400
