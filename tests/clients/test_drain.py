"""`drain=True` with real clients: the next request goes over the same connection, and nothing can hold the loop up."""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager, contextmanager
from typing import Any, NamedTuple, TypeAlias

import aiohttp
import anyio
import anyio.to_thread
import httpx
import httpx2
import pytest
import requests
import urllib3

from ssewire import AsyncChatStream, ChatStream, drain
from tests.clients.bodies import TEXTS
from tests.clients.reading import LEFT_TO_THE_COLLECTOR
from tests.clients.served import TIMEOUT, Server, Stream

pytestmark = LEFT_TO_THE_COLLECTOR

TEXT = "".join(TEXTS)

# What a client finds behind the sentinel, where it is no end of the body.
NO_END = ["silent-behind", "garbage-behind", "keep-alive-behind", "reset-behind", "broken-behind"]


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many a test waits for the end of the time."""
    monkeypatch.setattr(drain, "_SECONDS", 0.15)


Get: TypeAlias = Callable[[Stream], Any]


class Session(NamedTuple):
    """A client that may use a connection more than once; what it gives for a stream is closed by its reader."""

    open: Callable[[], AbstractContextManager[Get]]
    decompresses: bool = True
    keeps: bool = False
    """Whether the connection is its own, and stays open when the response is closed."""


@contextmanager
def httpx_session() -> Iterator[Get]:
    with httpx.Client(timeout=TIMEOUT) as client:
        yield lambda stream: client.send(client.build_request("GET", stream.address), stream=True)


@contextmanager
def httpx2_session() -> Iterator[Get]:
    with httpx2.Client(timeout=TIMEOUT) as client:
        yield lambda stream: client.send(client.build_request("GET", stream.address), stream=True)


@contextmanager
def requests_session() -> Iterator[Get]:
    with requests.Session() as session:
        yield lambda stream: session.get(stream.address, stream=True, timeout=TIMEOUT)


@contextmanager
def urllib3_session() -> Iterator[Get]:
    with urllib3.PoolManager(timeout=TIMEOUT) as pool:
        yield lambda stream: pool.request("GET", stream.address, preload_content=False)


@contextmanager
def http_client_session() -> Iterator[Get]:
    connections: list[http.client.HTTPConnection] = []

    def get(stream: Stream) -> http.client.HTTPResponse:
        if not connections:
            connections.append(http.client.HTTPConnection("127.0.0.1", stream.port, timeout=TIMEOUT))
        connections[0].request("GET", stream.path + stream.query)
        return connections[0].getresponse()

    try:
        yield get
    finally:
        for connection in connections:
            connection.close()


SESSIONS: dict[str, Session] = {
    "httpx": Session(httpx_session),
    "httpx2": Session(httpx2_session),
    "requests": Session(requests_session),
    "urllib3": Session(urllib3_session),
    "http.client": Session(http_client_session, decompresses=False, keeps=True),
}


@pytest.fixture(params=SESSIONS)
def session(request: pytest.FixtureRequest) -> Session:
    return SESSIONS[request.param]


def peer_of(get: Get, served: Stream, *, drain: bool = True) -> str:
    """Read a stream to its end; gives the client's end of the connection."""
    stream = ChatStream(get(served), drain=drain)
    assert "".join(stream.iter_text()) == TEXT
    assert stream.state == "done"
    return stream.response_headers["x-peer"]


@pytest.mark.parametrize("scenario", ["late-end", "at-once"])
def test_the_next_request_goes_over_the_same_connection(session: Session, server: Server, scenario: str) -> None:
    with session.open() as get:
        assert len({peer_of(get, server.stream(scenario)) for _ in range(2)}) == 1


@pytest.mark.parametrize("name", [name for name, session in SESSIONS.items() if session.decompresses])
def test_so_it_does_behind_a_compressed_body(server: Server, name: str) -> None:
    with SESSIONS[name].open() as get:
        assert len({peer_of(get, server.stream("late-end", encoding="gzip")) for _ in range(2)}) == 1


@pytest.mark.parametrize("name", [name for name, session in SESSIONS.items() if not session.keeps])
def test_without_it_each_request_has_a_connection_of_its_own(server: Server, name: str) -> None:
    with SESSIONS[name].open() as get:
        assert len({peer_of(get, server.stream("late-end"), drain=False) for _ in range(2)}) == 2


def test_a_body_that_the_end_of_the_connection_ends_is_read_to_there(session: Session, server: Server) -> None:
    with session.open() as get:
        peer_of(get, server.stream("late-end", framing="close"))
        peer_of(get, server.stream("late-end", framing="close"))


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("scenario", NO_END)
def test_where_no_end_comes_the_loop_ends_and_the_answer_is_whole(
    session: Session, server: Server, scenario: str
) -> None:
    served = server.stream(scenario)
    with session.open() as get:
        start = time.monotonic()
        peer_of(get, served)
        assert time.monotonic() - start < TIMEOUT
        if not session.keeps:
            served.wait_until_gone()
            # Nobody waits for the old connection, and nothing of it comes in the place of the next answer.
            peer_of(get, server.stream("late-end"))
    served.wait_until_gone()


@pytest.mark.parametrize("way", ["chunks", "payloads", "batches", "collect", "with"])
def test_every_way_to_read_drains(server: Server, way: str) -> None:
    peers: set[str] = set()
    with httpx_session() as get:
        for _ in range(2):
            stream = ChatStream(get(server.stream("late-end")), drain=True)
            if way == "with":
                with stream:
                    assert len(list(stream)) == 7
            elif way == "collect":
                assert stream.collect().text == TEXT
            else:
                ways: dict[str, Iterable[Any]] = {
                    "chunks": stream,
                    "payloads": stream.iter_payloads(),
                    "batches": stream.iter_batches(),
                }
                assert list(ways[way])
            assert stream.state == "done"
            peers.add(stream.response_headers["x-peer"])
    assert len(peers) == 1


def test_bytes_go_to_the_end_of_the_body_by_themselves(session: Session, server: Server) -> None:
    peers: set[str] = set()
    with session.open() as get:
        for _ in range(2):
            stream = ChatStream(get(server.stream("late-end")), drain=True)
            assert b"".join(stream.iter_bytes()).endswith(b"data: [DONE]\n\n")
            assert stream.state == "done"
            peers.add(stream.response_headers["x-peer"])
    assert len(peers) == 1


@pytest.mark.usefixtures("impatient")
def test_chunks_are_not_held_up_by_what_comes_behind_them(session: Session, server: Server) -> None:
    served = server.stream("chunked")
    with session.open() as get:
        stream = ChatStream(get(served), drain=True)
        for number, _ in enumerate(stream, 1):
            served.confirm(number)
        assert (number, stream.state) == (7, "done")


def test_who_leaves_early_waits_for_nothing_more(session: Session, server: Server) -> None:
    served = server.stream("silent")
    with session.open() as get:
        with ChatStream(get(served), drain=True) as stream:
            next(stream)
        assert stream.state == "closed"
        if not session.keeps:
            served.wait_until_gone()


def test_closing_from_another_thread_while_it_drains_ends_that(session: Session, server: Server) -> None:
    with session.open() as get:
        stream = ChatStream(get(server.stream("silent-behind")), drain=True)
        reader = threading.Thread(target=lambda: list(stream))
        reader.start()
        while stream.state == "open":
            time.sleep(0.001)
        start = time.monotonic()
        stream.close()
        reader.join(2 * TIMEOUT)
        # Neither waits until the client's own patience ends.
        assert time.monotonic() - start < TIMEOUT / 2
        assert stream.state == "done"


# Asynchronous clients


class AsyncSession(NamedTuple):
    """An asynchronous client, on an event loop."""

    open: Callable[[], AbstractAsyncContextManager[Get]]
    backend: str

    def run(self, scenario: Callable[[Get], Any]) -> None:
        async def main() -> None:
            async with self.open() as get:
                await scenario(get)

        anyio.run(main, backend=self.backend)


@asynccontextmanager
async def async_httpx_session() -> AsyncIterator[Get]:
    async with httpx.AsyncClient(timeout=TIMEOUT) as client:
        yield lambda stream: client.send(client.build_request("GET", stream.address), stream=True)


@asynccontextmanager
async def async_httpx2_session() -> AsyncIterator[Get]:
    async with httpx2.AsyncClient(timeout=TIMEOUT) as client:
        yield lambda stream: client.send(client.build_request("GET", stream.address), stream=True)


@asynccontextmanager
async def aiohttp_session() -> AsyncIterator[Get]:
    timeout = aiohttp.ClientTimeout(total=None, sock_read=TIMEOUT)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        yield lambda stream: session.get(stream.address)


ASYNC_SESSIONS: dict[str, AsyncSession] = {
    "httpx-asyncio": AsyncSession(async_httpx_session, "asyncio"),
    "httpx-trio": AsyncSession(async_httpx_session, "trio"),
    "httpx2-asyncio": AsyncSession(async_httpx2_session, "asyncio"),
    "httpx2-trio": AsyncSession(async_httpx2_session, "trio"),
    "aiohttp": AsyncSession(aiohttp_session, "asyncio"),
}


@pytest.fixture(params=ASYNC_SESSIONS)
def async_session(request: pytest.FixtureRequest) -> AsyncSession:
    return ASYNC_SESSIONS[request.param]


async def async_peer_of(get: Get, served: Stream, *, drain: bool = True) -> str:
    stream = AsyncChatStream(await get(served), drain=drain)
    assert "".join([text async for text in stream.iter_text()]) == TEXT
    assert stream.state == "done"
    return stream.response_headers["x-peer"]


@pytest.mark.parametrize(("scenario", "how"), [("late-end", {}), ("late-end", {"encoding": "gzip"}), ("at-once", {})])
def test_an_asynchronous_client_uses_the_connection_again(
    async_session: AsyncSession, server: Server, scenario: str, how: dict[str, str]
) -> None:
    async def main(get: Get) -> None:
        assert len({await async_peer_of(get, server.stream(scenario, **how)) for _ in range(2)}) == 1

    async_session.run(main)


def test_without_it_an_asynchronous_client_does_not(async_session: AsyncSession, server: Server) -> None:
    async def main(get: Get) -> None:
        peers = {await async_peer_of(get, server.stream("late-end"), drain=False) for _ in range(2)}
        assert len(peers) == 2

    async_session.run(main)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("scenario", NO_END)
def test_where_no_end_comes_an_asynchronous_loop_ends(
    async_session: AsyncSession, server: Server, scenario: str
) -> None:
    served = server.stream(scenario)

    async def main(get: Get) -> None:
        start = time.monotonic()
        await async_peer_of(get, served)
        assert time.monotonic() - start < TIMEOUT
        await anyio.to_thread.run_sync(served.wait_until_gone)
        await async_peer_of(get, server.stream("late-end"))

    async_session.run(main)


def test_cancelling_while_it_drains_closes_the_response(async_session: AsyncSession, server: Server) -> None:
    served = server.stream("silent-behind")

    async def main(get: Get) -> None:
        stream = AsyncChatStream(await get(served), drain=True)
        with anyio.move_on_after(0.1) as scope:
            async for _ in stream:
                pass
        assert scope.cancelled_caught
        # The answer was whole by then.
        assert stream.state == "done"
        await anyio.to_thread.run_sync(served.wait_until_gone)

    async_session.run(main)
