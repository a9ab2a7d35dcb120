"""Reading tasks that are cancelled at random moments: each ends as a cancelled one, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import gc
from random import Random
from typing import Any, Final

import anyio
import pytest

from ssewire import AsyncChatStream, SSEWireError
from tests.clients.reading import Setup
from tests.clients.served import Server, Stream
from tests.lifecycle.leaving import ASYNC, NEVER, aconnections_left, descriptors, on_linux, run, trio_tells_of_httpx

MOMENTS: Final = 200

# Seconds after which a read is cancelled, at the most; the server sends an event every other millisecond.
LATEST: Final = 0.02

pytestmark = [on_linux, trio_tells_of_httpx]


class Reader:
    """Reads a stream that has no end; what the client does before there is a response is its own business."""

    def __init__(self, setup: Setup, served: Stream) -> None:
        self._setup = setup
        self._served = served
        self._stream: AsyncChatStream[Any] | None = None
        self.reading = anyio.Event()

    async def read(self) -> None:
        async with self._setup.client.open(self._served) as response:
            self._stream = AsyncChatStream(response)
            self.reading.set()
            async for _ in self._stream:
                pass
        raise AssertionError("the stream has no end")

    async def check(self) -> None:
        """Whatever the moment was: a cancelled stream does not look like one that has ended."""
        assert self._stream is not None
        assert self._stream.state == "closed"
        with pytest.raises(SSEWireError, match="closed"):
            await anext(self._stream)
        assert self._stream.state == "closed"


async def cancel_a_task(reader: Reader, moment: float) -> None:
    task = asyncio.create_task(reader.read())
    await reader.reading.wait()
    await asyncio.sleep(moment)
    task.cancel()
    done, _ = await asyncio.wait((task,), timeout=NEVER)
    assert done, "the task hangs"
    assert task.cancelled(), task.exception()


async def cancel_a_scope(reader: Reader, moment: float) -> None:
    with anyio.fail_after(NEVER):
        async with anyio.create_task_group() as group:
            group.start_soon(reader.read)
            await reader.reading.wait()
            await anyio.sleep(moment)
            group.cancel_scope.cancel()
    assert group.cancel_scope.cancelled_caught


@pytest.mark.parametrize("setup", ASYNC, ids=str)
def test_cancelled_at_random_moments(setup: Setup, server: Server) -> None:
    async def main() -> None:
        random = Random(6)
        cancel = cancel_a_task if setup.backend == "asyncio" else cancel_a_scope
        for _ in range(MOMENTS):
            served = server.stream("steady", events="1000000", gap="0.002", seed=str(random.random()))
            reader = Reader(setup, served)
            await cancel(reader, random.uniform(0, LATEST))
            await reader.check()
        gc.collect()
        assert await aconnections_left(server) == 0

    before = descriptors()
    assert setup.backend is not None
    run(setup.backend, main)
    gc.collect()
    # Some clients keep an event loop of their own for the whole process, with a few descriptors.
    assert descriptors() <= before + 8
