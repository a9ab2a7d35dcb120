"""A thousand streams at once on one event loop: all complete, each its own, and what one of them takes."""

from __future__ import annotations

import asyncio
import tracemalloc
from typing import Any, Final

import pytest

from ssewire import AsyncChatStream
from tests.clients.served import Server
from tests.lifecycle.leaving import run
from tests.lifecycle.pools import ASYNC_POOLS
from tests.lifecycle.server import texts_of

STREAMS: Final = 1_000
EVENTS: Final = 50

# Generous: what is told is the figure.
MOST_BYTES: Final = 32 * 1024


@pytest.mark.parametrize("name", ["httpx", "aiohttp"])
def test_a_thousand_streams_at_once(
    name: str, server: Server, descriptors: int, capsys: pytest.CaptureFixture[str]
) -> None:
    if descriptors < 2 * STREAMS:
        pytest.skip(f"this system allows {descriptors} open files and sockets, too few for so many streams")
    together = {"group": f"thousand-{name}", "streams": str(STREAMS + 1), "events": str(EVENTS)}
    figures: dict[str, int] = {}

    async def read(stream: AsyncChatStream[Any], first: str) -> list[str]:
        return [first, *[chunk.text async for chunk in stream]]

    async def main() -> None:
        async with ASYNC_POOLS[name](STREAMS + 1) as get:
            tracemalloc.start()
            served = [server.stream("together", seed=str(seed), **together) for seed in range(STREAMS + 1)]
            *waiting, last = served
            responses = await asyncio.gather(*map(get, waiting))
            figures["response"], _ = tracemalloc.get_traced_memory()
            streams = [AsyncChatStream(response) for response in responses]
            firsts = [(await anext(stream)).text for stream in streams]
            figures["stream"] = tracemalloc.get_traced_memory()[0] - figures["response"]
            tracemalloc.stop()
            assert server.ask("/connections") == STREAMS
            # With the last one, the server goes on with all.
            async with AsyncChatStream(await get(last)) as stream:
                answers = await asyncio.gather(*map(read, streams, firsts))
                answers.append([chunk.text async for chunk in stream])
            assert answers == [texts_of(seed, EVENTS) for seed in range(STREAMS + 1)]
            assert {stream.state for stream in streams} == {"done"}

    run("asyncio", main)
    with capsys.disabled():
        each = {what: f"{size / STREAMS / 1024:.1f} KiB" for what, size in figures.items()}
        print(f"\n{STREAMS} streams at once over {name}: {each['stream']} each, its response {each['response']}")  # noqa: T201
    assert figures["stream"] / STREAMS < MOST_BYTES
