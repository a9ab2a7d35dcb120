"""`iter_bytes` among tasks: who reads as well, who closes the stream, who cancels a read, who has turns meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from ssewire import AsyncChatStream, SSEWireError
from tests.conftest import Run
from tests.unit.cases import HELLO, USAGE
from tests.unit.making import DONE, AsyncResponse, chunk, sse
from tests.unit.test_closed_coroutines import Suspended, run_and_close

A, B = chunk("a"), chunk("b")


async def waiting(step: Any) -> asyncio.Task[Any]:
    """A task that has come to where it waits."""

    async def run() -> Any:
        return await step

    task = asyncio.create_task(run())
    for _ in range(3):
        await asyncio.sleep(0)
    return task


def slow(go_on: asyncio.Event, read: bytes) -> Callable[[], Any]:
    async def wait() -> bytes:
        await go_on.wait()
        return read

    return wait


def test_a_second_task_gets_a_clear_error_and_nothing_is_lost(run: Run) -> None:
    async def main() -> None:
        go_on = asyncio.Event()
        stream = AsyncChatStream(AsyncResponse(A, slow(go_on, B), DONE), accumulate=True)
        relay = stream.iter_bytes()
        assert await anext(relay) == A
        first = await waiting(anext(relay))
        others: list[AsyncIterator[Any]] = [
            relay,
            stream.iter_bytes(),
            stream,
            stream.iter_text(),
            stream.iter_batches(),
        ]
        for other in others:
            with pytest.raises(SSEWireError, match="one task"):
                await anext(other)
        assert (stream.state, stream.error) == ("open", None)
        go_on.set()
        assert await first == B
        assert [read async for read in relay] == [DONE]
        assert (stream.state, stream.completion().text) == ("done", "ab")

    run(main())


@pytest.mark.parametrize("first", [anext, lambda stream: anext(stream.iter_text())], ids=["chunks", "texts"])
def test_bytes_are_not_begun_while_another_task_waits_for_a_chunk(first: Callable[[Any], Any], run: Run) -> None:
    async def main() -> None:
        go_on = asyncio.Event()
        stream = AsyncChatStream(AsyncResponse(A, slow(go_on, B), DONE), accumulate=True)
        assert (await anext(stream)).text == "a"
        reader = await waiting(first(stream))
        for _ in range(2):
            with pytest.raises(SSEWireError, match="being read"):
                stream.iter_bytes()
        go_on.set()
        found = await reader
        assert (found if isinstance(found, str) else found.text) == "b"
        assert [read async for read in stream.iter_bytes()] == [DONE]
        assert (stream.state, stream.completion().text) == ("done", "ab")

    run(main())


# Closed by another task, and cancelled


@pytest.mark.parametrize(("before", "state"), [(A, "closed"), (A + DONE, "done")])
def test_closing_from_another_task_never_looks_like_an_end(before: bytes, state: str, run: Run) -> None:
    async def main() -> None:
        go_on = asyncio.Event()
        response = AsyncResponse(before, slow(go_on, b""))
        stream = AsyncChatStream(response)
        relay = stream.iter_bytes()
        assert await anext(relay) == before
        first = await waiting(anext(relay))
        await stream.aclose()
        assert (stream.state, response.closed) == (state, 1)
        go_on.set()
        assert await first == b""
        with pytest.raises(SSEWireError, match="closed"):
            await anext(relay)
        assert (stream.state, response.closed) == (state, 1)
        await stream.aclose()
        assert response.generator_closed

    run(main())


def test_closing_while_a_large_read_is_looked_at_never_looks_like_an_end(run: Run) -> None:
    """Between two parts of it other tasks have a turn."""

    async def main() -> None:
        response = AsyncResponse(A * 5000, B)
        stream = AsyncChatStream(response)
        relay = stream.iter_bytes()
        assert await anext(relay) == A * 5000
        first = await waiting(anext(relay))
        assert not first.done()
        await stream.aclose()
        with pytest.raises(SSEWireError, match="closed"):
            await first
        assert (stream.state, response.closed, response.reads.asked) == ("closed", 1, 1)

    run(main())


def test_other_tasks_have_turns_while_a_large_read_is_looked_at(run: Run) -> None:
    async def main() -> None:
        stream = AsyncChatStream(AsyncResponse(A * 5000, DONE))
        relay = stream.iter_bytes()
        await anext(relay)
        turns = 0
        task = await waiting(anext(relay))
        while not task.done():
            await asyncio.sleep(0)
            turns += 1
        assert turns > 15
        assert await task == DONE
        await stream.aclose()

    run(main())


@pytest.mark.parametrize(("before", "state"), [(A, "closed"), (A + DONE, "done"), (A * 5000, "closed")])
def test_a_read_that_is_cancelled_closes(before: bytes, state: str, run: Run) -> None:
    async def main() -> None:
        response = AsyncResponse(before, slow(asyncio.Event(), B))
        stream = AsyncChatStream(response)
        relay = stream.iter_bytes()
        assert await anext(relay) == before
        task = await waiting(anext(relay))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (stream.state, response.closed, response.generator_closed) == (state, 1, response.reads.asked > 0)
        with pytest.raises(SSEWireError, match="closed"):
            await anext(relay)

    run(main())


def test_a_coroutine_that_is_closed_where_it_waits_awaits_nothing_more() -> None:
    async def silent() -> bytes:
        await Suspended()
        return HELLO

    stream = AsyncChatStream(AsyncResponse(HELLO, silent))
    relay = stream.iter_bytes()
    with pytest.raises(StopIteration) as first:
        run_and_close(relay.__anext__())
    assert first.value.value == HELLO
    run_and_close(relay.__anext__())
    assert stream.state == "closed"
    with pytest.raises(SSEWireError, match="closed"):
        run_and_close(relay.__anext__())


def test_what_was_given_last_is_known_when_it_was_cancelled_at_a_turn(run: Run) -> None:
    async def main() -> None:
        whole = A * 999 + USAGE + DONE
        stream = AsyncChatStream(AsyncResponse(whole, B), accumulate=True)
        relay = stream.iter_bytes()
        assert await anext(relay) == whole
        with anyio.CancelScope() as scope:
            scope.cancel()
            await anext(relay)
        assert scope.cancelled_caught
        assert stream.state == "done"
        assert stream.usage is not None
        assert stream.usage.total_tokens == 5
        assert stream.completion().text == "a" * 999

    run(main())


def test_events_that_are_no_chunk_cost_no_turn_each(run: Run) -> None:
    async def main() -> None:
        turns = 0

        async def beside() -> None:
            nonlocal turns
            while True:
                turns += 1
                await anyio.lowlevel.checkpoint()

        stream = AsyncChatStream(AsyncResponse(sse(b"oops") * 1280, DONE))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(beside)
            assert len([read async for read in stream.iter_bytes()]) == 2
            tasks.cancel_scope.cancel()
        assert stream.stats.decode_errors == 1280
        assert 5 <= turns <= 30

    run(main())
