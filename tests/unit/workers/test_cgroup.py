"""Limits of the control group, read from trees as each kind of kernel and container has them."""

from pathlib import Path

import pytest

from pipeline.workers.cgroup import Cgroup, CpuQuota, MemoryLimit

V2 = "0::/user.slice/fairlane.service\n"
V1 = "9:memory:/docker/abc\n3:cpuset:/\n2:cpuacct,cpu:/docker/abc\n0::/\n"


def grow(root: Path, files: dict[str, str]) -> Cgroup:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return Cgroup(root)


def v2(group: str, **files: str) -> dict[str, str]:
    return {f"sys/fs/cgroup{group}/{name.replace('_', '.', 1)}": content for name, content in files.items()}


@pytest.mark.feature("S4")
def test_v2_limits_are_read_from_our_group(tmp_path: Path) -> None:
    cgroup = grow(
        tmp_path,
        {
            "proc/self/cgroup": V2,
            **v2(
                "/user.slice/fairlane.service",
                cpu_max="50000 100000\n",
                cpu_stat="usage_usec 2500000\nnr_throttled 3\n",
                memory_max="1000\n",
                memory_current="700\n",
                memory_stat="anon 400\ninactive_file 300\n",
            ),
        },
    )

    assert list(cgroup.cpu_quotas().values()) == [CpuQuota(cores=0.5, used_s=2.5)]
    assert cgroup.memory_limits() == [MemoryLimit(limit_bytes=1000, used_bytes=400)]


def test_v2_limits_of_the_groups_above_bind_too(tmp_path: Path) -> None:
    stat = "usage_usec 0\n"
    cgroup = grow(
        tmp_path,
        {
            "proc/self/cgroup": V2,
            **v2("/user.slice/fairlane.service", cpu_max="max 100000", cpu_stat=stat, memory_max="max"),
            **v2("/user.slice", cpu_max="300000 100000", cpu_stat=stat, memory_max="50", memory_current="20"),
        },
    )

    assert [quota.cores for quota in cgroup.cpu_quotas().values()] == [3.0]
    assert cgroup.memory_limits() == [MemoryLimit(50, 20)]


def test_v2_in_a_container_is_read_at_the_root_of_what_is_mounted(tmp_path: Path) -> None:
    for path in ("/", "/../../elsewhere", "/docker/not-mounted"):
        root = tmp_path / str(len(path))
        cgroup = grow(
            root,
            {
                "proc/self/cgroup": f"0::{path}\n",
                **v2("", cpu_max="200000 100000", cpu_stat="usage_usec 7", memory_max="50", memory_current="20"),
            },
        )
        assert [quota.cores for quota in cgroup.cpu_quotas().values()] == [2.0], path
        assert cgroup.memory_limits() == [MemoryLimit(50, 20)]


@pytest.mark.feature("S4")
@pytest.mark.parametrize("group", ["", "/docker/abc"])
def test_v1_limits_are_read_whether_or_not_the_path_of_the_host_is_mounted(tmp_path: Path, group: str) -> None:
    cgroup = grow(
        tmp_path,
        {
            "proc/self/cgroup": V1,
            f"sys/fs/cgroup/cpuacct,cpu{group}/cpu.cfs_quota_us": "150000\n",
            f"sys/fs/cgroup/cpuacct,cpu{group}/cpu.cfs_period_us": "100000\n",
            f"sys/fs/cgroup/cpuacct,cpu{group}/cpuacct.usage": "4000000000\n",
            f"sys/fs/cgroup/memory{group}/memory.limit_in_bytes": "1000\n",
            f"sys/fs/cgroup/memory{group}/memory.usage_in_bytes": "900\n",
            f"sys/fs/cgroup/memory{group}/memory.stat": "inactive_file 1\ntotal_inactive_file 250\n",
        },
    )

    assert list(cgroup.cpu_quotas().values()) == [CpuQuota(cores=1.5, used_s=4.0)]
    assert cgroup.memory_limits() == [MemoryLimit(1000, 650)]


def test_v1_with_cpu_and_cpuacct_apart_is_read(tmp_path: Path) -> None:
    cgroup = grow(
        tmp_path,
        {
            "proc/self/cgroup": "2:cpuacct:/\n1:cpu:/\n0::/\n",
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "50000",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
            "sys/fs/cgroup/cpuacct/cpuacct.usage": "1500000000",
        },
    )

    assert list(cgroup.cpu_quotas().values()) == [CpuQuota(0.5, 1.5)]


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"proc/self/cgroup": "rubbish\n\n"},
        {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "max 100000", "sys/fs/cgroup/memory.max": "max"},
        {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "-1 x", "sys/fs/cgroup/memory.max": "many"},
        {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "50000 100000"},
        {
            "proc/self/cgroup": V1,
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712",
            "sys/fs/cgroup/memory/memory.usage_in_bytes": "5",
        },
    ],
    ids=["nothing", "rubbish", "v2 without limits", "v2 unreadable", "v2 without usage", "v1 without limits"],
)
def test_where_nothing_is_limited_or_readable_nothing_binds(tmp_path: Path, files: dict[str, str]) -> None:
    cgroup = grow(tmp_path, files)

    assert cgroup.cpu_quotas() == {}
    assert cgroup.memory_limits() == []
