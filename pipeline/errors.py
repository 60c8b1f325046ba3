"""Every error of fairlane, classified by what to do next, not by where it arose.

    FairlaneError
    ├── Retryable                 try again later: it may well work
    │   ├── QueueUnavailable      Redis or Valkey does not answer
    │   ├── DatabaseUnavailable   PostgreSQL or SQLite does not answer
    │   ├── StorageUnavailable    the object store does not answer
    │   ├── ListUnavailable       a list of words that is in effect cannot be had
    │   └── EngineFailure         the OCR child did not survive the image, which may be poison: few tries
    │       ├── EngineTimeout     it passed its hard time limit and was ended
    │       ├── EngineMemory      it took more memory than it may
    │       └── EngineCrashed     it died
    ├── Permanent                 the same input fails the same way for ever
    │   ├── InvalidInput          a request that is understood but wrong; names each field
    │   │   ├── ListRefused       a list of words with errors, or with warnings that nobody has overruled
    │   │   └── InvalidMac        a device address in no known spelling
    │   ├── MalformedInput        a request that cannot be parsed at all
    │   ├── BadImage              bytes that are not a readable image
    │   │   ├── UnsupportedType   an image, or not, of a kind we do not read
    │   │   └── ImageTooLarge     too many bytes or pixels, or a shape no engine can read
    │   ├── TaskNotFound          no such task (or not yours)
    │   ├── DeadLetterNotFound  no such dead letter, or it was dropped
    │   ├── ListNotFound          no such list of words, or no such version of it
    │   ├── DeliveryNotFound      no such delivery of an announcement
    │   ├── DeviceNotFound        (device_errors.py) no such device (or not yours)
    │   ├── DeviceAmbiguous       (device_errors.py) several sites have a device of this MAC
    │   ├── TaskConflict          the task id belongs to other content
    │   ├── TaskEnded             the task has ended, so the wish comes too late
    │   ├── ObjectMissing         the stored image of a task is gone
    │   ├── ListDamaged           a compiled list of words is not what was written
    │   ├── ListOutdated          a compiled list of words is of another release: compile it again
    │   ├── KeyNotFound           no such API key
    │   ├── KeyConflict           the API key is not in the state for what is wanted
    │   ├── Unauthenticated       no API key that is good now
    │   │   ├── BadSignature      the key asks for a signature, and this is none of its own
    │   │   └── StaleSignature    signed too long ago, in the future, or used before
    │   ├── Forbidden             the API key is good, but not for that
    │   │   └── NotYourDevice     it does not speak for this device
    │   └── PoisonedEntry         an entry in Redis that no fairlane wrote
    ├── Overload                  come back after retry_after_ms
    │   ├── QueueFull             the whole service is full
    │   ├── DeviceBacklogFull     this device is full, the others are not
    │   ├── WouldExpire           the wait for its turn is longer than the task may wait
    │   ├── RateLimited           too many requests of one key, device or address
    │   ├── HostOverloaded        this worker host is over a watermark
    │   └── NoCapableWorker       nobody alive can do this kind of work
    ├── LeaseLost                 somebody else owns the task: stop, write nothing
    └── ConfigurationError        the process must not start
        └── AlreadyRunning        another process holds this data folder

`middleware/outcome.py` turns a branch into an ending of the task, `web/errors.py` into an HTTP status, `cli` into an
exit code. Anything outside this tree is a bug and is treated as `Retryable`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar


class FairlaneError(Exception):
    """The root; `code` is stable for clients, metrics and stored records."""

    code: ClassVar[str] = "internal"


class Retryable(FairlaneError):
    code = "retryable"


class QueueUnavailable(Retryable):
    code = "queue_unavailable"


class DatabaseUnavailable(Retryable):
    code = "database_unavailable"


class StorageUnavailable(Retryable):
    code = "storage_unavailable"


class ListUnavailable(Retryable):
    code = "list_unavailable"


class EngineFailure(Retryable):
    code = "engine_failure"


class EngineTimeout(EngineFailure):
    code = "engine_timeout"


class EngineMemory(EngineFailure):
    code = "engine_memory"


class EngineCrashed(EngineFailure):
    code = "worker_crash"


class GpuLost(EngineFailure):
    """The GPU failed, not the image: the same call is made again on the CPU (`pipeline/ocr/engines.py`)."""

    code = "gpu_lost"


class Permanent(FairlaneError):
    code = "permanent"


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """One thing wrong with one field of an input.

    Args:
        pointer: where, as an RFC 6901 JSON pointer (`/tasks/0/mac`), the name of a form field or parameter,
            or the line of a list of words (`line 3`).
        detail: what is wrong and what would be right, in one sentence; never the value itself.
    """

    pointer: str
    detail: str


class InvalidInput(Permanent):
    """The input is understood, but one or more fields are wrong; nothing was stored or enqueued."""

    code = "validation_failed"

    def __init__(self, problems: Sequence[FieldProblem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(f"{p.pointer}: {p.detail}" for p in self.problems))

    def __reduce__(self) -> tuple[Any, ...]:
        # Exceptions are unpickled from their message alone, which is not what __init__ takes.
        return type(self), (self.problems,)


class InvalidMac(InvalidInput):
    code = "invalid_mac"


class ListRefused(InvalidInput):
    code = "list_refused"


class MalformedInput(Permanent):
    code = "malformed_input"


class BadImage(Permanent):
    code = "bad_image"


class UnsupportedType(BadImage):
    code = "unsupported_type"


class ImageTooLarge(BadImage):
    code = "image_too_large"


class TaskNotFound(Permanent):
    code = "task_not_found"


class DeadLetterNotFound(Permanent):
    code = "dead_letter_not_found"


class ListNotFound(Permanent):
    code = "list_not_found"


class DeliveryNotFound(Permanent):
    code = "delivery_not_found"


class TaskConflict(Permanent):
    code = "task_conflict"


class TaskEnded(Permanent):
    """The task has ended already.

    Args:
        state: how it ended, a value of `queue.types.TaskState`.
    """

    code = "task_ended"

    def __init__(self, message: str, *, state: str) -> None:
        super().__init__(message)
        self.state = state


class ObjectMissing(Permanent):
    code = "object_missing"


class ListDamaged(Permanent):
    code = "list_damaged"


class ListOutdated(Permanent):
    code = "list_outdated"


class PoisonedEntry(Permanent):
    code = "poisoned_entry"


class KeyNotFound(Permanent):
    code = "key_not_found"


class KeyConflict(Permanent):
    code = "key_conflict"


class Unauthenticated(Permanent):
    code = "unauthenticated"


class BadSignature(Unauthenticated):
    code = "bad_signature"


class StaleSignature(Unauthenticated):
    code = "stale_signature"


class Forbidden(Permanent):
    code = "forbidden"


class CrossSite(Forbidden):
    code = "cross_site"


class NotYourDevice(Forbidden):
    code = "not_your_device"


class Overload(FairlaneError):
    """Not now.

    Args:
        retry_after_ms: when to come back, milliseconds from now, >= 1_000.
    """

    code = "overload"

    def __init__(self, message: str, *, retry_after_ms: int) -> None:
        super().__init__(message)
        self.retry_after_ms = retry_after_ms

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), retry_after_ms=self.retry_after_ms), self.args


class QueueFull(Overload):
    code = "queue_full"


class DeviceBacklogFull(Overload):
    code = "device_backlog_full"


class WouldExpire(Overload):
    code = "would_expire"


class RateLimited(Overload):
    code = "rate_limited"


class HostOverloaded(Overload):
    code = "host_overloaded"


class NoCapableWorker(Overload):
    code = "no_capable_worker"


class LeaseLost(FairlaneError):
    code = "lease_lost"


class ConfigurationError(FairlaneError):
    code = "configuration"


class AlreadyRunning(ConfigurationError):
    code = "already_running"
