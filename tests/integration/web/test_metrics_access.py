"""Who may scrape `/metrics`, also while the database with the keys is silent."""

import pytest

from models.keys import ApiKeys
from pipeline.errors import DatabaseUnavailable
from tests.support.callers import guest
from tests.support.service import MAC, on_sqlite


class SilentKeys(ApiKeys):
    """Keys in a database that falls silent."""

    is_silent = False
    asked = 0

    def get(self, key_id):
        return self._answer(super().get, key_id)

    def has_any(self):
        return self._answer(super().has_any)

    def note_use(self, key):
        return self._answer(super().note_use, key)

    def _answer(self, ask, *given):
        self.asked += 1
        if self.is_silent:
            raise DatabaseUnavailable("no answer from 10.1.2.3")
        return ask(*given)


@pytest.mark.feature("H5")
@on_sqlite
@pytest.mark.parametrize(
    ("wanted", "status"),
    [
        ({"role": "viewer", "site": "*"}, 200),
        ({"role": "operator", "site": "*"}, 200),
        ({"role": "admin", "site": "*"}, 200),
        ({"role": "viewer", "site": "local"}, 403),
        ({"role": "admin", "site": "local"}, 403),
        ({"role": "viewer", "site": "*", "macs": (MAC,)}, 403),
    ],
)
def test_it_is_for_those_who_may_see_what_all_sites_share(service, wanted, status):
    assert guest(service, **wanted).ask("GET", "/metrics").status_code == status
    assert service.http().simulate_get("/metrics").status_code == 401


@pytest.mark.feature("H5")
@on_sqlite
def test_a_scraper_is_let_in_while_the_database_with_its_key_is_silent(service):
    keys = SilentKeys(service.database, service.clock)
    http = service.http(keys=keys)
    somebody = guest(service, role="viewer", site="*", client=http)
    assert somebody.ask("GET", "/metrics").status_code == 200
    keys.is_silent = True
    service.clock.advance(600_000)

    assert somebody.ask("GET", "/metrics").status_code == 200
    assert somebody.ask("GET", "/api/queue").status_code == 503
    assert http.simulate_get("/metrics", headers={"Authorization": "Bearer fl_unknown"}).status_code == 401
    service.clock.advance(3_600_000)
    assert somebody.ask("GET", "/metrics").status_code == 503


@pytest.mark.feature("H5")
@on_sqlite
def test_a_database_that_hangs_is_waited_for_by_one_scrape_a_minute(service):
    keys = SilentKeys(service.database, service.clock)
    somebody = guest(service, role="viewer", site="*", client=service.http(keys=keys))
    somebody.ask("GET", "/metrics")
    keys.is_silent, keys.asked = True, 0
    for _ in range(8):
        service.clock.advance(15_000)
        assert somebody.ask("GET", "/metrics").status_code == 200

    assert keys.asked == 2
    keys.is_silent = False
    service.clock.advance(60_000)
    assert somebody.ask("GET", "/api/queue").status_code == 200


@on_sqlite
def test_without_keys_this_machine_is_let_in_while_the_database_is_silent(service):
    keys = SilentKeys(service.database, service.clock)
    http = service.http(keys=keys)
    assert http.simulate_get("/metrics").status_code == 200
    keys.is_silent = True
    service.clock.advance(600_000)

    assert http.simulate_get("/metrics").status_code == 200
    assert http.simulate_get("/api/queue").status_code == 503
    assert http.simulate_get("/metrics", headers={"Host": "attacker.example"}).status_code == 401


@on_sqlite
def test_a_process_that_never_saw_the_keys_lets_nobody_in(service):
    keys = SilentKeys(service.database, service.clock)
    keys.is_silent = True

    assert service.http(keys=keys).simulate_get("/metrics").status_code == 503
