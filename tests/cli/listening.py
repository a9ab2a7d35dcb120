"""The engine of ``ssewire serve`` in a thread of its own, reached in each of its three ways: plain, TLS, HTTP/2."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import threading
import time
from typing import TYPE_CHECKING, Any

import httpx
import trustme

from ssewire.cli.http import Answer, Listener
from tests.cli.program import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

#: The smallest one, for bare connections.
REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


class Way:
    """One way to reach a listener, seen from both ends."""

    def __init__(self, name: str) -> None:
        self.http2 = name == "http2"
        self.version = "2" if self.http2 else "1.1"
        self.protocol = "h2" if self.http2 else "http/1.1"
        self.scheme = "http"
        self._server: ssl.SSLContext | None = None
        self._client = ssl.create_default_context()
        self._client.set_alpn_protocols([self.protocol])
        if name != "plain":
            authority = trustme.CA()
            self.scheme = "https"
            self._server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            authority.issue_cert("127.0.0.1").configure_cert(self._server)
            authority.configure_trust(self._client)

    def listener(self, answer: Answer) -> Listener:
        return Listener(answer, tls=self._server, http2=self.http2)

    def serving(self, answer: Answer) -> contextlib.AbstractContextManager[Listener]:
        return serving(answer, tls=self._server, http2=self.http2)

    def connected(self, listener: Listener) -> ssl.SSLSocket:
        """A bare connection with TLS, which whoever reads past TLS must not expect to end in order."""
        return self.secured(connected(listener))

    def secured(self, connection: socket.socket) -> ssl.SSLSocket:
        """The same over a connection that is there already."""
        return self._client.wrap_socket(connection, server_hostname="127.0.0.1")

    def client(self, listener: Listener) -> httpx.Client:
        return httpx.Client(**self._options(listener))

    def async_client(self, listener: Listener) -> httpx.AsyncClient:
        return httpx.AsyncClient(**self._options(listener))

    def _options(self, listener: Listener) -> dict[str, Any]:
        address = f"{self.scheme}://127.0.0.1:{listener.port}"
        return {
            "base_url": address,
            "verify": self._client,
            "http2": self.http2,
            "trust_env": False,
            "timeout": PATIENCE,
        }


@contextlib.contextmanager
def serving(answer: Answer, *, tls: ssl.SSLContext | None = None, http2: bool = False) -> Generator[Listener]:
    """A listener that runs until the block is left."""
    listener = Listener(answer, tls=tls, http2=http2)
    ready = threading.Event()
    loop = asyncio.new_event_loop()
    over = asyncio.Event()

    async def listen() -> None:
        async with listener:
            ready.set()
            await over.wait()

    def work() -> None:
        with contextlib.closing(loop):
            loop.run_until_complete(listen())

    thread = threading.Thread(target=work)
    thread.start()
    try:
        assert ready.wait(PATIENCE)
        yield listener
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join(PATIENCE)
    assert not thread.is_alive()


def connected(listener: Listener) -> socket.socket:
    """A bare connection."""
    return socket.create_connection(("127.0.0.1", listener.port), timeout=PATIENCE)


def conversation(listener: Listener, sent: bytes) -> bytes:
    """All that comes back for these bytes until the server closes the connection."""
    with connected(listener) as client:
        client.sendall(sent)
        return b"".join(iter(lambda: client.recv(65536), b""))


def eventually(condition: Callable[[], bool]) -> None:
    """Wait for something that takes a moment."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)
