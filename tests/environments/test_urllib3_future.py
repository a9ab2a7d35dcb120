"""urllib3-future, which serves whoever is built on urllib3 where niquests is; pieces that unpack to little or much."""

from __future__ import annotations

import socket
import threading
import time
import zlib
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import niquests  # type: ignore[import-not-found, unused-ignore]
import pytest
import requests
import urllib3

from ssewire import AsyncChatStream, ChatStream
from tests.clients.bodies import choice, event_of, payload_of
from tests.clients.served import HOST, TIMEOUT

EVENT = event_of(payload_of(choices=[choice("x" * 1000)]))
HEADER = 10


def packed(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    return packer.compress(body) + packer.flush(zlib.Z_SYNC_FLUSH)


# What is sent, and how many chunks it is.
PIECES = {
    # The header of gzip alone unpacks to nothing, which is not the end.
    "little": ([packed(EVENT)[:HEADER], packed(EVENT)[HEADER:]], 1),
    # More than one read gives; the rest is there already, and must not wait for what comes behind it.
    "much": ([packed(EVENT * 200)], 200),
}

WAYS: dict[str, Callable[[str], Any]] = {
    "urllib3": lambda address: urllib3.request("GET", address, preload_content=False, timeout=TIMEOUT),
    "requests": lambda address: requests.get(address, stream=True, timeout=TIMEOUT),
    "niquests": lambda address: niquests.get(address, stream=True, timeout=TIMEOUT),
}


def test_it_is_here() -> None:
    assert niquests.packages.urllib3 is urllib3
    assert hasattr(urllib3.HTTPResponse, "is_from_promise")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", PIECES)
def test_what_unpacks_to_little_or_much_is_handed_out_at_once(way: str, kind: str) -> None:
    pieces, chunks = PIECES[kind]
    with sending(pieces) as address, ChatStream(WAYS[way](address)) as stream:
        for _ in range(chunks):
            next(stream)


@pytest.mark.parametrize("kind", PIECES)
def test_asynchronously_too(kind: str, run: Callable[[Coroutine[Any, Any, None]], None]) -> None:
    pieces, chunks = PIECES[kind]

    async def main(address: str) -> None:
        async with niquests.AsyncSession() as session:
            response = await session.get(address, stream=True, timeout=TIMEOUT)
            async with AsyncChatStream(response) as stream:
                for _ in range(chunks):
                    await anext(stream)

    with sending(pieces) as address:
        run(main(address))


@contextmanager
def sending(pieces: list[bytes]) -> Iterator[str]:
    """A server that sends each piece as a read of its own, and then nothing until its client leaves."""

    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.settimeout(TIMEOUT)
            connection.recv(65_536)
            connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ntransfer-encoding: chunked\r\n\r\n")
            for piece in pieces:
                time.sleep(0.05)
                connection.sendall(b"%x\r\n%b\r\n" % (len(piece), piece))
            with suppress(ConnectionError):
                connection.recv(1)

    with socket.create_server((HOST, 0)) as listener:
        listener.settimeout(TIMEOUT)
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://{HOST}:{listener.getsockname()[1]}/"
        finally:
            thread.join()
