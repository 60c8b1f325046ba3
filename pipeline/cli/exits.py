"""What an error means to whoever typed a command: decided here only."""

from pipeline import device_errors, errors
from pipeline.cli.sanitize import clean

OK = 0
FAILED = 1
USAGE = 2
NOT_FOUND = 3
UNREACHABLE = 4
REFUSED = 5
#: As a shell counts a process ended by Ctrl-C.
INTERRUPTED = 130

_CODES: dict[type[BaseException], int] = {
    errors.TaskNotFound: NOT_FOUND,
    errors.DeadLetterNotFound: NOT_FOUND,
    errors.ListNotFound: NOT_FOUND,
    errors.KeyNotFound: NOT_FOUND,
    errors.DeliveryNotFound: NOT_FOUND,
    device_errors.DeviceNotFound: NOT_FOUND,
    device_errors.DeviceAmbiguous: USAGE,
    errors.Retryable: UNREACHABLE,
    errors.Overload: REFUSED,
    errors.ConfigurationError: USAGE,
}

_CURES: dict[type[BaseException], str] = {
    device_errors.DeviceAmbiguous: "--site does",
    errors.QueueUnavailable: "is fairlane running? `fairlane up` starts it, `fairlane doctor` looks closer",
    errors.DatabaseUnavailable: "`fairlane doctor` looks closer",
    errors.StorageUnavailable: "`fairlane doctor` looks closer",
    errors.Unauthenticated: "set FAIRLANE_API_KEY or give --key-file; `fairlane key create` makes a key",
}


def exit_code_of(exc: BaseException) -> int:
    """Return the exit code of the nearest branch of the error tree; anything outside it is 1."""
    return next((_CODES[kind] for kind in type(exc).__mro__ if kind in _CODES), FAILED)


def message_of(exc: BaseException) -> str:
    """Return what to show: the error in its own words, safe for a terminal, and where to look next."""
    if not isinstance(exc, errors.FairlaneError):
        return clean(f"unexpected {type(exc).__name__}: {exc} (`fairlane --debug ...` shows where)")
    cure = next((_CURES[kind] for kind in type(exc).__mro__ if kind in _CURES), None)
    return clean(f"{exc}; {cure}" if cure else str(exc) or exc.code)
