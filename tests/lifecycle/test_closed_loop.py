"""Kind 137, wrong-loop-finaliser: streams that outlive their loop, and what another loop sees of it: nothing."""

from __future__ import annotations

import asyncio
import gc
import sys
import warnings
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
import httpx
import pytest

from ssewire import AsyncChatStream, SSEWireError
from tests.clients.served import Server, Stream


async def with_httpx(stream: Stream) -> Any:
    client = httpx.AsyncClient(timeout=stream.timeout)
    return await client.send(client.build_request("GET", stream.address), stream=True)


async def with_aiohttp(stream: Stream) -> Any:
    return await aiohttp.ClientSession().get(stream.address)


clients = pytest.mark.parametrize("get", [with_httpx, with_aiohttp])

Get = Callable[[Stream], Awaitable[Any]]


async def left_open(get: Get, served: Stream) -> AsyncChatStream[Any]:
    stream = AsyncChatStream(await get(served))
    await anext(stream)
    return stream


@clients
@pytest.mark.filterwarnings("ignore:unclosed (transport|<socket):ResourceWarning")
@pytest.mark.parametrize("how", ["dropped", "in a cycle", "closed", "read"])
def test_wrong_loop_finaliser(get: Get, how: str, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    unraisable: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", unraisable.append)
    troubles: list[Any] = []
    streams = [asyncio.run(left_open(get, server.stream("silent")))]

    async def second() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: troubles.append(context))
        if how == "in a cycle":
            streams[0].__dict__["cycle"] = streams[0]
        elif how == "closed":
            await streams[0].aclose()
            assert streams[0].state == "closed"
        elif how == "read":
            with pytest.raises((RuntimeError, SSEWireError, httpx.HTTPError, aiohttp.ClientError)):
                await anext(streams[0])
            assert streams[0].state != "done"
        streams.clear()
        gc.collect()
        for _ in range(5):
            await asyncio.sleep(0)
        assert len(asyncio.all_tasks()) == 1

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        asyncio.run(second())
        gc.collect()
    told = [str(warning.message) for warning in caught if "a stream over" in str(warning.message)]
    # A warning holds what it is about.
    caught.clear()
    assert len(told) == (how in {"dropped", "in a cycle"}), told
    assert troubles == []
    # Nobody can help it that the collector comes to a response of aiohttp before the stream over it.
    assert [args for args in unraisable if args.object is not aiohttp.ClientResponse.__del__] == []
