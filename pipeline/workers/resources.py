"""What the host has and how busy it is."""

import psutil


def host_figures() -> dict[str, str]:
    """Cores, load and memory of this host, in the words of the worker registry.

    `cpu_percent` is the share since this thread's last call (psutil keeps the baseline per thread), so only the
    heartbeat calls it; its first answer is 0.0.
    """
    memory = psutil.virtual_memory()
    return {
        "cpu_count": str(psutil.cpu_count() or 1),
        "cpu_percent": f"{psutil.cpu_percent():.1f}",
        "memory_total": str(memory.total),
        "memory_available": str(memory.available),
        "memory_percent": f"{memory.percent:.1f}",
    }
