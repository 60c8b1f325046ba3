"""Log lines for people."""

import io
import threading

from pipeline.cli.terminal import PlainConsole
from pipeline.cli.up import Voices, readable
from pipeline.runner.supervisor import Event


def voices(stream: io.TextIOBase) -> tuple[Voices, threading.Event]:
    stop = threading.Event()
    return Voices(PlainConsole(file=stream, markup=False, width=40), stop), stop  # type: ignore[arg-type]


def test_a_json_line_becomes_readable() -> None:
    line = '{"time": "2026-01-02T03:04:05.678Z", "level": "info", "logger": "x", "message": "read", "task_id": "t1"}'
    assert readable(line) == "03:04:05 info    read  task_id=t1"


def test_any_other_line_stays_as_it_is() -> None:
    assert [readable(line) for line in ("plain", "[1]", '{"a": 1}')] == ["plain", "[1]", '{"a": 1}']


def test_each_line_bears_the_name_of_its_process_and_cannot_command_the_terminal() -> None:
    stream = io.StringIO()
    speaker, _ = voices(stream)
    speaker.pass_on("ocr", "a [bold]b[/bold] \x1b[2J" + "c" * 60)
    assert stream.getvalue() == "ocr       | a [bold]b[/bold] \N{REPLACEMENT CHARACTER}[2J" + "c" * 60 + "\n"


def test_events_are_told() -> None:
    stream = io.StringIO()
    voices(stream)[0].tell(Event("ocr", "ended", "exit 1"))
    assert stream.getvalue() == "fairlane  | ocr ended: exit 1\n"


def test_a_reader_that_is_gone_stops_us() -> None:
    class Gone(io.StringIO):
        def write(self, _: str) -> int:
            raise BrokenPipeError

    speaker, stop = voices(Gone())
    speaker.say("anybody there?")
    assert stop.is_set()
