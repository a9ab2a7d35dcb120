"""Streams that share a pool of few connections: whatever becomes of one, the next finds its place free.

Kinds 131 (error-status-leak), 133 (close-the-response) and 150 (break-is-not-close).
"""

from __future__ import annotations

import threading
from typing import Any

import anyio
import httpx
import pytest

from ssewire import APIError, AsyncChatStream, ChatStream
from tests.clients.bodies import EVENTS
from tests.clients.served import TIMEOUT, Server
from tests.lifecycle.leaving import NEVER, aconnections_left, connections_left, run, trio_tells_of_httpx
from tests.lifecycle.pools import ASYNC_POOLS, POOLS, Get

pools = pytest.mark.parametrize("name", POOLS)
async_pools = pytest.mark.parametrize(
    ("name", "backend"),
    [("httpx", "asyncio"), ("httpx", "trio"), ("httpx2", "asyncio"), ("httpx2", "trio"), ("aiohttp", "asyncio")],
)


def refused(get: Get, server: Server) -> None:
    stream = ChatStream(get(server.stream("refused")))
    with pytest.raises(APIError, match="slow down"):
        next(stream)
    assert stream.state == "error"


async def arefused(get: Get, server: Server) -> None:
    stream = AsyncChatStream(await get(server.stream("refused")))
    with pytest.raises(APIError, match="slow down"):
        await anext(stream)
    assert stream.state == "error"


def read(get: Get, server: Server) -> None:
    assert len(list(ChatStream(get(server.stream("whole"))))) == len(EVENTS)


@pools
def test_error_status_leak_in_turn(name: str, server: Server) -> None:
    with POOLS[name](2) as get:
        for _ in range(20):
            refused(get, server)
        # A pool that has no place would fail here, after its own limit.
        read(get, server)


@pools
def test_error_status_leak_in_threads(name: str, server: Server) -> None:
    failures: list[BaseException] = []

    def call() -> None:
        try:
            refused(get, server)
        except BaseException as error:
            failures.append(error)

    with POOLS[name](2) as get:
        threads = [threading.Thread(target=call) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(NEVER)
        assert failures == []
        read(get, server)


@trio_tells_of_httpx
@async_pools
def test_error_status_leak_in_tasks(name: str, backend: str, server: Server) -> None:
    async def main() -> None:
        async with ASYNC_POOLS[name](2) as get:
            for _ in range(20):
                await arefused(get, server)
            async with anyio.create_task_group() as group:
                for _ in range(20):
                    group.start_soon(arefused, get, server)
            stream = AsyncChatStream(await get(server.stream("whole")))
            assert len([chunk async for chunk in stream]) == len(EVENTS)

    run(backend, main)


@pools
def test_close_the_response_not_only_its_iterator(name: str, server: Server) -> None:
    with POOLS[name](1) as get:
        for _ in range(3):
            served = server.stream("silent")
            stream = ChatStream(get(served))
            next(stream.iter_payloads())
            stream.close()
            served.wait_until_gone()


@trio_tells_of_httpx
@async_pools
def test_close_the_response_asynchronously(name: str, backend: str, server: Server) -> None:
    async def main() -> None:
        async with ASYNC_POOLS[name](1) as get:
            for _ in range(3):
                stream = AsyncChatStream(await get(server.stream("silent")))
                await anext(stream.iter_payloads())
                await stream.aclose()
                assert await aconnections_left(server) == 0

    run(backend, main)


def test_close_the_response_is_the_owners_business_where_only_an_iterator_was_given(server: Server) -> None:
    with httpx.Client(timeout=TIMEOUT) as client, client.stream("GET", server.stream("silent").address) as response:
        reads = response.iter_raw()
        with ChatStream(reads) as stream:
            next(stream)
        # The iterator is closed; httpx ends the connection with it, and its response is still to be left.
        assert list(reads) == []
        assert stream.state == "closed"
    assert connections_left(server) == 0


@trio_tells_of_httpx
def test_close_the_response_passes_through_every_layer(server: Server) -> None:
    """A generator of the user's own around the stream, and another around that: each is closed with the outer one."""
    closed: list[str] = []

    async def texts(stream: AsyncChatStream[Any]) -> Any:
        try:
            async with stream:
                async for text in stream.iter_text():
                    yield text
        finally:
            closed.append(stream.state)

    async def main() -> None:
        async with ASYNC_POOLS["httpx"](1) as get:
            outer = texts(AsyncChatStream(await get(server.stream("silent"))))
            await anext(outer)
            await outer.aclose()
            assert closed == ["closed"]
            assert await aconnections_left(server) == 0

    run("asyncio", main)


@pools
def test_break_is_not_close(name: str, server: Server) -> None:
    with POOLS[name](1) as get:
        stream = ChatStream(get(server.stream("two-events")))
        for _ in stream:
            break
        states = [stream.state]
        # Another loop goes on where that one has stopped.
        for chunk in stream:
            assert chunk.text == "lo, "
            break
        with stream:
            pass
        assert [*states, stream.state] == ["open", "closed"]
        read(get, server)


@trio_tells_of_httpx
@async_pools
def test_break_is_not_close_asynchronously(name: str, backend: str, server: Server) -> None:
    async def main() -> None:
        async with ASYNC_POOLS[name](1) as get:
            async with AsyncChatStream(await get(server.stream("two-events"))) as stream:
                async for _ in stream:
                    break
                states = [stream.state]
            assert [*states, stream.state] == ["open", "closed"]
            stream = AsyncChatStream(await get(server.stream("whole")))
            assert len([chunk async for chunk in stream]) == len(EVENTS)

    run(backend, main)
