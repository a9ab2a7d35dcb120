"""HTTP clients, and what is read with each: its bytes alone, this package over it, and what else its users have.

The bytes alone are read by the same method that this package reads them by (`docs/clients.md`), so that the difference
is what parsing costs. A session is opened before anything is timed; a stream is opened, read and left as users do it.
"""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator
from contextlib import asynccontextmanager, contextmanager, nullcontext
from functools import partial
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import httpx
import httpx2
import httpx_sse
import msgspec
import openai
import requests
import urllib3

import ssewire
from benches.wire.reading import SDK, Client, Reading, async_client, over, over_async, sync_client

_SIZE = 65_536
_ASKED: dict[str, Any] = {"model": "bench", "messages": [{"role": "user", "content": "?"}], "stream": True}
_HEADERS = {"content-type": "application/json"}
_decode = msgspec.json.Decoder(ssewire.ChatCompletionChunk).decode


def _posted(session: Any, url: str) -> Any:
    """The response of httpx, synchronous or not, and of whatever has its methods."""
    return session.stream("POST", f"{url}/chat/completions", json=_ASKED)


def _of_requests(session: requests.Session, url: str) -> requests.Response:
    return session.post(f"{url}/chat/completions", json=_ASKED, stream=True, timeout=60)


@contextmanager
def _of_urllib3(pool: urllib3.PoolManager, url: str) -> Generator[urllib3.BaseHTTPResponse]:
    response = pool.request("POST", f"{url}/chat/completions", json=_ASKED, preload_content=False)
    try:
        yield response
    finally:
        response.close()


@contextmanager
def _of_http_client(_session: object, url: str) -> Generator[Any]:
    address = urlsplit(url)
    connection = HTTPConnection(address.netloc)
    try:
        connection.request("POST", f"{address.path}/chat/completions", json.dumps(_ASKED), _HEADERS)
        yield connection.getresponse()
    finally:
        connection.close()


def _of_aiohttp(session: aiohttp.ClientSession, url: str) -> Any:
    return session.post(f"{url}/chat/completions", json=_ASKED)


# The SDK knows one address, so each stream has a client of its own there, made when it is first read.


@contextmanager
def _sdk() -> Generator[Callable[[str], openai.OpenAI]]:
    made: dict[str, openai.OpenAI] = {}

    def at(url: str) -> openai.OpenAI:
        if url not in made:
            made[url] = openai.OpenAI(api_key="none", base_url=url, max_retries=0)
        return made[url]

    try:
        yield at
    finally:
        for client in made.values():
            client.close()


@asynccontextmanager
async def _async_sdk() -> AsyncGenerator[Callable[[str], openai.AsyncOpenAI]]:
    made: dict[str, openai.AsyncOpenAI] = {}

    def at(url: str) -> openai.AsyncOpenAI:
        if url not in made:
            made[url] = openai.AsyncOpenAI(api_key="none", base_url=url, max_retries=0)
        return made[url]

    try:
        yield at
    finally:
        for client in made.values():
            await client.close()


def _of_sdk(at: Callable[[str], Any], url: str) -> Any:
    return at(url).chat.completions.with_streaming_response.create(**_ASKED)


def _sdk_chunks(at: Callable[[str], openai.OpenAI], url: str) -> Any:
    return at(url).chat.completions.create(**_ASKED)


@asynccontextmanager
async def _async_sdk_chunks(at: Callable[[str], openai.AsyncOpenAI], url: str) -> AsyncGenerator[Any]:
    async with await at(url).chat.completions.create(**_ASKED) as stream:
        yield stream


def _sse(decode: Callable[[str], Any], response: httpx.Response) -> Iterator[Any]:
    for event in httpx_sse.EventSource(response).iter_sse():
        if event.data == "[DONE]":
            return
        yield decode(event.data)


async def _async_sse(decode: Callable[[str], Any], response: httpx.Response) -> AsyncIterator[Any]:
    async for event in httpx_sse.EventSource(response).aiter_sse():
        if event.data == "[DONE]":
            return
        yield decode(event.data)


def _raw_reads(raw: Any) -> Iterator[bytes]:
    return iter(partial(raw.read1, _SIZE, decode_content=True), b"")


CLIENTS: tuple[Client, ...] = (
    sync_client(
        "httpx",
        httpx.Client,
        _posted,
        httpx.Response.iter_bytes,
        Reading("httpx-sse + msgspec", "chunks", over(_posted, partial(_sse, _decode))),
        Reading("httpx-sse + json", "json", over(_posted, partial(_sse, json.loads))),
    ),
    sync_client("httpx2", httpx2.Client, _posted, httpx2.Response.iter_bytes),
    sync_client("requests", requests.Session, _of_requests, lambda response: _raw_reads(response.raw)),
    sync_client("urllib3", urllib3.PoolManager, _of_urllib3, _raw_reads),
    sync_client(
        "http.client", nullcontext, _of_http_client, lambda response: iter(partial(response.read1, _SIZE), b"")
    ),
    async_client(
        "httpx, async",
        httpx.AsyncClient,
        _posted,
        httpx.Response.aiter_bytes,
        Reading("httpx-sse + msgspec", "chunks", over_async(_posted, partial(_async_sse, _decode))),
        Reading("httpx-sse + json", "json", over_async(_posted, partial(_async_sse, json.loads))),
    ),
    async_client("aiohttp", aiohttp.ClientSession, _of_aiohttp, lambda response: response.content.iter_any()),
    sync_client(
        "OpenAI SDK",
        _sdk,
        _of_sdk,
        lambda response: response.iter_bytes(),
        Reading(SDK, "chunks", _sdk_chunks),
    ),
    async_client(
        "OpenAI SDK, async",
        _async_sdk,
        _of_sdk,
        lambda response: response.iter_bytes(),
        Reading(SDK, "chunks", _async_sdk_chunks),
    ),
)
