"""Duties: deliveries that are due are put in line, and those that got lost there are taken out of it.

A delivery is written with the result that it announces; nobody else puts it in line. So whatever dies between the two,
the next round finds it. What waits for its next attempt is not in line: silent receivers fill no line and no limit.
"""

import logging
from functools import partial

from models.delivery_line import DeliveryLine, Lined
from models.sites import line_of
from pipeline.queue import FairQueue, Inspector, Standing, Task
from pipeline.queue.types import size_class_of
from pipeline.tracing import payload_of

log = logging.getLogger(__name__)

#: Deliveries in line at once, in all and of one device: they count in the limits of the queue, where submits are meant
#: to have their room.
IN_LINE_MAX = 200
IN_LINE_OF_DEVICE_MAX = 20

#: Longer in line than this is looked into, ms: one younger may be noted and not yet in line. Not longer than that: a
#: server of the queue that ends at such a moment had held announcements back for 90 s.
LONG_MS = 5_000


class Announcer:
    """Keeps the line of deliveries filled; several may do so at once."""

    def __init__(self, queue: FairQueue, inspector: Inspector, line: DeliveryLine) -> None:
        self._queue = queue
        self._inspector = inspector
        self._line = line

    def put_in_line(self) -> None:
        """Put in line what is due, the longest due first, as far as there is room."""
        in_line = self._line.in_line()
        room = IN_LINE_MAX - sum(in_line.values())
        full = [device for device, number in in_line.items() if number >= IN_LINE_OF_DEVICE_MAX]
        due = self._line.due(passing_over=full, limit=room) if room > 0 else []
        if not due:
            return
        # Asked before anything is noted: a queue that does not answer holds nothing back then.
        now_ms = self._inspector.now_ms()
        chosen = []
        for delivery in due:
            in_line[delivery.device] = in_line.get(delivery.device, 0) + 1
            if in_line[delivery.device] <= IN_LINE_OF_DEVICE_MAX and self._line.note_lined(delivery):
                chosen.append(delivery)
        if chosen:
            self._queue.restore(list(map(partial(_standing, now_ms=now_ms), chosen)))

    def look_after(self) -> None:
        """Take out what the queue does not hold any more, and give up what is too old."""
        lined = self._line.long_lined(for_ms=LONG_MS)
        lost = 0
        for delivery, known in zip(lined, self._inspector.endings([one.name for one in lined]), strict=True):
            if known is None or known[0].is_end:
                self._line.take_out(delivery)
                lost += 1
        if lost:
            log.warning("deliveries that had left the line will be put in it again", extra={"deliveries": lost})
        if expired := self._line.give_up_expired():
            log.warning("announcements were given up", extra={"deliveries": expired})


def _standing(delivery: Lined, now_ms: int) -> Standing:
    task = Task(
        task_id=delivery.name,
        lane="notify",
        mac=line_of(delivery.site, delivery.mac),
        created_ms=now_ms,
        payload=payload_of(delivery.traceparent, now_ms),
        site=delivery.site,
        size_class=size_class_of(delivery.size_bytes),
    )
    return Standing(task)
