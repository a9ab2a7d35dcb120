"""Reads that are cancelled, and what is held between two of them: nothing.

Kinds 134 (cancelled-read-usage), 135 (first-event-wait) and 136 (context-across-yield).
"""

from __future__ import annotations

import asyncio
import contextvars
import time
from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

from ssewire import AsyncChatStream, SSEWireError
from tests.clients.reading import Setup
from tests.clients.served import Server
from tests.lifecycle.leaving import ASYNC, NEVER, aconnections_left, run, trio_tells_of_httpx
from tests.lifecycle.pools import ASYNC_POOLS

pytestmark = trio_tells_of_httpx

clients = pytest.mark.parametrize("name", ["httpx", "aiohttp"])


@clients
def test_cancelled_read_usage_closed_upstream(name: str, server: Server) -> None:
    """The gateway's peer leaves, and the gateway with it: what was known so far can be read, and nothing goes on."""

    async def main() -> None:
        async with ASYNC_POOLS[name](1) as get:
            served = server.stream("steady", events="1000", gap="0.005")
            stream = AsyncChatStream(await get(served), accumulate=True)

            async def relay() -> None:
                async with stream:
                    async for _ in stream.iter_bytes():
                        pass

            with anyio.move_on_after(0.1):
                await relay()
            assert (stream.state, stream.usage) == ("closed", None)
            assert stream.stats.chunks > 1
            assert set(stream.completion().text) == {"x"}
            assert await aconnections_left(server) == 0

    run("asyncio", main)


@clients
def test_cancelled_read_usage_drained_by_a_task_of_the_caller(name: str, server: Server) -> None:
    """The other choice: the bytes go on to be read in a task of the gateway, with a limit; then the usage is there."""

    async def main() -> None:
        async with ASYNC_POOLS[name](1) as get:
            stream = AsyncChatStream(await get(server.stream("steady", events="50", gap="0.002")))

            async def drain() -> None:
                async with asyncio.timeout(NEVER), stream:
                    async for _ in stream.iter_bytes():
                        await left.wait()

            left = asyncio.Event()
            draining = asyncio.create_task(drain())
            # The peer of the gateway was served by another task, which is cancelled; this one goes on.
            serving = asyncio.create_task(asyncio.sleep(NEVER))
            await asyncio.sleep(0.01)
            serving.cancel()
            left.set()
            await draining
            assert stream.state == "done"
            assert stream.usage is not None
            assert stream.usage.total_tokens == 14

    run("asyncio", main)


@pytest.mark.parametrize("setup", ASYNC, ids=str)
def test_first_event_wait_is_cancelled_like_any_other(setup: Setup, server: Server) -> None:
    async def main() -> None:
        async with setup.client.open(server.stream("mute")) as response:
            stream = AsyncChatStream(response)

            async def wait() -> None:
                await anext(stream)

            start = time.monotonic()
            async with anyio.create_task_group() as group:
                group.start_soon(wait)
                await anyio.sleep(0.02)
                group.cancel_scope.cancel()
            assert time.monotonic() - start < NEVER / 2
            assert stream.state == "closed"
            with pytest.raises(SSEWireError, match="closed"):
                await anext(stream)
            await stream.aclose()
            if setup.client.lets_go:
                assert await aconnections_left(server) == 0

    assert setup.backend is not None
    run(setup.backend, main)


@clients
def test_first_event_wait_loses_nothing_to_a_peek(name: str, server: Server) -> None:
    """A gateway waits for the first event to choose its status, and hands the stream on to another task."""

    async def main() -> None:
        async with ASYNC_POOLS[name](1) as get:
            stream = AsyncChatStream(await get(server.stream("steady", events="5", gap="0.002")))
            payloads = [payload async for payload in _one(stream)]

            async def rest() -> None:
                payloads.extend([payload async for payload in stream.iter_payloads()])

            await asyncio.create_task(rest())
            assert (len(payloads), stream.state) == (6, "done")

    run("asyncio", main)


async def _one(stream: AsyncChatStream[Any]) -> AsyncIterator[bytes]:
    async for payload in stream.iter_payloads():
        yield payload
        return


VARIABLE: contextvars.ContextVar[int] = contextvars.ContextVar("variable", default=0)


@pytest.mark.parametrize("setup", ASYNC, ids=str)
def test_context_across_yield_is_none(setup: Setup, server: Server) -> None:
    """Each step in a task, a context and a cancel scope of its own, and the closing in yet another."""

    async def main() -> None:
        async with setup.client.open(server.stream("two-events")) as response:
            stream = AsyncChatStream(response)

            async def step() -> None:
                VARIABLE.set(1)
                with anyio.fail_after(NEVER):
                    await anext(stream)

            for task in (step, step, stream.aclose):
                async with anyio.create_task_group() as group:
                    group.start_soon(task)
            assert stream.state == "closed"
            assert VARIABLE.get() == 0
            if setup.client.lets_go:
                assert await aconnections_left(server) == 0

    assert setup.backend is not None
    run(setup.backend, main)


@pytest.mark.filterwarnings("ignore:a stream over:ResourceWarning", "ignore:unclosed connection:ResourceWarning")
@clients
def test_context_across_yield_is_none_where_the_loop_ends_with_the_stream_open(name: str, server: Server) -> None:
    streams: list[Any] = []

    async def main() -> None:
        async with ASYNC_POOLS[name](1) as get:
            streams.append(AsyncChatStream(await get(server.stream("silent"))))
            await asyncio.create_task(anext(streams[0]))

    # It checks that the loop's exception handler was not called; the pool is closed, the stream is not.
    run("asyncio", main)
    assert streams[0].state == "open"
    streams.clear()
