"""Every Redis key, one function each; `lua/lib/keys.lua` builds the same names and a test compares the two."""


class Keys:
    """The names of one fairlane's keys.

    Args:
        prefix: in front of every name; two fairlanes on one server need two prefixes.
    """

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix

    def epoch(self) -> str:
        """string: when this data set began, epoch ms; missing after a loss of data."""
        return f"{self.prefix}epoch"

    def line(self, mac: str, lane: str) -> str:
        """zset: `<sequence>:<size class>:<expires>:<task id>` -> order, epoch ms; the device's line."""
        return f"{self.prefix}mac:queue:{mac}:{lane}"

    def meta(self, mac: str) -> str:
        """hash: what is known of a device; fields that end in `:<lane>` count for that lane."""
        return f"{self.prefix}mac:meta:{mac}"

    def schedule(self, lane: str, site: str) -> str:
        """zset: `<sequence>:<mac>` -> score; the devices of a site that can be served now."""
        return f"{self.prefix}mac:schedule:{lane}:{site}"

    def sites(self, lane: str) -> str:
        """zset: `<sequence>:<site>` -> score; the sites of which a device can be served now."""
        return f"{self.prefix}site:schedule:{lane}"

    def oldest(self, lane: str) -> str:
        """zset: mac -> order of its first task, or of one that stood there earlier: devices with work."""
        return f"{self.prefix}mac:oldest:{lane}"

    def oldest_of(self, lane: str, site: str) -> str:
        """zset: the same of one site."""
        return f"{self.prefix}mac:oldest:{lane}:{site}"

    def lane(self, lane: str) -> str:
        """hash: the lane's clock, estimates and books; fields `<site>|<name>` belong to a site."""
        return f"{self.prefix}lane:{lane}"

    def wake(self, lane: str) -> str:
        """list: wake-ups for idle consumers."""
        return f"{self.prefix}wake:{lane}"

    def bell(self) -> str:
        """list: one wake-up for the scheduler, when something falls due sooner than it could know."""
        return f"{self.prefix}bell"

    def leases(self, lane: str) -> str:
        """zset: `<lane>:<mac>:<task id>` -> lease deadline, epoch ms; its size is the number in flight."""
        return f"{self.prefix}leases:{lane}"

    def task(self, task_id: str) -> str:
        """hash: one task; goes away a while after its end."""
        return f"{self.prefix}task:{task_id}"

    def delayed(self) -> str:
        """zset: `<lane>:<mac>:<task id>` -> due time, epoch ms."""
        return f"{self.prefix}delayed"

    def backoff(self) -> str:
        """zset: `<mac>:<lane>` -> when a backoff ends, or a rate limit allows a task again, epoch ms."""
        return f"{self.prefix}backoff"

    def expiry(self) -> str:
        """zset: task id -> when it expires, epoch ms."""
        return f"{self.prefix}expiry"

    def global_pending(self) -> str:
        """string: tasks waiting, delayed and in flight, all lanes."""
        return f"{self.prefix}global_pending"

    def overloaded(self) -> str:
        """set: macs at or over their own limit."""
        return f"{self.prefix}overloaded_macs"

    def paused(self) -> str:
        """set: macs that are paused."""
        return f"{self.prefix}paused_macs"

    def dead_letter(self) -> str:
        """list: dead letters as JSON, newest first."""
        return f"{self.prefix}dead_letter"

    def workers(self) -> str:
        """zset: `<hostname>:<pid>` -> when its entry runs out, epoch ms."""
        return f"{self.prefix}workers"

    def worker(self, worker_id: str) -> str:
        """hash: one entry of the worker registry; goes away by itself."""
        return f"{self.prefix}worker:{worker_id}"

    def no_worker(self, lane: str) -> str:
        """string: since when work waits in the lane and no live worker can do it, epoch ms; goes away by itself."""
        return f"{self.prefix}no_worker:{lane}"

    def downgrade(self, lane: str) -> str:
        """string: while it is there, workers without a GPU serve the lane though it needs one; goes away by itself."""
        return f"{self.prefix}downgrade:{lane}"

    def history(self, lane: str) -> str:
        """stream: `<begin of a time slot, epoch ms>-0` -> a sample of the lane; the last hour, gone by itself."""
        return f"{self.prefix}history:{lane}"

    def standstill(self, lane: str) -> str:
        """string: `<newest token>@<epoch ms>`: since when nothing is claimed though it could be; gone by itself."""
        return f"{self.prefix}standstill:{lane}"

    def counters(self) -> str:
        """hash: `<metric>|<label>|…` -> count: what /metrics tells and no table holds."""
        return f"{self.prefix}counters"

    def watermark(self) -> str:
        """string: the last snapshot as JSON; goes away by itself."""
        return f"{self.prefix}watermark"

    def limit(self, bucket: str) -> str:
        """string: when `<key|device|address>:<name>` may send a full burst again, epoch ms; gone by itself then."""
        return f"{self.prefix}limit:{bucket}"

    def nonce(self, key_id: str, nonce: str) -> str:
        """string: this nonce of a signed request has been used; goes away when its signature would be stale anyway."""
        return f"{self.prefix}nonce:{key_id}:{nonce}"
