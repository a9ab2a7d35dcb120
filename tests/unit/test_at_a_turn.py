"""What may happen while other tasks have their turn: cancelling, closing, another reader; and turns without a loop."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any, Final

import anyio
import pytest
import trio

from ssewire import AsyncChatStream, AsyncEventStream, SSEWireError
from tests.unit.making import DONE, AsyncReads, AsyncResponse, chunk

pytestmark = pytest.mark.anyio

STRETCH: Final = 256
"""So many events, reads or KiB make a turn, as documented."""

MANY: Final = 10_000

HELLO = chunk("Hello")


async def exhaust(items: AsyncIterator[Any]) -> int:
    """Read to the end; gives the number of items."""
    count = 0
    async for _ in items:
        count += 1
    return count


async def endless() -> AsyncIterator[bytes]:
    """Events without end from a source that never suspends."""
    while True:
        yield HELLO * 50


WAYS: dict[str, Callable[[AsyncChatStream[Any]], AsyncIterator[Any]]] = {
    "chunks": aiter,
    "text": AsyncChatStream.iter_text,
    "payloads": AsyncChatStream.iter_payloads,
    "batches": AsyncChatStream.iter_batches,
    "bytes": AsyncChatStream.iter_bytes,
}


@pytest.mark.parametrize("way", WAYS)
async def test_a_task_may_be_cancelled_at_a_turn(way: str) -> None:
    response = AsyncResponse()
    response.aiter_bytes = endless  # type: ignore[method-assign]
    stream = AsyncChatStream(response)
    items = WAYS[way](stream)
    behind = 0
    with anyio.CancelScope() as scope:
        async for _ in items:
            scope.cancel()
            behind += 1
            assert behind <= 2 * STRETCH
    assert scope.cancelled_caught
    assert (stream.state, response.closed) == ("closed", 1)
    with pytest.raises(SSEWireError, match="closed"):
        await anext(items)


async def test_a_timeout_ends_a_stream_that_never_waits() -> None:
    stream = AsyncChatStream(endless())
    with anyio.move_on_after(0.02) as scope:
        await exhaust(stream)
    assert scope.cancelled_caught
    assert stream.state == "closed"


async def asyncio_timeout(reading: Coroutine[Any, Any, Any]) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.02):
            await reading


async def asyncio_cancel(reading: Coroutine[Any, Any, Any]) -> None:
    task = asyncio.ensure_future(reading)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()


async def trio_timeout(reading: Coroutine[Any, Any, Any]) -> None:
    with trio.move_on_after(0.02) as scope:
        await reading
    assert scope.cancelled_caught


@pytest.mark.parametrize(
    ("backend", "end"), [("asyncio", asyncio_timeout), ("asyncio", asyncio_cancel), ("trio", trio_timeout)]
)
@pytest.mark.parametrize("kind", [AsyncChatStream, AsyncEventStream])
def test_the_loops_own_ways_to_cancel_work_at_a_turn(kind: Any, backend: str, end: Callable[[Any], Any]) -> None:
    async def main() -> None:
        stream = kind(endless())
        await end(exhaust(stream))
        assert stream.state == "closed"

    anyio.run(main, backend=backend)


async def test_another_task_may_close_the_stream_at_a_turn() -> None:
    response = AsyncResponse()
    response.aiter_bytes = endless  # type: ignore[method-assign]
    stream = AsyncChatStream(response)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(stream.aclose)
        with pytest.raises(SSEWireError, match="closed"):
            await exhaust(stream)
    assert (stream.state, response.closed) == ("closed", 1)


async def test_another_task_may_not_read_at_a_turn() -> None:
    stream = AsyncChatStream(AsyncReads(HELLO * 1000, DONE))
    refused: list[SSEWireError] = []

    async def intrude() -> None:
        with pytest.raises(SSEWireError, match="one task at a time") as caught:
            await anext(stream)
        refused.append(caught.value)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(intrude)
        assert await exhaust(stream) == 1000
    assert len(refused) == 1


# Without an event loop


def by_hand(awaitable: Any) -> Any:
    """Drive a coroutine that never suspends; gives what it returns."""
    with pytest.raises(StopIteration) as stopped:
        awaitable.send(None)
    return stopped.value.value


@pytest.mark.parametrize("absent", [[], ["trio"], ["asyncio"], ["trio", "asyncio"]], ids="-".join)
def test_by_hand_nobody_waits_for_a_turn(absent: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for module in absent:
        monkeypatch.delitem(sys.modules, module)
    stream = AsyncChatStream(AsyncReads(HELLO * MANY, DONE), idle_timeout=60)
    assert by_hand(exhaust(stream)) == MANY
    assert stream.state == "done"


def test_collecting_by_hand() -> None:
    assert by_hand(AsyncChatStream(AsyncReads(*[HELLO] * MANY, DONE)).collect()).text == "Hello" * MANY


def test_bytes_by_hand() -> None:
    assert by_hand(exhaust(AsyncChatStream(AsyncReads(*[HELLO * 7] * MANY, DONE)).iter_bytes())) == MANY + 1
