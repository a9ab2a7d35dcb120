"""Kind 140, source-consumed, with asynchronous clients: `test_source_consumed.py` says what must come of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Final, TypeAlias

import aiohttp
import curl_cffi
import httpx
import openai
import pytest
import wreq
from pyreqwest.client import ClientBuilder

from ssewire import AsyncChatStream, SSEWireError
from tests.clients.adapters_sdks import HI
from tests.clients.bodies import EVENTS, TEXTS
from tests.clients.reading import Setup
from tests.clients.served import Server, Stream
from tests.lifecycle.leaving import ASYNC, run, trio_tells_of_httpx

Open: TypeAlias = Callable[[Stream], AbstractAsyncContextManager[Any]]


@asynccontextmanager
async def httpx_whole(stream: Stream) -> AsyncIterator[Any]:
    async with httpx.AsyncClient() as client:
        yield await client.get(stream.address)


@asynccontextmanager
async def httpx_iterated(stream: Stream) -> AsyncIterator[Any]:
    async with httpx.AsyncClient() as client, client.stream("GET", stream.address) as response:
        async for _ in response.aiter_bytes():
            pass
        yield response


@asynccontextmanager
async def aiohttp_read(stream: Stream) -> AsyncIterator[Any]:
    async with aiohttp.ClientSession() as session, session.get(stream.address) as response:
        await response.read()
        yield response


@asynccontextmanager
async def aiohttp_read_and_left(stream: Stream) -> AsyncIterator[Any]:
    async with aiohttp.ClientSession() as session, session.get(stream.address) as response:
        await response.read()
    # It keeps the body, but gives it to nobody any more.
    yield response


@asynccontextmanager
async def aiohttp_iterated(stream: Stream) -> AsyncIterator[Any]:
    async with aiohttp.ClientSession() as session, session.get(stream.address) as response:
        async for _ in response.content.iter_any():
            pass
        yield response


@asynccontextmanager
async def aiohttp_left(stream: Stream) -> AsyncIterator[Any]:
    async with aiohttp.ClientSession() as session, session.get(stream.address) as response:
        pass
    yield response


@asynccontextmanager
async def curl_cffi_whole(stream: Stream) -> AsyncIterator[Any]:
    async with curl_cffi.AsyncSession() as session:
        yield await session.get(stream.address)


@asynccontextmanager
async def curl_cffi_read(stream: Stream) -> AsyncIterator[Any]:
    async with curl_cffi.AsyncSession() as session, session.stream("GET", stream.address) as response:
        await response.acontent()
        yield response


@asynccontextmanager
async def pyreqwest_whole(stream: Stream) -> AsyncIterator[Any]:
    async with ClientBuilder().build() as client:
        yield await client.get(stream.address).build().send()


@asynccontextmanager
async def pyreqwest_iterated(stream: Stream) -> AsyncIterator[Any]:
    async with ClientBuilder().build() as client, client.get(stream.address).build_streamed() as response:
        while await response.body_reader.read_chunk() is not None:
            pass
        yield response


@asynccontextmanager
async def wreq_read(stream: Stream) -> AsyncIterator[Any]:
    async with wreq.Client().get(stream.address) as response:
        await response.bytes()
        yield response


@asynccontextmanager
async def openai_read(stream: Stream) -> AsyncIterator[Any]:
    async with openai.AsyncOpenAI(base_url=stream.url, api_key="none") as client:
        create = client.chat.completions.with_streaming_response.create
        async with create(model="m", messages=HI, stream=True) as response:
            await response.read()
            yield response


@asynccontextmanager
async def reader_of_asyncio(_: Stream) -> AsyncIterator[Any]:
    reader = asyncio.StreamReader()
    reader.feed_data(b"".join(EVENTS))
    reader.feed_eof()
    await reader.read()
    yield reader


IN_MEMORY: Final[dict[str, Open]] = {
    "httpx, whole": httpx_whole,
    "aiohttp, read()": aiohttp_read,
    "curl_cffi, whole": curl_cffi_whole,
    "pyreqwest, whole": pyreqwest_whole,
    "OpenAI SDK, read()": openai_read,
}
GONE: Final[dict[str, tuple[Open, type[Exception] | tuple[type[Exception], ...]]]] = {
    "httpx, iterated": (httpx_iterated, httpx.StreamConsumed),
    "aiohttp, iterated": (aiohttp_iterated, SSEWireError),
    "aiohttp, read() and left": (aiohttp_read_and_left, aiohttp.ClientError),
    "aiohttp, left": (aiohttp_left, (SSEWireError, aiohttp.ClientError)),
    "curl_cffi, acontent()": (curl_cffi_read, SSEWireError),
    "pyreqwest, iterated": (pyreqwest_iterated, RuntimeError),
    "wreq, bytes()": (wreq_read, SSEWireError),
    "the reader of asyncio, read()": (reader_of_asyncio, SSEWireError),
}


async def read(response: Any) -> None:
    stream = AsyncChatStream(response)
    assert "".join([text async for text in stream.iter_text()]) == "".join(TEXTS)
    assert stream.state == "done"


@pytest.mark.parametrize("name", IN_MEMORY)
def test_source_consumed_but_kept(name: str, server: Server) -> None:
    async def main() -> None:
        async with IN_MEMORY[name](server.stream("whole")) as response:
            await read(response)

    run("asyncio", main)


@pytest.mark.parametrize("name", GONE)
def test_source_consumed_and_gone(name: str, server: Server) -> None:
    open_stream, error = GONE[name]

    async def main() -> None:
        async with open_stream(server.stream("whole")) as response:
            with pytest.raises(error, match=r"\w"):
                await read(response)

    run("asyncio", main)


@trio_tells_of_httpx
@pytest.mark.parametrize("setup", ASYNC, ids=str)
def test_source_consumed_by_a_first_loop(setup: Setup, server: Server) -> None:
    """A second loop over a stream that is over gives nothing new, and its state says how it ended."""

    async def main() -> None:
        async with setup.client.open(server.stream("whole")) as response:
            stream = AsyncChatStream(response)
            assert len([chunk async for chunk in stream]) == len(EVENTS)
            assert [chunk async for chunk in stream] == []
            assert stream.state == "done"

    assert setup.backend is not None
    run(setup.backend, main)
