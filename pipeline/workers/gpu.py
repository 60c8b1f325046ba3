"""Whether this host has a GPU that a process may use."""

from pathlib import Path

#: Where the driver puts one node for each GPU that this host, or this container, may use.
_DEVICES = Path("/dev")


def has_gpu(devices: Path = _DEVICES) -> bool:
    """Say whether there is an NVIDIA GPU here; whether it works is found out by whoever uses it."""
    return any(devices.glob("nvidia[0-9]*"))
