"""Starting the demo's server as a process of its own, and stopping it whatever happens."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator

__all__ = ["ServerError", "running_server"]

_SERVER = "ssewire.cli.server"
_START_LIMIT = 60.0
_STOP_LIMIT = 5.0


class ServerError(Exception):
    """The server did not start."""


@contextlib.contextmanager
def running_server(alter: str = "") -> Generator[str]:
    """Start the server, give its address, and stop it.

    The server lives as long as its standard input, a pipe that only this process holds: it also ends when this process
    is killed. A session of its own keeps Ctrl-C away from it, so that it is this process alone that winds things up.
    """
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", _SERVER, alter],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            # The modules of this process, and none that happens to lie in the working directory.
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONSAFEPATH": "1"},
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
        with process:
            try:
                if not (port := _first_line(process)):
                    process.wait()
                    log.seek(0)
                    raise ServerError(_last_line(log.read()) or f"exit status {process.returncode}")
                yield f"http://127.0.0.1:{int(port)}"
            finally:
                _stop(process)


def _first_line(process: subprocess.Popen[bytes]) -> bytes:
    """What it says when it is ready; nothing when it ends before that, or had to be ended."""
    assert process.stdout is not None  # noqa: S101
    patience = threading.Timer(_START_LIMIT, process.kill)
    patience.start()
    try:
        return process.stdout.readline()
    finally:
        patience.cancel()


def _stop(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None  # noqa: S101
    process.stdin.close()
    try:
        process.wait(_STOP_LIMIT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _last_line(log: bytes) -> str:
    lines = log.decode(errors="replace").split("\n")
    return next((line for line in reversed(lines) if line.strip()), "")
