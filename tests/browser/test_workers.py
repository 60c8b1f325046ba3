"""The page of the workers: by host, what each does, and what is wrong with it."""

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import expect

from tests.support.browsing import Visit
from tests.support.dashboard import Dashboard

pytestmark = pytest.mark.feature("H4")


@pytest.fixture
def workers(dashboard: Dashboard) -> Iterator[Dashboard]:
    """Three workers on two hosts: one is older, one held, one cannot load a list."""
    ids = [
        dashboard.enter_worker("gpu-1", 11, queues="ocr", engine="paddle", gpu_available="1", gpu_util="72.5"),
        dashboard.enter_worker("gpu-1", 12, queues="text,notify", version="0.0.9", word_faults="house: damaged"),
        dashboard.enter_worker("small-2", 21, state="held", holds="CPU over its watermark; memory over its watermark"),
    ]
    yield dashboard
    for worker_id in ids:
        dashboard.roster.leave(worker_id)


def of_process(pid: int) -> re.Pattern[str]:
    """The name of a worker's row begins with its process id; other numbers, as of times, may follow."""
    return re.compile(rf"^{pid}\b")


def test_workers_stand_with_their_host(workers: Dashboard, visit: Callable[..., Visit]) -> None:
    page = visit(workers).open("#/workers", title="Workers").page
    gpu, small = (page.get_by_role("region", name=name, exact=True) for name in ("gpu-1", "small-2"))
    expect(gpu.get_by_role("row")).to_have_count(3)
    expect(small.get_by_role("row")).to_have_count(2)
    expect(gpu.get_by_role("row", name=of_process(11))).to_contain_text("paddle")
    expect(gpu).to_contain_text("73%")
    expect(small).not_to_contain_text("GPU")


def test_what_is_wrong_with_a_worker_is_said(workers: Dashboard, visit: Callable[..., Visit]) -> None:
    page = visit(workers).open("#/workers", title="Workers").page
    expect(page.get_by_role("row", name=of_process(21))).to_contain_text("held")
    expect(page.get_by_role("row", name=of_process(21))).to_contain_text("memory over its watermark")
    expect(page.get_by_role("row", name=of_process(12))).to_contain_text("older than others")
    expect(page.get_by_role("row", name=of_process(11))).not_to_contain_text("older")
    expect(page.get_by_text("house: damaged")).to_be_visible()
    expect(page.get_by_text("2 versions differ")).to_be_visible()


def test_a_worker_that_has_gone_is_shown_no_more(workers: Dashboard, visit: Callable[..., Visit]) -> None:
    seen = visit(workers)
    seen.page.clock.install()
    seen.open("#/workers", title="Workers")
    expect(seen.page.get_by_role("region", name="small-2", exact=True)).to_be_visible()
    workers.roster.leave("small-2:21")
    seen.page.clock.run_for(10_000)
    expect(seen.page.get_by_role("region", name="small-2", exact=True)).to_have_count(0)
