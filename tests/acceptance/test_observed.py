"""What an operator sees of the running product: health that follows its workers, metrics that follow its tasks."""

import signal
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest
from prometheus_client.parser import text_string_to_metric_families

from pipeline.clock import SystemClock
from pipeline.runner.stack import Stack
from pipeline.samples import sample_images
from tests.acceptance.conftest import Running, settings_for
from tests.support.processes import wait_until

MAC = "aabbccddeeff"


@pytest.fixture(scope="module")
def observed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    settings = settings_for(tmp_path_factory.mktemp("data"), worker_heartbeat_seconds=1, worker_ttl_seconds=4)
    with Stack(settings, SystemClock(), threading.Event()) as stack:
        yield Running(settings, stack)


def is_ready(running: Running) -> bool:
    try:
        with urllib.request.urlopen(f"{running.api.base_url}/readyz", timeout=10) as answer:
            return bool(answer.status == 200)
    except urllib.error.HTTPError as exc:
        return exc.code != 503


def scraped(running: Running) -> dict[tuple[str, ...], float]:
    with urllib.request.urlopen(f"{running.api.base_url}/metrics", timeout=10) as answer:
        families = text_string_to_metric_families(answer.read().decode())
        return {(each.name, *each.labels.values()): each.value for family in families for each in family.samples}


@pytest.mark.feature("H5")
def test_an_image_is_in_the_metrics_with_each_of_its_stages(observed: Running) -> None:
    name, data = sample_images()[0]
    task_id = observed.api.submit_image(name, data, MAC)["task_id"]
    assert observed.api.task(task_id, wait_s=60)["state"] == "done"
    done = ("fairlane_task_ends_total", "ocr", "done")
    wait_until(lambda: scraped(observed).get(done) == 1)

    found = scraped(observed)

    assert [found[f"fairlane_{stage}_seconds_count", "ocr"] for stage in ("wait", "run", "task")] == [1, 1, 1]
    steps = ("fetch", "ocr", "screen", "store")
    assert [found["fairlane_stage_seconds_count", "ocr", step] for step in steps] == [1] * 4
    assert [found["fairlane_up", part] for part in ("queue", "database", "storage", "scheduler")] == [1] * 4
    assert found["fairlane_workers", "rapid", "ocr"] == 1


@pytest.mark.feature("H5")
def test_readyz_is_red_while_frozen_workers_consume_nothing_and_green_once_they_go_on(observed: Running) -> None:
    wait_until(lambda: is_ready(observed))
    workers = observed.processes("dramatiq", "pipeline.actors")
    assert workers
    for worker in workers:
        worker.send_signal(signal.SIGSTOP)
    observed.api.submit_text("nothing to be found here", MAC)

    wait_until(lambda: not is_ready(observed), limit_s=30)
    for worker in workers:
        worker.send_signal(signal.SIGCONT)

    wait_until(lambda: is_ready(observed))
