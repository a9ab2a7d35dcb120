"""``ssewire cat``: a recorded stream or a pipe as text, as JSON lines of chunks or of events.

Nothing waits for more input than there is: input is taken as it comes, and what it gave is written out before the
next read. An event that cannot be read is reported and the rest goes on; the exit status tells it at the end.
A recording is kept read by read, and to the end of the input, whatever becomes of the text.
"""

from __future__ import annotations

import contextlib
import enum
import errno
import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

import msgspec

from ssewire import APIError, ChatStream, DecodeError, EventStream, SSEWireError

from .recording import Recorder, RecordingError, read_recording
from .terminal import Output, OutputError, complain, output_failed, tell

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

__all__ = ["Show", "cat"]

ItemT = TypeVar("ItemT")

_READ = 64 * 1024


class Show(enum.Enum):
    """What is written for a stream."""

    TEXT = "text"
    CHUNKS = "chunks"
    EVENTS = "events"


class _Input(Protocol):
    def read1(self, size: int, /) -> bytes: ...


class _Source:
    """A file that is read as it comes, counted, with something to do before each read, which may wait, and with it."""

    def __init__(self, file: _Input, before_read: Callable[[], None], keep: Callable[[bytes], None]) -> None:
        self._file = file
        self._before_read = before_read
        self._keep = keep
        self.bytes = 0

    def read1(self, _size: int = -1) -> bytes:
        self._before_read()
        data = self._file.read1(_READ)
        self.bytes += len(data)
        if data:
            self._keep(data)
        return data

    def read_rest(self) -> None:
        while self.read1():
            pass


class _Run:
    """One input from its first byte to its exit status."""

    def __init__(self, output: Output, source: _Source) -> None:
        self._output = output
        self._source = source
        self._failed = False
        self._stream: ChatStream[Any] | None = None
        self._events = 0

    def text(self) -> None:
        stream = ChatStream(self._source)
        self._chunks(stream, lambda: iter(stream), lambda chunk: chunk.text)

    def chunks(self) -> None:
        stream = ChatStream(self._source)
        self._chunks(stream, stream.iter_with_payload, lambda pair: _one_line(pair[0]))

    def events(self) -> None:
        try:
            for event in EventStream(self._source):
                self._events += 1
                members = {"event": event.event, "data": event.data, "id": event.id, "retry": event.retry}
                self._output.write(_one_line(msgspec.json.encode(members)))
        except SSEWireError as error:
            self._report(error)

    def status(self) -> int:
        return 1 if self._failed else 0

    def print_stats(self) -> None:
        facts: dict[str, object] = {"bytes": self._source.bytes, "events": self._events}
        if self._stream is not None:
            facts |= self._chat_facts(self._stream)
        for name, value in facts.items():
            tell(f"{name + ':':<16}{value}")

    def _chunks(
        self, stream: ChatStream[Any], rest: Callable[[], Iterator[ItemT]], line: Callable[[ItemT], str]
    ) -> None:
        """Write a line, or part of one, for each item; `rest` gives those that have not come yet."""
        self._stream = stream
        while True:
            try:
                for item in rest():
                    self._output.write(line(item))
                break
            except (DecodeError, APIError) as error:
                self._report(error)
            except SSEWireError as error:
                self._report(error)
                break

    def _chat_facts(self, stream: ChatStream[Any]) -> dict[str, object]:
        reasons = ", ".join(f"{index}: {reason}" for index, reason in sorted(stream.finish_reasons.items()))
        usage = msgspec.json.encode(stream.usage).decode()
        stats = stream.stats
        # Most streams have none of these.
        rare = {
            "comments": stats.comments,
            "skipped events": stats.skipped_events,
            "repaired": stats.repaired,
            "decode errors": stats.decode_errors,
        }
        return {
            # Not as the standard counts them, which drops an event that the end of the body cuts.
            "events": stats.events,
            "chunks": stats.chunks,
            **{name: count for name, count in rare.items() if count},
            "state": stream.state,
            "finish reasons": reasons or "none",
            "usage": usage,
        }

    def _report(self, error: SSEWireError) -> None:
        self._failed = True
        self._output.end_line()
        complain(f"ssewire cat: {error}")


def cat(path: str, show: Show, *, stats: bool, record: str | None = None) -> int:
    """Write the stream in a file ("-" is standard input) to standard output; returns the exit status.

    Args:
        path: The file.
        show: What is written.
        stats: Write counts and state to standard error at the end.
        record: A file to keep the stream in, with its pace.
    """
    try:
        output = Output()
        with _opened(path) as file, _recording(record, path) as keep:
            source = _Source(file, output.flush, keep)
            run = _Run(output, source)
            try:
                {Show.TEXT: run.text, Show.CHUNKS: run.chunks, Show.EVENTS: run.events}[show]()
                if record is not None:
                    source.read_rest()
                return run.status()
            finally:
                # Also when it was interrupted.
                output.end_line()
                if stats:
                    run.print_stats()
    except OutputError as error:
        return output_failed("ssewire cat", error.cause)
    except _RecordError as error:
        complain(f"ssewire cat: cannot record into {record}: {error}")
        return 2
    except RecordingError as error:
        complain(f"ssewire cat: cannot read {path}: {error}")
        return 2
    except OSError as error:
        complain(f"ssewire cat: cannot read {'standard input' if path == '-' else path}: {error.strerror or error}")
        return 2


@contextlib.contextmanager
def _opened(path: str) -> Generator[_Input]:
    if path != "-":
        with Path(path).open("rb") as file:
            # What cannot be wound back may be a pipe, and is taken as it comes.
            steps = read_recording(file) if file.seekable() else None
            yield file if steps is None else io.BytesIO(b"".join(step.data for step in steps))
    elif sys.stdin is None:
        raise OSError(errno.EBADF, "it is closed")
    else:
        if sys.stdin.isatty():
            complain("ssewire cat: reading from the terminal; end with Ctrl-D")
        yield cast(_Input, sys.stdin.buffer)


@contextlib.contextmanager
def _recording(path: str | None, source: str) -> Generator[Callable[[bytes], None]]:
    """What keeps a read in a file, or lets it go when there is none."""
    if path is None:
        yield lambda _: None
        return
    if source != "-" and Path(path).exists() and Path(path).samefile(source):
        raise _RecordError("it is what is read")
    with _record_errors():
        file = Path(path).open("wb")  # noqa: SIM115 - it is closed below, where that can fail
    try:
        with _record_errors():
            recorder = Recorder(file)

        def keep(data: bytes) -> None:
            with _record_errors():
                recorder.add(data)

        yield keep
    finally:
        # What could not be written is tried once more.
        with _record_errors():
            file.close()


class _RecordError(Exception):
    """The recording cannot be written; the message says why."""


@contextlib.contextmanager
def _record_errors() -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise _RecordError(error.strerror or str(error)) from None


def _one_line(document: bytes) -> str:
    """A JSON document as it was sent, on one line: in JSON a line break stands between tokens only."""
    return document.replace(b"\n", b" ").decode("utf-8", "replace") + "\n"
