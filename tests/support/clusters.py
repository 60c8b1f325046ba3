"""Real groups of servers: a Cluster of three nodes, and a master with a replica and a Sentinel that watches them."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import redis

from tests.support.processes import wait_until
from tests.support.servers import Server, answers_ping, free_port, valkey_binary

_SLOTS = 16384


class Cluster:
    """Three nodes, each with a third of the slots, none with a replica."""

    def __init__(self, nodes: list[Server]) -> None:
        self.nodes = nodes
        self.url = "redis+cluster://" + ",".join(_place(node) for node in nodes)

    def flush(self) -> None:
        for node in self.nodes:
            with client_of(node) as client:
                client.flushall()

    def node_of(self, key: str) -> Server:
        """The node that has the slot of `key`."""
        with client_of(self.nodes[0]) as client:
            return self.nodes[int(client.execute_command("CLUSTER KEYSLOT", key)) * len(self.nodes) // _SLOTS]


@contextmanager
def started_cluster(folder: Path) -> Iterator[Cluster]:
    nodes = [_start_node(folder / str(number)) for number in range(3)]
    try:
        _join(nodes)
        yield Cluster(nodes)
    finally:
        for node in nodes:
            node.stop()


class Watched:
    """A master and its replica, of which a Sentinel makes a new master when the first is gone."""

    def __init__(self, master: Server, replica: Server, sentinel: Server) -> None:
        self.master, self.replica, self.sentinel = master, replica, sentinel
        self.url = f"redis+sentinel://{_place(sentinel)}/line/0"


@contextmanager
def started_sentinel(folder: Path) -> Iterator[Watched]:
    master = _start(folder / "master")
    replica = _start(folder / "replica", "--replicaof", f"127.0.0.1 {_port(master)}")
    with client_of(replica) as client:
        wait_until(lambda: client.info("replication")["master_link_status"] == "up")
    config = folder / "sentinel.conf"
    config.write_text(
        f"sentinel monitor line 127.0.0.1 {_port(master)} 1\n"
        "sentinel down-after-milliseconds line 300\n"
        "sentinel failover-timeout line 2000\n"
    )
    sentinel = _start(folder / "sentinel", "--sentinel", config=config)
    with client_of(sentinel) as client:
        wait_until(lambda: client.sentinel_slaves("line"))
    watched = Watched(master, replica, sentinel)
    try:
        yield watched
    finally:
        for server in (sentinel, replica, master):
            if server.process.poll() is None:
                server.stop()


def client_of(server: Server) -> redis.Redis:
    return redis.Redis.from_url(server.url)


def _start_node(folder: Path) -> Server:
    return _start(
        folder,
        *("--cluster-enabled", "yes", "--cluster-port", str(free_port()), "--cluster-node-timeout", "1000"),
        # Else one lost node stops them all.
        *("--cluster-require-full-coverage", "no"),
    )


def _start(folder: Path, *options: str, config: Path | None = None) -> Server:
    folder.mkdir()
    port = free_port()
    server = Server(
        url=f"redis://127.0.0.1:{port}",
        command=[
            valkey_binary(),
            *([str(config)] if config else []),
            *("--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder)),
            *("--save", "", "--appendonly", "no", "--repl-diskless-sync-delay", "0"),
            *options,
        ],
        is_answering=answers_ping,
        stop_signal=signal.SIGKILL,
        log=folder / "valkey.log",
    )
    server.start()
    return server


def _join(nodes: list[Server]) -> None:
    for number, node in enumerate(nodes):
        with client_of(node) as client:
            first, end = (_SLOTS * part // len(nodes) for part in (number, number + 1))
            client.execute_command("CLUSTER ADDSLOTSRANGE", first, end - 1)
            # Only a node that knows no other may choose its epoch.
            client.execute_command("CLUSTER SET-CONFIG-EPOCH", number + 1)
    for node in nodes[1:]:
        with client_of(node) as client:
            client.execute_command("CLUSTER MEET", "127.0.0.1", _port(nodes[0]), *_bus_port(nodes[0]))
    for node in nodes:
        with client_of(node) as client:
            wait_until(lambda client=client: _is_whole(client, len(nodes)))


def _is_whole(client: redis.Redis, count: int) -> bool:
    info: Any = client.execute_command("CLUSTER INFO")
    return info["cluster_state"] == "ok" and info["cluster_slots_ok"] == str(_SLOTS) and _knows(client) == count


def _knows(client: redis.Redis) -> int:
    nodes: Any = client.execute_command("CLUSTER NODES")
    return sum("handshake" not in node["flags"] for node in nodes.values())


def _bus_port(node: Server) -> list[str]:
    return [node.command[node.command.index("--cluster-port") + 1]]


def _port(server: Server) -> int:
    return int(server.url.rpartition(":")[2])


def _place(server: Server) -> str:
    return server.url.removeprefix("redis://")
