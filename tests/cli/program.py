"""The program as its users run it: a process, pipes, a terminal."""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Generator

#: Long enough for a loaded machine; only a program that hangs ever waits so long.
PATIENCE = 60

PROGRAM = (sys.executable, "-m", "ssewire")
DONE = b"data: [DONE]\n\n"


def event(content: str, **choice: object) -> bytes:
    """One chunk as an event."""
    chunk = {"id": "c", "choices": [{"index": 0, "delta": {"content": content}, **choice}], "extra": {"kept": True}}
    return b"data: " + msgspec.json.encode(chunk) + b"\n\n"


def run(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run it to its end."""
    return subprocess.run([*PROGRAM, *arguments], input=stdin, capture_output=True, timeout=PATIENCE, check=False)


class Running:
    """The program while it runs; its output can be waited for."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self._output: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._seen = b""
        threading.Thread(target=self._collect, daemon=True).start()

    def _collect(self) -> None:
        assert self.process.stdout
        with contextlib.suppress(OSError, ValueError):
            while data := os.read(self.process.stdout.fileno(), 65536):
                self._output.put(data)
        self._output.put(b"")

    def send(self, data: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def wait_for(self, expected: bytes) -> bytes:
        """Wait until the output so far holds this; returns all output so far."""
        while expected not in self._seen:
            data = self._output.get(timeout=PATIENCE)
            assert data, f"output ended without {expected!r}: {self._seen!r}"
            self._seen += data
        return self._seen

    def stop_reading(self) -> None:
        """Close the reading end of its output, as ``head`` does when it has seen enough."""
        assert self.process.stdout
        self.process.stdout.close()

    def finish(self) -> tuple[int, bytes, bytes]:
        """Close its input, wait for its end: exit status, all output, standard error."""
        assert self.process.stdin
        assert self.process.stderr
        self.process.stdin.close()
        errors = self.process.stderr.read()
        status = self.process.wait(PATIENCE)
        while data := self._output.get(timeout=PATIENCE):
            self._seen += data
        return status, self._seen, errors


@contextlib.contextmanager
def running(*arguments: str) -> Generator[Running]:
    """Start it with pipes on all three sides."""
    process = subprocess.Popen(
        [*PROGRAM, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
    )
    with process:
        try:
            yield Running(process)
        finally:
            process.kill()


def on_terminal(*arguments: str, stdin: bytes = b"", columns: int = 100) -> tuple[int, str]:
    """Run it with a terminal as standard output and standard error: exit status and what the terminal got."""
    import pty

    leader, follower = pty.openpty()
    try:
        process = subprocess.Popen(
            [*PROGRAM, *arguments],
            stdin=subprocess.PIPE,
            stdout=follower,
            stderr=follower,
            env=os.environ | {"COLUMNS": str(columns), "TERM": "xterm-256color"},
        )
    finally:
        os.close(follower)
    with process:
        assert process.stdin
        process.stdin.write(stdin)
        process.stdin.close()
        shown = b""
        # Reading fails, or ends, when the program has let go of the terminal.
        with contextlib.suppress(OSError):
            while data := os.read(leader, 65536):
                shown += data
        os.close(leader)
        status = process.wait(PATIENCE)
    return status, shown.decode().replace("\r\n", "\n")
