"""The server process that the tests of real clients talk to, and the handshake with it."""

from __future__ import annotations

import http.client
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# A client that waits so many seconds for bytes which do not come has failed; one that works never gets near it.
TIMEOUT = 10.0


class Stream:
    """One stream of the server: its address, and the side channel about it."""

    def __init__(self, port: int, scenario: str, name: str) -> None:
        self.port = port
        self.path = f"/{scenario}/{name}"
        self.url = f"http://127.0.0.1:{port}{self.path}"
        self._name = name

    def confirm(self, number: int) -> None:
        """Tell the server that so many events have reached the reader's loop; the next is sent only then."""
        self._ask(f"/confirm/{self._name}/{number}")

    def wait_until_gone(self) -> None:
        """Return when the server has seen the end of the stream's connection."""
        self._ask(f"/gone/{self._name}")

    def _ask(self, path: str) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)
        try:
            connection.request("GET", path)
            assert connection.getresponse().read() == b"{}"
        finally:
            connection.close()


class Server:
    """The running server."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._names = count()

    def stream(self, scenario: str) -> Stream:
        """A stream of its own, to be asked for once."""
        return Stream(self._port, scenario, f"s{next(self._names)}")


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """Start the server, and end it when all tests are done."""
    command = [sys.executable, "-m", "tests.clients.server"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield Server(int(process.stdout.readline()))
        finally:
            process.terminate()
