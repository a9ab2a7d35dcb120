"""Kind 132, abandoned-stream: ten thousand in a row that nobody closes, and nothing is kept of them."""

from __future__ import annotations

import asyncio
import gc
from typing import Final

import pytest

from ssewire import AsyncChatStream, ChatStream
from tests.clients.served import Server
from tests.lifecycle.leaving import aconnections_left, connections_left, descriptors, memory, on_linux, run
from tests.lifecycle.pools import ASYNC_POOLS, POOLS

STREAMS: Final = 10_000

# The connections of a pool: as many streams as that are open at a time, if one that was dropped is still in its place.
POOL: Final = 20

# So many streams are over before anything is compared.
FIRST: Final = 200

# A stream that stayed would take many times as much, in bytes.
MOST_KEPT: Final = 1024

pytestmark = [on_linux, pytest.mark.filterwarnings("ignore:a stream over:ResourceWarning")]


def check(memory_before: int, descriptors_before: int) -> None:
    """Nothing was kept between the first streams and the last."""
    gc.collect()
    assert (memory() - memory_before) / STREAMS < MOST_KEPT
    assert abs(descriptors() - descriptors_before) <= POOL


def test_abandoned_stream_after_stream_of_a_synchronous_client(server: Server) -> None:
    descriptors_before = descriptors()
    with POOLS["httpx"](POOL) as get:
        before = (0, 0)
        for number in range(STREAMS):
            if number == FIRST:
                before = memory(), descriptors()
            assert next(ChatStream(get(server.stream("silent")))).text == "Hel"
        check(*before)
        assert connections_left(server) == 0
    assert descriptors() == descriptors_before


@pytest.mark.parametrize("name", ["httpx", "aiohttp"])
def test_abandoned_stream_after_stream_of_an_asynchronous_client(name: str, server: Server) -> None:
    async def main() -> None:
        async with ASYNC_POOLS[name](POOL) as get:
            before = (0, 0)
            for number in range(STREAMS):
                if number == FIRST:
                    before = memory(), descriptors()
                response = await get(server.stream("silent"))
                assert (await anext(AsyncChatStream(response))).text == "Hel"
                del response
                await asyncio.sleep(0)
            check(*before)
            assert await aconnections_left(server) == 0

    descriptors_before = descriptors()
    run("asyncio", main)
    assert descriptors() == descriptors_before
