r"""Writing text from a model to standard output: byte for byte into a pipe or file, defused on a terminal.

On a terminal, characters that command it or reorder what is read are shown as ``\u001b``: all C0 controls but newline
and tab (a carriage return too: it overwrites the line), DEL, C1 controls (CSI in one character among them), and the
bidirectional embeddings, overrides and isolates (U+202A-202E, U+2066-2069). Plain direction marks are left alone. In
JSON that spelling is the same string, so one rule serves text and JSON lines.

Output is collected here and not in ``sys.stdout``, which tries to write once more at exit what a closed pipe refused.
"""

from __future__ import annotations

import errno
import os
import re
import sys
import time
from typing import cast

__all__ = ["READER_LEFT", "Output", "OutputError", "complain", "output_failed", "tell", "visible"]

_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_BUFFER = 64 * 1024
#: Exit status of a program that SIGPIPE ends, as a shell reports it: what other tools give when their reader leaves.
READER_LEFT = 141


def visible(text: str) -> str:
    """The text with each character that could command a terminal, or mislead its reader, spelled out."""
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def tell(line: str) -> None:
    """One line to standard error; what a server or a file name contributed to it is defused."""
    # print() would take None, a standard error that is closed, for standard output.
    if sys.stderr is not None:
        print(visible(line), file=sys.stderr, flush=True)


def complain(sentence: str) -> None:
    """A sentence to standard error, on one line whatever it quotes."""
    tell(" ".join(sentence.split()))


class OutputError(Exception):
    """Standard output takes no more; the cause is the OSError that says why."""

    def __init__(self, cause: OSError) -> None:
        super().__init__(str(cause))
        self.cause = cause


def output_failed(command: str, error: OSError) -> int:
    """Say that a command could not write, unless its reader has left (``... | head``); returns the exit status."""
    if sys.stdout is not None:
        # What it still holds must not be tried again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        return READER_LEFT
    complain(f"{command}: cannot write: {error.strerror or error}")
    return 2


class Output:
    """Standard output, collected until `flush`."""

    def __init__(self) -> None:
        stream = sys.stdout
        if stream is None:
            raise OutputError(OSError(errno.EBADF, "it is closed"))
        self.terminal = stream.isatty()
        self._encoding = stream.encoding if self.terminal else "utf-8"
        # Unbuffered (python -u) the text layer stands on the raw file itself.
        self._raw = getattr(stream.buffer, "raw", stream.buffer)
        self._pending = bytearray()
        self._in_line = False

    def write(self, text: str) -> None:
        """Add text, defused when a terminal is going to show it."""
        if not text:
            return
        if self.terminal:
            text = visible(text)
        self._pending += text.encode(self._encoding, "backslashreplace")
        self._in_line = not text.endswith("\n")
        if len(self._pending) >= _BUFFER:
            self.flush()

    def flush(self) -> None:
        """Hand over what was collected, once: what a Ctrl-C interrupts here is not written again at the end."""
        rest, self._pending = memoryview(self._pending), bytearray()
        while rest:
            try:
                written = cast("int | None", self._raw.write(rest))
            except OSError as error:
                raise OutputError(error) from None
            if written is None:
                # Somebody set the pipe to non-blocking, and it is full.
                time.sleep(0.01)
            else:
                rest = rest[written:]

    def end_line(self) -> None:
        """Flush, and on a terminal start a new line where text stands, so that what follows is not glued to it."""
        if self.terminal and self._in_line:
            self.write("\n")
        self.flush()
