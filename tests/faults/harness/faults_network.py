"""What may become of the way to a server: refused, silent, slow, or answered by somebody else."""

from dataclasses import dataclass, field

from tests.faults.harness.fault import Fault
from tests.faults.harness.house import House
from tests.faults.harness.proxy import Mode, Proxy

#: What a store answers that has trouble of its own.
HTTP_500 = b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


@dataclass
class WayDisturbed(Fault):
    """The proxy in front of a server behaves so for a while.

    Args:
        server: valkey, postgres or store.
        mode: of the proxy.
        delay_s: of each reply, where they are slow.
        answer: where the proxy answers by itself.
    """

    server: str
    mode: Mode
    delay_s: float = 0.0
    answer: bytes = b""
    _struck: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.kind = "store" if self.server == "store" else "network"

    def inject(self, house: House) -> None:
        self._proxy(house).set(self.mode, delay_s=self.delay_s, answer=self.answer)
        if self.mode == "refuse":
            self._proxy(house).cut()

    def heal(self, house: House) -> None:
        proxy = self._proxy(house)
        self._struck = proxy.struck
        proxy.set("pass")

    def trace(self, house: House) -> str:
        return f"{self._struck} times {self.mode}" if self._struck else ""

    def _proxy(self, house: House) -> Proxy:
        proxy: Proxy = getattr(house.servers, self.server)
        return proxy
