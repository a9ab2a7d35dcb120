r"""Recordings: a stream with its pace, read by read, as lines of JSON.

    {"ssewire":"recording","version":1}
    {"at":0.31,"data":"data: {\"choices\": ..."}
    {"at":0.33,"base64":"w7wK"}

``at`` is in seconds since the recording began, a day at most; ``base64`` stands for a read that is no text, such as one
that ends within a character.
"""

from __future__ import annotations

import base64
import codecs
import time
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec

from .replay import Step, Stream, by_events

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Recorder", "RecordingError", "load", "read_recording"]

_VERSION = 1
_LONGEST = 24 * 60 * 60
#: Bytes; what has no line end in so many is not read further to see whether it is a recording.
_LONGEST_HEAD = 1024


class _Head(msgspec.Struct):
    ssewire: str
    version: int


class _Read(msgspec.Struct, omit_defaults=True):
    at: float
    data: str | None = None
    base64: str | None = None


class RecordingError(Exception):
    """A file is no recording that can be replayed; the message says which line and why."""


class Recorder:
    """Writes a recording into a file, which it leaves open; each read is in the file before the next."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._start = time.monotonic()
        self._write(_Head("recording", _VERSION))

    def add(self, data: bytes) -> None:
        """Keep a read, which came now."""
        at = round(time.monotonic() - self._start, 6)
        try:
            self._write(_Read(at, data=data.decode()))
        except UnicodeDecodeError:
            self._write(_Read(at, base64=base64.b64encode(data).decode()))

    def _write(self, line: msgspec.Struct) -> None:
        self._file.write(msgspec.json.encode(line) + b"\n")
        self._file.flush()


def load(path: Path) -> Stream:
    """The stream in a file: a recording, or a body as it was sent.

    Raises:
        OSError: The file cannot be read.
        RecordingError: It begins as a recording, and is none.
    """
    with path.open("rb") as file:
        steps = read_recording(file)
        if steps is not None:
            return Stream(path.stem, tuple(steps), paced=True)
        return Stream(path.stem, tuple(by_events([Step(0.0, file.read())])), paced=False)


def read_recording(file: BinaryIO) -> list[Step] | None:
    """The steps of a recording; None for another file, which is then at its beginning again.

    Raises:
        RecordingError: It begins as a recording, and is none.
    """
    begins = _is_head(file.readline(_LONGEST_HEAD))
    file.seek(0)
    if not begins:
        return None
    steps: list[Step] = []
    before = 0.0
    for number, line in enumerate(file.read().removeprefix(codecs.BOM_UTF8).splitlines(), 1):
        try:
            if number == 1:
                _check(msgspec.json.decode(line, type=_Head))
            elif line.strip():
                at, data = _decoded(line)
                # Clocks can be set back, and hands slip.
                steps.append(Step(max(0.0, at - before), data))
                before = max(before, at)
        except ValueError as error:
            raise RecordingError(f"line {number} is not what a recording has there: {error}") from None
    return steps


def _is_head(line: bytes) -> bool:
    """Whether it is an object with a recording's first member, spelled however JSON and editors allow."""
    try:
        document: Any = msgspec.json.decode(line.removeprefix(codecs.BOM_UTF8))
    except ValueError:
        return False
    return isinstance(document, dict) and "ssewire" in document


def _decoded(line: bytes) -> tuple[float, bytes]:
    read = msgspec.json.decode(line, type=_Read)
    if not 0 <= read.at <= _LONGEST:
        raise ValueError(f"at is from 0 to {_LONGEST:,} seconds, not {read.at:g}")
    if read.data is not None and read.base64 is None:
        return read.at, read.data.encode()
    if read.base64 is not None and read.data is None:
        return read.at, base64.b64decode(read.base64, validate=True)
    raise ValueError("it needs data or base64, one of them")


def _check(head: _Head) -> None:
    if (head.ssewire, head.version) != ("recording", _VERSION):
        raise ValueError(
            f"{head.ssewire!r}, version {head.version}; this program reads recordings of version {_VERSION}"
        )
