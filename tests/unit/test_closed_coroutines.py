"""Coroutines that are closed where they wait, as the collector and a loop that ends do it: no event loop here."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Coroutine, Generator
from typing import Any

import pytest

from ssewire import AsyncChatStream, SSEWireError
from tests.unit.cases import HELLO
from tests.unit.making import DONE, AsyncReads, AsyncResponse


class Suspended:
    """Awaiting it suspends, whoever runs the coroutine."""

    def __await__(self) -> Generator[None]:
        yield


def run_and_close(awaitable: Awaitable[Any]) -> None:
    """Run a coroutine to where it waits, and close it there."""
    assert isinstance(awaitable, Coroutine)
    awaitable.send(None)
    awaitable.close()


class SlowResponse(AsyncResponse):
    """One whose close takes a while, as it does with most clients."""

    async def aclose(self) -> None:
        await Suspended()
        await super().aclose()


def test_closing_the_coroutine_that_reads_awaits_nothing_more() -> None:
    """What drops a coroutine closes it, and a coroutine that awaits in answer to that is an error."""

    async def silent() -> bytes:
        await Suspended()
        return HELLO

    stream = AsyncChatStream(SlowResponse(HELLO, silent))
    with pytest.raises(StopIteration):
        run_and_close(stream.__anext__())
    run_and_close(stream.__anext__())
    assert stream.state == "closed"
    with pytest.raises(SSEWireError, match="closed"):
        run_and_close(stream.__anext__())


def test_closing_the_coroutine_that_closes_awaits_nothing_more() -> None:
    class SlowReads(AsyncReads):
        async def aclose(self) -> None:
            await super().aclose()
            await Suspended()

    reads = SlowReads(DONE)

    class Response(SlowResponse):
        def aiter_bytes(self) -> AsyncIterator[bytes]:
            return reads

    stream = AsyncChatStream(Response())
    run_and_close(stream.__anext__())
    assert (stream.state, reads.closed) == ("done", 1)
