"""Silence in an asynchronous stream: a limit interrupts the read, and cancelling is something else."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any, TypeAlias

import anyio
import anyio.abc
import anyio.lowlevel
import pytest
import trio

from ssewire import AsyncChatStream, AsyncEventStream, ChatStream, SSEWireError, StreamIdleError, idle
from ssewire.chat import StreamOptions
from tests.unit.making import AsyncResponse, chunk

HELLO = chunk("Hello")
COMMENT = b": keep-alive\n\n"

# Seconds.
SHORT = 0.03
NEVER = 60.0


class Silent(AsyncResponse):
    """A response that sends some reads, and then nothing."""

    def __init__(self, *reads: Any) -> None:
        super().__init__(*reads, anyio.sleep_forever)


ASYNC_WAYS: dict[str, Callable[[Any], Any]] = {
    "chunks": lambda stream: anext(stream),
    "text": lambda stream: anext(stream.iter_text()),
    "payloads": lambda stream: anext(stream.iter_payloads()),
    "batches": lambda stream: anext(stream.iter_batches()),
    "bytes": lambda stream: anext(stream.iter_bytes()),
    "collect": lambda stream: stream.collect(),
}


LIMITS: dict[str, StreamOptions] = {
    "idle_timeout": {"idle_timeout": SHORT},
    "first_event_timeout": {"first_event_timeout": SHORT},
}


@pytest.mark.anyio
@pytest.mark.parametrize("way", ASYNC_WAYS.values(), ids=ASYNC_WAYS)
@pytest.mark.parametrize("option", LIMITS)
async def test_a_silent_read_is_interrupted(way: Callable[[Any], Any], option: str) -> None:
    response = Silent()
    stream = AsyncChatStream(response, **LIMITS[option])
    with pytest.raises(StreamIdleError) as caught:
        await way(stream)
    error = caught.value
    assert (error.limit, error.option, error.events) == (SHORT, option, 0)
    assert error.waited >= SHORT / 2  # clocks differ, but not by so much
    assert (stream.state, response.closed, response.generator_closed) == ("incomplete", 1, True)


@pytest.mark.anyio
async def test_silence_between_events_is_interrupted() -> None:
    stream = AsyncChatStream(Silent(HELLO, COMMENT), idle_timeout=SHORT, first_event_timeout=NEVER, accumulate=True)
    assert (await anext(stream)).text == "Hello"
    with pytest.raises(StreamIdleError) as caught:
        await anext(stream)
    error = caught.value
    assert error.completion is not None
    assert (error.events, error.comments, error.completion.text) == (1, 1, "Hello")
    assert [item async for item in stream] == []


@pytest.mark.anyio
async def test_keep_alives_do_not_lengthen_the_silence() -> None:
    async def reads() -> AsyncIterator[bytes]:
        while True:
            await anyio.sleep(SHORT / 10)
            yield COMMENT

    stream = AsyncChatStream(reads(), idle_timeout=SHORT)
    with pytest.raises(StreamIdleError):
        await anext(stream)
    assert stream.state == "incomplete"


@pytest.mark.anyio
async def test_what_was_waited_before_a_keep_alive_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0

    async def comes_late() -> bytes:
        nonlocal now
        now += NEVER - SHORT
        return COMMENT

    monkeypatch.setattr(idle, "monotonic", lambda: now)
    stream = AsyncChatStream(Silent(comes_late), idle_timeout=NEVER)
    with anyio.fail_after(NEVER / 2), pytest.raises(StreamIdleError):
        await anext(stream)


@pytest.mark.anyio
async def test_silence_in_a_stream_of_events_is_interrupted() -> None:
    response = Silent(HELLO)
    stream = AsyncEventStream(response, idle_timeout=SHORT)
    await anext(stream)
    with pytest.raises(StreamIdleError) as caught:
        await anext(stream)
    assert (caught.value.events, stream.state, response.closed) == (1, "incomplete", 1)


@pytest.mark.anyio
async def test_the_task_goes_on_as_if_nothing_had_been_cancelled() -> None:
    stream = AsyncChatStream(Silent(), idle_timeout=SHORT)
    with anyio.CancelScope() as scope:
        with pytest.raises(StreamIdleError) as caught:
            await anext(stream)
        await anyio.lowlevel.checkpoint()
    assert not scope.cancelled_caught
    # Nobody is told of an exception that is only our way to end a read.
    assert caught.value.__context__ is None


@pytest.mark.anyio
async def test_an_event_that_came_while_another_task_kept_the_loop_is_in_time() -> None:
    client, server = socket.socketpair()
    with server:
        async with await connected(client) as connection:

            async def reads() -> AsyncIterator[bytes]:
                while read := await connection.receive():
                    yield read

            stream = AsyncChatStream(reads(), idle_timeout=SHORT)
            texts: list[str] = []

            async def reader() -> None:
                texts.append((await anext(stream)).text)

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(reader)
                await anyio.wait_all_tasks_blocked()
                server.sendall(HELLO)
                time.sleep(2 * SHORT)  # noqa: ASYNC251 - this is the point
            assert texts == ["Hello"]
            await stream.aclose()


async def connected(below: socket.socket) -> anyio.abc.SocketStream:
    return await anyio.abc.SocketStream.from_socket(below)


@pytest.mark.anyio
async def test_a_timeout_of_the_clients_own_while_ours_runs_is_the_clients() -> None:
    async def times_out() -> bytes:
        with anyio.fail_after(SHORT):
            await anyio.sleep_forever()
        raise AssertionError

    response = AsyncResponse(HELLO, times_out)
    stream = AsyncChatStream(response, idle_timeout=NEVER)
    await anext(stream)
    with pytest.raises(TimeoutError) as caught:
        await anext(stream)
    assert not isinstance(caught.value, SSEWireError)
    assert (stream.state, response.closed) == ("incomplete", 1)


# Cancelling while a limit runs


async def with_anyio(step: Coroutine[Any, Any, Any]) -> bool:
    with anyio.move_on_after(SHORT) as scope:
        await step
    return scope.cancelled_caught


async def with_asyncio_timeout(step: Coroutine[Any, Any, Any]) -> bool:
    try:
        async with asyncio.timeout(SHORT):
            await step
    except TimeoutError:
        return True
    return False


async def with_asyncio_cancel(step: Coroutine[Any, Any, Any]) -> bool:
    task = asyncio.ensure_future(step)
    await asyncio.sleep(SHORT)
    task.cancel()
    await asyncio.wait([task])
    return task.cancelled()


async def with_trio(step: Coroutine[Any, Any, Any]) -> bool:
    with trio.move_on_after(SHORT) as scope:
        await step
    return scope.cancelled_caught


Cancel: TypeAlias = Callable[[Coroutine[Any, Any, Any]], Coroutine[Any, Any, bool]]

CANCELS: list[tuple[str, Cancel]] = [
    ("asyncio", with_anyio),
    ("asyncio", with_asyncio_timeout),
    ("asyncio", with_asyncio_cancel),
    ("trio", with_anyio),
    ("trio", with_trio),
]


@pytest.mark.parametrize(("backend", "cancel"), CANCELS)
@pytest.mark.parametrize("kind", [AsyncChatStream, AsyncEventStream])
def test_cancelling_is_no_idleness_and_leaves_the_stream_closed(kind: Any, backend: str, cancel: Cancel) -> None:
    async def main() -> None:
        response = Silent(HELLO)
        stream = kind(response, idle_timeout=NEVER)
        await anext(stream)
        assert await cancel(stream.__anext__())
        assert (stream.state, response.closed, response.generator_closed) == ("closed", 1, True)
        with pytest.raises(SSEWireError, match="closed"):
            await anext(stream)

    anyio.run(main, backend=backend)


@pytest.mark.parametrize(("backend", "cancel"), CANCELS)
def test_cancelling_while_bytes_are_handed_on_leaves_the_stream_closed(backend: str, cancel: Cancel) -> None:
    async def main() -> None:
        response = Silent(HELLO)
        stream = AsyncChatStream(response, idle_timeout=NEVER)
        reads = stream.iter_bytes()
        assert await anext(reads) == HELLO

        async def another() -> None:
            await anext(reads)

        assert await cancel(another())
        assert (stream.state, response.closed) == ("closed", 1)
        with pytest.raises(SSEWireError, match="closed"):
            await anext(reads)

    anyio.run(main, backend=backend)


@pytest.mark.anyio
async def test_closing_from_another_task_while_a_limit_runs() -> None:
    go_on = anyio.Event()

    async def wait() -> bytes:
        await go_on.wait()
        return HELLO

    stream = AsyncChatStream(AsyncResponse(wait), idle_timeout=NEVER)
    errors: list[Exception] = []

    async def reader() -> None:
        with pytest.raises(SSEWireError, match="closed") as caught:
            await anext(stream)
        errors.append(caught.value)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(reader)
        await anyio.wait_all_tasks_blocked()
        await stream.aclose()
        assert stream.state == "closed"
        go_on.set()
    assert not isinstance(errors[0], StreamIdleError)


# A synchronous read


def test_a_read_that_blocks_is_judged_when_it_returns() -> None:
    def reads() -> Iterator[bytes]:
        yield HELLO
        time.sleep(SHORT)
        yield COMMENT
        yield HELLO

    stream = ChatStream(reads(), idle_timeout=SHORT / 2)
    assert next(stream).text == "Hello"
    with pytest.raises(StreamIdleError) as caught:
        next(stream)
    assert caught.value.waited >= SHORT / 2
    assert (stream.state, list(stream)) == ("incomplete", [])
