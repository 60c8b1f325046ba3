"""The benchmark of the dashboard, tiny: what it prints is all there."""

from playwright.sync_api import Browser

from benchmarks import bench_dashboard


def test_the_benchmark_tells_of_each_page_on_both_databases(chromium: Browser) -> None:
    report = "\n".join(bench_dashboard.run(bench_dashboard.TINY, chromium))

    for name in ("SQLite", "PostgreSQL", "overview", "tasks with hits", "first paint"):
        assert name in report
