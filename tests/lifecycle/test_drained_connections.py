"""`drain=True` with the clients that `tests/clients/test_drain.py` leaves out: the next request, the same connection.

Synchronously two clients cannot do so: nobody can end a blocking read of pyreqwest, so the rest of a body is not waited
for; and curl_cffi gives each stream a handle of its own, whose connection it closes with it.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager, contextmanager
from typing import Any, Final, TypeAlias

import anyio
import curl_cffi
import openai
import pytest
import wreq
import wreq.blocking
from pyreqwest.client import ClientBuilder

from ssewire import AsyncChatStream, ChatStream
from tests.clients.adapters_sdks import HI
from tests.clients.bodies import EVENTS
from tests.clients.served import Server, Stream
from tests.lifecycle.leaving import run

Open: TypeAlias = Callable[[Stream], AbstractContextManager[Any]]
AsyncOpen: TypeAlias = Callable[[Stream], AbstractAsyncContextManager[Any]]

SCENARIOS: Final = ["whole", "late-end"]

# Some clients give a connection back in a thread of their own.
MOMENT: Final = 0.02


@contextmanager
def with_wreq() -> Iterator[Open]:
    client = wreq.blocking.Client()
    try:
        yield lambda stream: client.get(stream.address)
    finally:
        client.close()


@contextmanager
def with_openai() -> Iterator[Open]:
    with openai.OpenAI(base_url="http://127.0.0.1", api_key="none", max_retries=0) as client:

        def open_stream(stream: Stream) -> AbstractContextManager[Any]:
            create = client.with_options(base_url=stream.url).chat.completions.with_streaming_response.create
            return create(model="m", messages=HI, stream=True)

        yield open_stream


@asynccontextmanager
async def with_async_curl_cffi() -> AsyncIterator[AsyncOpen]:
    async with curl_cffi.AsyncSession() as session:
        yield lambda stream: session.stream("GET", stream.address)


@asynccontextmanager
async def with_async_pyreqwest() -> AsyncIterator[AsyncOpen]:
    async with ClientBuilder().build() as client:
        yield lambda stream: client.get(stream.address).streamed_read_buffer_limit(0).build_streamed()


@asynccontextmanager
async def with_async_wreq() -> AsyncIterator[AsyncOpen]:
    client = wreq.Client()
    try:
        yield lambda stream: client.get(stream.address)
    finally:
        client.close()


@asynccontextmanager
async def with_async_openai() -> AsyncIterator[AsyncOpen]:
    async with openai.AsyncOpenAI(base_url="http://127.0.0.1", api_key="none", max_retries=0) as client:

        def open_stream(stream: Stream) -> AbstractAsyncContextManager[Any]:
            create = client.with_options(base_url=stream.url).chat.completions.with_streaming_response.create
            return create(model="m", messages=HI, stream=True)

        yield open_stream


SESSIONS: Final[dict[str, Callable[[], AbstractContextManager[Open]]]] = {
    "wreq": with_wreq,
    "OpenAI SDK": with_openai,
}
ASYNC_SESSIONS: Final[dict[str, Callable[[], AbstractAsyncContextManager[AsyncOpen]]]] = {
    "curl_cffi": with_async_curl_cffi,
    "pyreqwest": with_async_pyreqwest,
    "wreq": with_async_wreq,
    "OpenAI SDK": with_async_openai,
}


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("name", SESSIONS)
def test_the_next_request_goes_over_the_same_connection(name: str, scenario: str, server: Server) -> None:
    peers: set[str] = set()
    with SESSIONS[name]() as open_stream:
        for _ in range(3):
            with open_stream(server.stream(scenario)) as response:
                stream = ChatStream(response, drain=True)
                assert len(list(stream)) == len(EVENTS)
                assert stream.state == "done"
                peers.add(stream.response_headers["x-peer"])
            time.sleep(MOMENT)
    assert len(peers) == 1


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("name", ASYNC_SESSIONS)
def test_so_it_does_asynchronously(name: str, scenario: str, server: Server) -> None:
    peers: set[str] = set()

    async def main() -> None:
        async with ASYNC_SESSIONS[name]() as open_stream:
            for _ in range(3):
                async with open_stream(server.stream(scenario)) as response:
                    stream = AsyncChatStream(response, drain=True)
                    assert len([chunk async for chunk in stream]) == len(EVENTS)
                    assert stream.state == "done"
                    peers.add(stream.response_headers["x-peer"])
                await anyio.sleep(MOMENT)

    run("asyncio", main)
    assert len(peers) == 1
