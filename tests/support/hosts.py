"""Several hosts on one machine: network namespaces on a bridge, each with a name and a processor of its own."""

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.support.servers import die_with_parent


class Host:
    """One namespace; what runs in it sees its own network, host name and processor."""

    def __init__(self, name: str, namespace: str, link: str, address: str, cpu: int) -> None:
        self.name, self.namespace, self.link, self.address, self.cpu = name, namespace, link, address, cpu
        self._processes: list[subprocess.Popen[bytes]] = []

    def start(self, command: Sequence[str], environment: Mapping[str, str], log: Path) -> "subprocess.Popen[bytes]":
        """Run a command on this host until the network is gone."""
        with log.open("ab") as output:
            process = subprocess.Popen(
                [
                    *("ip", "netns", "exec", self.namespace, "unshare", "--uts", "sh", "-c"),
                    *('hostname "$0" && exec taskset -c "$@"', self.name, str(self.cpu), *command),
                ],
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                preexec_fn=die_with_parent,
            )
        self._processes.append(process)
        return process

    def cut_off(self) -> None:
        """Let no packet in or out."""
        _ip("link", "set", self.link, "down")

    def reconnect(self) -> None:
        _ip("link", "set", self.link, "up")

    def deafen(self) -> None:
        """Let what it says come out, and no answer in."""
        _ip("route", "add", "blackhole", f"{self.address}/32")

    def undeafen(self) -> None:
        _ip("route", "delete", "blackhole", f"{self.address}/32")

    def end(self) -> None:
        """End everything that was started here."""
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


class Network:
    """A bridge in this namespace, and hosts on it; all is gone after the `with` block.

    Args:
        names: of the hosts, at most 200.
    """

    def __init__(self, names: Sequence[str]) -> None:
        number = os.getpid() % 10_000
        self._bridge = f"flb{number}"
        self._prefix = f"10.{77 + number // 250}.{number % 250}"
        #: Of this namespace, for servers that all hosts reach.
        self.address = f"{self._prefix}.1"
        cpus = sorted(os.sched_getaffinity(0))
        self.hosts = {
            name: Host(
                name,
                f"fl{number}-{name}",
                f"flv{number}{index}",
                f"{self._prefix}.{10 + index}",
                cpus[index % len(cpus)],
            )
            for index, name in enumerate(names)
        }

    def __enter__(self) -> Self:
        _ip("link", "add", self._bridge, "type", "bridge")
        _ip("addr", "add", f"{self.address}/24", "dev", self._bridge)
        _ip("link", "set", self._bridge, "up")
        for host in self.hosts.values():
            self._connect(host, f"{host.address}/24")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for host in self.hosts.values():
            host.end()
            _ip("netns", "delete", host.namespace)
        _ip("link", "delete", self._bridge)

    def _connect(self, host: Host, address: str) -> None:
        inside = host.link + "i"
        _ip("netns", "add", host.namespace)
        _ip("link", "add", host.link, "type", "veth", "peer", "name", inside, "netns", host.namespace)
        _ip("link", "set", host.link, "master", self._bridge, "up")
        _ip("-n", host.namespace, "link", "set", "lo", "up")
        _ip("-n", host.namespace, "addr", "add", address, "dev", inside)
        _ip("-n", host.namespace, "link", "set", inside, "up")


@contextmanager
def burning(cpu: int) -> Iterator[None]:
    """A foreign process that wants the whole of one processor."""
    with subprocess.Popen(["taskset", "-c", str(cpu), "sh", "-c", "while :; do :; done"]) as burner:
        try:
            yield
        finally:
            burner.kill()


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, timeout=20)
