"""What is bound to a task while its thread works on it: log fields."""

import threading
from contextlib import ExitStack
from typing import Any

from dramatiq import Broker, MessageProxy, Middleware

from pipeline.broker import ClaimedMessage
from pipeline.log import bound_fields


class Context(Middleware):
    """Opens before everything else and closes after everything else, in the worker's own thread."""

    def __init__(self) -> None:
        self._here = threading.local()

    def before_process_message(self, broker: Broker, message: MessageProxy) -> None:
        self._here.stack = stack = ExitStack()
        if isinstance(message, ClaimedMessage):
            claim = message.claim
            stack.enter_context(bound_fields(task_id=claim.task_id, mac=claim.mac, lane=claim.lane, token=claim.token))

    def after_process_message(
        self, broker: Broker, message: MessageProxy, *, result: Any = None, exception: BaseException | None = None
    ) -> None:
        self._here.stack.close()

    def after_skip_message(self, broker: Broker, message: MessageProxy) -> None:
        self._here.stack.close()
