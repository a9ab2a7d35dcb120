"""The HTTP clients, each opened as its users open it; what is opened goes into a stream as it is."""

from __future__ import annotations

import http.client
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager, contextmanager
from typing import Any, NamedTuple, TypeAlias
from urllib.error import HTTPError

import aiohttp
import httpx
import httpx2
import openai
import requests
import urllib3

from tests.clients.conftest import TIMEOUT, Stream

Open: TypeAlias = Callable[[Stream], AbstractContextManager[Any]]
OpenAsync: TypeAlias = Callable[[Stream], AbstractAsyncContextManager[Any]]


class Client(NamedTuple):
    """A synchronous client."""

    open: Open
    broken: type[Exception]
    """What it raises where a chunked body breaks off."""
    judges: bool = False
    """Whether it raises for a bad status by itself, so that no stream comes of it."""
    keeps: bool = False
    """Whether the connection is its own, and stays open when the response is closed."""


class AsyncClient(NamedTuple):
    """An asynchronous client."""

    open: OpenAsync
    broken: type[Exception]
    judges: bool = False
    backends: tuple[str, ...] = ("asyncio", "trio")


@contextmanager
def with_httpx(stream: Stream) -> Iterator[Any]:
    with httpx.Client(timeout=TIMEOUT) as client, client.stream("GET", stream.url) as response:
        yield response


@contextmanager
def with_httpx2(stream: Stream) -> Iterator[Any]:
    with httpx2.Client(timeout=TIMEOUT) as client, client.stream("GET", stream.url) as response:
        yield response


@contextmanager
def with_requests(stream: Stream) -> Iterator[Any]:
    with requests.Session() as session, session.get(stream.url, stream=True, timeout=TIMEOUT) as response:
        yield response


@contextmanager
def with_urllib3(stream: Stream) -> Iterator[Any]:
    with urllib3.PoolManager(timeout=TIMEOUT) as pool:
        yield pool.request("GET", stream.url, preload_content=False)


@contextmanager
def with_http_client(stream: Stream) -> Iterator[Any]:
    connection = http.client.HTTPConnection("127.0.0.1", stream.port, timeout=TIMEOUT)
    try:
        connection.request("GET", stream.path)
        yield connection.getresponse()
    finally:
        connection.close()


@contextmanager
def with_urllib_request(stream: Stream) -> Iterator[Any]:
    try:
        response = urllib.request.urlopen(stream.url, timeout=TIMEOUT)
    except HTTPError as refusal:
        response = refusal  # a response like any other, which urllib raises
    with response:
        yield response


@contextmanager
def with_openai(stream: Stream) -> Iterator[Any]:
    with openai.OpenAI(base_url=stream.url, api_key="none", timeout=TIMEOUT, max_retries=0) as client:
        create = client.chat.completions.with_streaming_response.create
        with create(model="m", messages=[{"role": "user", "content": "Hi"}], stream=True) as response:
            yield response


@asynccontextmanager
async def with_async_httpx(stream: Stream) -> AsyncIterator[Any]:
    async with httpx.AsyncClient(timeout=TIMEOUT) as client, client.stream("GET", stream.url) as response:
        yield response


@asynccontextmanager
async def with_async_httpx2(stream: Stream) -> AsyncIterator[Any]:
    async with httpx2.AsyncClient(timeout=TIMEOUT) as client, client.stream("GET", stream.url) as response:
        yield response


@asynccontextmanager
async def with_aiohttp(stream: Stream) -> AsyncIterator[Any]:
    # aiohttp's default cuts any answer off after five minutes in all; what counts for a stream is the silence.
    timeout = aiohttp.ClientTimeout(total=None, sock_read=TIMEOUT)
    async with aiohttp.ClientSession(timeout=timeout) as session, session.get(stream.url) as response:
        yield response


@asynccontextmanager
async def with_async_openai(stream: Stream) -> AsyncIterator[Any]:
    async with openai.AsyncOpenAI(base_url=stream.url, api_key="none", timeout=TIMEOUT, max_retries=0) as client:
        create = client.chat.completions.with_streaming_response.create
        async with create(model="m", messages=[{"role": "user", "content": "Hi"}], stream=True) as response:
            yield response


CLIENTS: dict[str, Client] = {
    "httpx": Client(with_httpx, httpx.RemoteProtocolError),
    "httpx2": Client(with_httpx2, httpx2.RemoteProtocolError),
    "requests": Client(with_requests, urllib3.exceptions.ProtocolError),
    "urllib3": Client(with_urllib3, urllib3.exceptions.ProtocolError),
    "http.client": Client(with_http_client, http.client.IncompleteRead, keeps=True),
    "urllib.request": Client(with_urllib_request, http.client.IncompleteRead),
    "openai": Client(with_openai, httpx2.RemoteProtocolError, judges=True),
}

ASYNC_CLIENTS: dict[str, AsyncClient] = {
    "aiohttp": AsyncClient(with_aiohttp, aiohttp.ClientPayloadError, backends=("asyncio",)),
    "httpx": AsyncClient(with_async_httpx, httpx.RemoteProtocolError),
    "httpx2": AsyncClient(with_async_httpx2, httpx2.RemoteProtocolError),
    "openai": AsyncClient(with_async_openai, httpx2.RemoteProtocolError, judges=True),
}
