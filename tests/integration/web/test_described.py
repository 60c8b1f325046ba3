"""Requests made up from the OpenAPI document: whatever they are, the answer is one that the document describes."""

from collections.abc import Callable

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

from tests.support.callers import made_key
from tests.support.web_server import WebServer

#: What a schema cannot say (a MAC, an id that is taken) may be refused, and a 503 may be the truth.
UNTOLD = [positive_data_acceptance, not_a_server_error]
#: Of a batch each task is answered on its own; a long list of wrong ids is a 413, which schemathesis does not expect.
LENIENT = ("/api/ocr/text", "/api/dead-letters/replay")


@pytest.mark.feature("H2")
@pytest.mark.timeout(300)
@pytest.mark.parametrize("mode", GenerationMode)
def test_made_up_requests_get_answers_that_are_described(
    server_of: Callable[..., WebServer], mode: GenerationMode
) -> None:
    server = server_of(rate_per_key=0, rate_per_device=0, rate_per_address=0)
    # With a key, so that schemathesis sees what happens without one, too.
    headers = {"Authorization": f"Bearer {made_key(f'sqlite:///{server.folder}/fairlane.db', role='admin', site='*')}"}
    schema = schemathesis.openapi.from_url(f"http://127.0.0.1:{server.port}/openapi.json")
    faults: list[str] = []
    for found in schema.get_all_operations():
        operation = found.ok()

        @given(case=operation.as_strategy(generation_mode=mode))
        @settings(max_examples=20, deadline=None, derandomize=True, database=None, suppress_health_check=[*HealthCheck])
        def answers_as_described(case: schemathesis.Case) -> None:
            excluded = [*UNTOLD, negative_data_rejection] if case.path in LENIENT else UNTOLD
            answer = case.call_and_validate(excluded_checks=excluded, headers=headers)
            assert answer.status_code not in (500, 502, 504)

        try:
            answers_as_described()
        except Unsatisfiable:  # nothing about this operation can be wrong
            continue
        except (Exception, FailureGroup) as exc:  # noqa: BLE001 (each is told at the end)
            faults.append(f"{operation.label}: {exc}")
    assert not faults, "\n\n".join(faults)
