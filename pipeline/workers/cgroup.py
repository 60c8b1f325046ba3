"""What the kernel allows this process's control group: CPU quotas and memory limits, cgroup v1, v2 and mixed."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

#: v1 writes "no limit" as the largest multiple of a page below 2^63; nobody has an exbibyte. Bytes.
_NO_LIMIT_BYTES = 1 << 60


@dataclass(frozen=True, slots=True)
class CpuQuota:
    """CPU time a group may use, and has used.

    Args:
        cores: quota by period; may be a fraction.
        used_s: CPU seconds of everything in the group since it began.
    """

    cores: float
    used_s: float


@dataclass(frozen=True, slots=True)
class MemoryLimit:
    """Memory a group may use, and uses: the inactive file cache is left out, the kernel drops it when asked."""

    limit_bytes: int
    used_bytes: int


class Cgroup:
    """The group of this process and all groups above it that can be seen: each of them may hold a limit.

    Inside a container `/proc/self/cgroup` may name a path of the host that is not mounted; then the root of what is
    mounted is the container's own group.

    Args:
        root: where `proc` and `sys` lie.
    Source: cgroups(7); admin-guide/cgroup-v2 and cgroup-v1/memory of the kernel.
    """

    def __init__(self, root: Path = Path("/")) -> None:
        lines = _lines(root / "proc/self/cgroup")
        mount = root / "sys/fs/cgroup"
        self._cpu = list(_levels(mount, lines, "cpu"))
        self._memory = list(_levels(mount, lines, "memory"))
        #: v1 may count CPU time in a tree of its own.
        self._cpu_time = _v1_base(mount, lines, "cpuacct")
        self._cpu_base = _v1_base(mount, lines, "cpu")

    def cpu_quotas(self) -> dict[Path, CpuQuota]:
        """The quotas that bind us, by the folder of their group."""
        found = {folder: self._cpu_quota(folder) for folder in self._cpu}
        return {folder: quota for folder, quota in found.items() if quota}

    def memory_limits(self) -> list[MemoryLimit]:
        """The limits that bind us."""
        return [limit for folder in self._memory if (limit := _memory_limit(folder))]

    def _cpu_quota(self, folder: Path) -> CpuQuota | None:
        if self._cpu_base is None:
            quota, _, period = _text(folder / "cpu.max").partition(" ")
            used_s = _stat(folder / "cpu.stat").get("usage_usec", -1) / 1e6
        else:
            quota, period = _text(folder / "cpu.cfs_quota_us"), _text(folder / "cpu.cfs_period_us")
            used_s = self._v1_used_s(folder, self._cpu_base)
        if not (quota.isdecimal() and period.isdecimal() and int(quota) and int(period)) or used_s < 0:
            return None
        return CpuQuota(int(quota) / int(period), used_s)

    def _v1_used_s(self, folder: Path, base: Path) -> float:
        counted = (self._cpu_time or base) / folder.relative_to(base) / "cpuacct.usage"
        used = _text(counted)
        return int(used) / 1e9 if used.isdecimal() else -1.0


def _memory_limit(folder: Path) -> MemoryLimit | None:
    limit, used = _text(folder / "memory.max"), _text(folder / "memory.current")
    inactive = "inactive_file"
    if not used:
        limit, used = _text(folder / "memory.limit_in_bytes"), _text(folder / "memory.usage_in_bytes")
        inactive = "total_inactive_file"
    if not (limit.isdecimal() and used.isdecimal()) or not 0 < int(limit) < _NO_LIMIT_BYTES:
        return None
    droppable = _stat(folder / "memory.stat").get(inactive, 0)
    return MemoryLimit(int(limit), max(0, int(used) - droppable))


def _levels(mount: Path, lines: list[tuple[str, str]], controller: str) -> Iterator[Path]:
    """The folders of our group and of those above it, for one controller."""
    base = _v1_base(mount, lines, controller)
    named = {name: path for names, path in lines for name in names.split(",")}
    path = PurePosixPath(named.get("" if base is None else controller, "/"))
    base = mount if base is None else base
    # A group outside of our namespace is written with `..`: it cannot be seen from here.
    inner = [] if ".." in path.parts else [part for part in path.parts if part != "/"]
    for depth in range(len(inner), -1, -1):
        folder = base.joinpath(*inner[:depth])
        if folder.is_dir():
            yield folder


def _v1_base(mount: Path, lines: list[tuple[str, str]], controller: str) -> Path | None:
    """Where v1 mounts a controller; None when it has none, so that v2 is in charge of it."""
    for names, _ in lines:
        if controller in names.split(","):
            folders = [mount / controller, mount / names]
            return next((folder for folder in folders if folder.is_dir()), None)
    return None


def _lines(path: Path) -> list[tuple[str, str]]:
    """Controllers (none: v2) and path of each line `4:cpu,cpuacct:/user.slice`."""
    found = []
    for line in _text(path).splitlines():
        _, _, rest = line.partition(":")
        names, _, group = rest.partition(":")
        found.append((names, group))
    return found


def _stat(path: Path) -> dict[str, int]:
    pairs = (line.split() for line in _text(path).splitlines())
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdecimal()}


def _text(path: Path) -> str:
    """The content of a file; empty when there is none: limits come and go with their groups."""
    try:
        return path.read_text().strip()
    except (OSError, ValueError):
        return ""
