r"""Recordings: a stream with its pace, read by read, as lines of JSON.

    {"ssewire":"recording","version":1}
    {"at":0.31,"data":"data: {\"choices\": ..."}
    {"at":0.33,"base64":"w7wK"}

``at`` is in seconds since the recording began; ``base64`` stands for a read that is no text, such as one that ends
within a character.
"""

from __future__ import annotations

import base64
import time
from typing import TYPE_CHECKING, BinaryIO

import msgspec

from .replay import Step, Stream, by_events

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Recorder", "RecordingError", "load"]

_VERSION = 1


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
    content = path.read_bytes()
    if content.startswith(b'{"ssewire"'):
        return Stream(path.stem, tuple(_steps(content)), paced=True)
    return Stream(path.stem, tuple(by_events([Step(0.0, content)])), paced=False)


def _steps(content: bytes) -> list[Step]:
    head, *lines = content.splitlines()
    steps: list[Step] = []
    before = 0.0
    for number, line in enumerate([head, *lines], 1):
        try:
            if number == 1:
                _check(msgspec.json.decode(line, type=_Head))
            elif line:
                read = msgspec.json.decode(line, type=_Read)
                data = base64.b64decode(read.base64) if read.base64 is not None else (read.data or "").encode()
                # Clocks can be set back, and hands slip.
                steps.append(Step(max(0.0, read.at - before), data))
                before = max(before, read.at)
        except ValueError as error:
            raise RecordingError(f"line {number} is not what a recording has there: {error}") from None
    return steps


def _check(head: _Head) -> None:
    if (head.ssewire, head.version) != ("recording", _VERSION):
        raise ValueError(
            f"{head.ssewire!r}, version {head.version}; this program reads recordings of version {_VERSION}"
        )
