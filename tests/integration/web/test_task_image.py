"""The image of a task over HTTP: as it came, and never anything that a browser would run."""

import hashlib

import pytest

from pipeline.errors import ObjectMissing, StorageUnavailable
from pipeline.storage import audit_key
from pipeline.submission import ImageSubmission, TextSubmission
from tests.support.callers import guest
from tests.support.service import MAC, BrokenStore, on_sqlite
from tests.support.uploads import PNG


def image_of(task_id):
    return f"/api/ocr/tasks/{task_id}/image"


@pytest.fixture
def north(service):
    """A viewer of the site whose task `t1` came with an image."""
    viewer = guest(service, "viewer", "north")
    service.intake().submit_image(ImageSubmission(mac=MAC, image=PNG, task_id="t1", site="north"))
    return viewer


@pytest.mark.feature("H4")
def test_the_image_comes_as_it_was_and_is_only_ever_an_image(service, north):
    result = north.ask("GET", image_of("t1"))
    assert (result.status_code, result.content) == (200, PNG)
    assert result.headers["content-type"] == "image/png"
    assert result.headers["x-content-type-options"] == "nosniff"
    assert result.headers["content-disposition"] == "inline"
    assert "sandbox" in result.headers["content-security-policy"]
    head = north.ask("HEAD", image_of("t1"))
    assert (head.status_code, head.content, int(head.headers["content-length"])) == (200, b"", len(PNG))


@pytest.mark.feature("H3")
def test_the_image_of_another_site_or_device_is_not_found(service, north):
    bound = guest(service, "viewer", "north", macs=("112233445566",))
    for stranger in (guest(service, "admin", "south"), bound):
        result = stranger.ask("GET", image_of("t1"))
        assert (result.status_code, result.json["type"]) == (404, "/problems/not-found")
    assert guest(service, "device", "north").ask("GET", image_of("t1")).status_code == 403


@pytest.mark.feature("R4")
def test_an_image_that_was_deleted_is_gone_unless_the_archive_has_it(service, north):
    row = service.ledger.get("t1")
    service.store.delete(row.payload["object"])
    result = north.ask("GET", image_of("t1"))
    assert (result.status_code, result.json["type"]) == (404, "/problems/image-gone")
    service.store.put(audit_key("t1", row.created_ms), PNG)
    assert north.ask("GET", image_of("t1")).content == PNG


@on_sqlite
def test_a_text_has_no_image(service, north):
    service.intake().submit_text(TextSubmission(mac=MAC, text="x", task_id="t2", site="north"))
    result = north.ask("GET", image_of("t2"))
    assert (result.status_code, result.json["type"]) == (404, "/problems/image-gone")


@on_sqlite
def test_a_store_that_is_down_is_not_an_image_that_is_gone(service, north):
    class Silent(BrokenStore):
        def get(self, key):
            raise StorageUnavailable(f"get: no answer from s3://10.1.2.3 ({ObjectMissing.code})")

    viewer = guest(service, "viewer", "north", client=service.http(store=Silent()))
    result = viewer.ask("GET", image_of("t1"))
    assert (result.status_code, result.json["type"]) == (503, "/problems/dependency-unavailable")
    assert "10.1.2.3" not in result.text


@pytest.mark.feature("H4")
def test_a_task_is_found_by_its_image_and_by_the_id_of_the_clients_finding(service, north):
    text = TextSubmission(mac=MAC, text="x", task_id="t2", site="north", detection_id="found-7")
    service.intake().submit_text(text)
    digest = hashlib.sha256(PNG).hexdigest()

    def found(**query):
        return [task["task_id"] for task in north.ask("GET", "/api/ocr/tasks", params=query).json["tasks"]]

    assert found(image_sha256=digest) == found(image_sha256=digest.upper(), mac=MAC) == ["t1"]
    assert found(detection_id="found-7") == found(detection_id="found-7", lane="text") == ["t2"]
    assert found(image_sha256="0" * 64) == found(detection_id="found-8") == []
    assert found(image_sha256=digest, lane="text") == []
    theirs = guest(service, "admin", "south").ask("GET", "/api/ocr/tasks", params={"image_sha256": digest})
    assert theirs.json["tasks"] == []
    for wrong in ("image_sha256=abc", "image_sha256=" + "g" * 64, "detection_id=", "detection_id=a%20b"):
        assert north.ask("GET", "/api/ocr/tasks", query_string=wrong).status_code == 400
