"""Clients with a pool of so many connections; a request that finds none free fails in time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager, contextmanager
from typing import Any, Final, TypeAlias

import aiohttp
import httpx
import httpx2
import urllib3

from tests.clients.served import TIMEOUT, Stream

Get: TypeAlias = Callable[[Stream], Any]
Pool: TypeAlias = Callable[[int], AbstractContextManager[Get]]
AsyncPool: TypeAlias = Callable[[int], AbstractAsyncContextManager[Get]]


@contextmanager
def httpx_pool(size: int) -> Iterator[Get]:
    with httpx.Client(limits=httpx.Limits(max_connections=size), timeout=TIMEOUT) as client:
        yield lambda stream: client.send(client.build_request("GET", stream.address), stream=True)


@contextmanager
def httpx2_pool(size: int) -> Iterator[Get]:
    with httpx2.Client(limits=httpx2.Limits(max_connections=size), timeout=TIMEOUT) as client:
        yield lambda stream: client.send(client.build_request("GET", stream.address), stream=True)


@contextmanager
def urllib3_pool(size: int) -> Iterator[Get]:
    with urllib3.PoolManager(maxsize=size, block=True, timeout=TIMEOUT) as pool:
        yield lambda stream: pool.request("GET", stream.address, preload_content=False, pool_timeout=TIMEOUT)


@asynccontextmanager
async def async_httpx_pool(size: int) -> AsyncIterator[Get]:
    async with httpx.AsyncClient(limits=httpx.Limits(max_connections=size), timeout=TIMEOUT) as client:
        yield lambda stream: client.send(client.build_request("GET", stream.address), stream=True)


@asynccontextmanager
async def async_httpx2_pool(size: int) -> AsyncIterator[Get]:
    async with httpx2.AsyncClient(limits=httpx2.Limits(max_connections=size), timeout=TIMEOUT) as client:
        yield lambda stream: client.send(client.build_request("GET", stream.address), stream=True)


@asynccontextmanager
async def aiohttp_pool(size: int) -> AsyncIterator[Get]:
    # Whoever waits for a place gives up before a silent connection does, which would make room.
    timeout = aiohttp.ClientTimeout(total=None, connect=TIMEOUT / 2, sock_read=TIMEOUT)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=size), timeout=timeout) as session:
        yield lambda stream: session.get(stream.address)


POOLS: Final[dict[str, Pool]] = {"httpx": httpx_pool, "httpx2": httpx2_pool, "urllib3": urllib3_pool}
ASYNC_POOLS: Final[dict[str, AsyncPool]] = {
    "httpx": async_httpx_pool,
    "httpx2": async_httpx2_pool,
    "aiohttp": aiohttp_pool,
}
