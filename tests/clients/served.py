"""The server process as its clients see it: addresses to ask for, and the side channel that tells how it went."""

from __future__ import annotations

import http.client
import json
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias
from urllib.parse import urlencode

import trustme

ROOT = Path(__file__).parents[2]
HOST = "127.0.0.1"

# A client that waits so many seconds for bytes which do not come has failed; one that works never gets near it.
TIMEOUT = 10.0

# Seconds within which the server must have seen that a connection is closed.
SOON = 1.0

Transport: TypeAlias = Literal["http", "https", "h2"]


class Stream:
    """One stream of the server: its address, what it takes to get there, and the side channel about it.

    `authority` is the file of the certificate authority to trust, `pem` what is in it, `context` the same for `ssl`,
    which offers HTTP/2 where `http2` says so, and `body` is what the request says.
    """

    body: ClassVar[dict[str, Any]] = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "stream": True}

    def __init__(
        self,
        server: Server,
        scenario: str,
        name: str,
        *,
        transport: Transport = "http",
        timeout: float = TIMEOUT,
        **query: str,
    ) -> None:
        self.port = server.ports[transport]
        self.path = f"/{scenario}/{name}"
        self.url = f"{'http' if transport == 'http' else 'https'}://{HOST}:{self.port}{self.path}"
        self.query = f"?{urlencode(query)}" if query else ""
        self.http2 = transport == "h2"
        self.tls = transport != "http"
        self.timeout = timeout
        self.authority = str(server.authority)
        self.pem = server.authority.read_bytes()
        self.context = trusting(self.authority, http2=self.http2)
        self.server = server
        self._name = name

    @property
    def address(self) -> str:
        """The whole address; to `url` alone, clients add a path of their own."""
        return self.url + self.query

    def confirm(self, number: int) -> None:
        """Tell the server that so many events have reached the reader's loop; the next is sent only then."""
        self.server.ask(f"/confirm/{self._name}/{number}")

    def wait_until_gone(self) -> None:
        """Return when the server has seen the end of the stream's connection."""
        assert self._gone(within=TIMEOUT)

    def left(self) -> int:
        """How many connections are still open when the reader is done with a stream that the server has not ended.

        Over HTTP/2 they wait for other streams, so there it is how many streams are.
        """
        return int(not self._gone()) if self.http2 else self.server.connections()

    def _gone(self, within: float = SOON) -> bool:
        return bool(eventually(lambda: self.server.ask(f"/gone/{self._name}"), within))


class Server:
    """The running server, and the way to ask it about its connections.

    `ports` are by transport; the side channel goes over a connection of its own, which the server does not count.
    """

    def __init__(self, ports: dict[str, int], authority: Path) -> None:
        self.ports = ports
        self.authority = authority
        self._names = count()
        self._lock = threading.Lock()
        self._aside = http.client.HTTPConnection(HOST, ports["aside"], timeout=2 * TIMEOUT)

    def stream(self, scenario: str, **how: Any) -> Stream:
        """A stream of its own, to be asked for once."""
        return Stream(self, scenario, f"s{next(self._names)}", **how)

    def ask(self, path: str) -> Any:
        """What the side channel answers."""
        with self._lock:
            try:
                self._aside.request("GET", path)
                response = self._aside.getresponse()
                answer = json.loads(response.read())
            except BaseException:
                self._aside.close()
                raise
        assert response.status == 200, answer
        return answer

    def close(self) -> None:
        """Close the side channel."""
        self._aside.close()

    def connections(self) -> int:
        """How many connections are open: 0 as soon as there is none, else what is left after a second."""
        eventually(lambda: self.ask("/connections") == 0)
        return int(self.ask("/connections"))


def eventually(condition: Callable[[], Any], within: float = SOON) -> Any:
    """The condition's value: a true one as soon as there is one."""
    end = time.monotonic() + within
    while not (value := condition()) and time.monotonic() < end:
        time.sleep(0.005)
    return value


@cache
def trusting(authority: str, *, http2: bool) -> ssl.SSLContext:
    """One context for all clients: building one takes longer than most tests."""
    context = ssl.create_default_context(cafile=authority)
    context.set_alpn_protocols(["h2"] if http2 else ["http/1.1"])
    return context


@contextmanager
def running() -> Iterator[Server]:
    """Start the server, and end it with the block."""
    with tempfile.TemporaryDirectory() as folder:
        authority, key = Path(folder, "authority.pem"), Path(folder, "server.pem")
        own = trustme.CA()
        own.cert_pem.write_to_path(authority)
        own.issue_cert(HOST).private_key_and_cert_chain_pem.write_to_path(key)
        command = [sys.executable, "-m", "tests.clients.server", str(key)]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
            try:
                assert process.stdout is not None
                with closing(Server(json.loads(process.stdout.readline()), authority)) as server:
                    yield server
            finally:
                process.terminate()
