"""What a stream does to the event loop that it shares with others: it neither starves nor blocks it.

Kinds 138 (loop-starvation) and 139 (sync-in-async).
"""

from __future__ import annotations

import anyio
import anyio.lowlevel
import pytest

from ssewire import AsyncChatStream, AsyncEventStream, ChatStream, EventStream
from tests.clients.bodies import EVENTS
from tests.clients.reading import Setup
from tests.clients.served import Server
from tests.lifecycle.leaving import ASYNC, SYNC, run, trio_tells_of_httpx
from tests.lifecycle.server import MANY

# So many events at the most between two turns (`docs/waiting.md`). Trio runs the tasks of a round in either order, so
# that there the other task may have no turn between two of one, or two.
BOUND = {"asyncio": 256, "trio": 512}


@trio_tells_of_httpx
@pytest.mark.parametrize("setup", ASYNC, ids=str)
def test_loop_starvation(setup: Setup, server: Server) -> None:
    """Thousands of events that are there at once, and a task beside them that counts what went by between its turns."""
    stretches: list[int] = []

    async def main() -> None:
        async with setup.client.open(server.stream("many")) as response:
            stream = AsyncChatStream(response)
            seen = 0

            async def tick() -> None:
                while True:
                    before = seen
                    await anyio.lowlevel.checkpoint()
                    stretches.append(seen - before)

            async with anyio.create_task_group() as group:
                group.start_soon(tick)
                async for _ in stream:
                    seen += 1
                group.cancel_scope.cancel()
            assert (seen, stream.state) == (MANY, "done")

    assert setup.backend is not None
    run(setup.backend, main)
    assert max(stretches) <= BOUND[setup.backend]


@pytest.mark.parametrize("setup", SYNC, ids=str)
def test_sync_in_async_is_refused(setup: Setup, server: Server) -> None:
    with setup.client.open(server.stream("whole")) as response:
        for kind in (AsyncChatStream, AsyncEventStream):
            with pytest.raises(TypeError, match="is synchronous: use ChatStream or EventStream with it"):
                kind(response)
        # Nothing was read of it meanwhile.
        assert len(list(ChatStream(response))) == len(EVENTS)


@trio_tells_of_httpx
@pytest.mark.parametrize("setup", ASYNC, ids=str)
def test_async_in_sync_is_refused(setup: Setup, server: Server) -> None:
    async def main() -> None:
        async with setup.client.open(server.stream("whole")) as response:
            for kind in (ChatStream, EventStream):
                with pytest.raises(TypeError, match="is asynchronous: use AsyncChatStream or AsyncEventStream with it"):
                    kind(response)
            assert len([chunk async for chunk in AsyncChatStream(response)]) == len(EVENTS)

    assert setup.backend is not None
    run(setup.backend, main)
