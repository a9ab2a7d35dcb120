"""Every way out of a stream, with every client: the connection is let go of at once, while the client is still open.

Clients that keep their connection by design (`lets_go` in their table) do so here, and where nobody can wake a thread
or task that waits in one of them, it goes on when the client's own time is over.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import anyio
import pytest

from ssewire import AsyncChatStream, ChatStream, SSEWireError
from tests.clients.bodies import EVENTS
from tests.clients.reading import Setup
from tests.clients.served import TIMEOUT, Server, Stream
from tests.lifecycle.leaving import (
    ASYNC,
    ASYNC_SDKS,
    NEVER,
    SYNC,
    SYNC_SDKS,
    aconnections_left,
    connections_left,
    run,
    trio_tells_of_httpx,
)

# A scope of anyio knows the cancellations that it has asked for by their text.
ANYIO_UNKNOWN = {"pyreqwest": "it raises a CancelledError of its own, which scopes of anyio do not take for theirs"}


class OwnError(Exception):
    """What a reader raises in its loop."""


def served_to(setup: Setup, server: Server, scenario: str) -> Stream:
    """A stream for this client, which waits but a moment for bytes where nobody can wake it."""
    return server.stream(scenario, timeout=TIMEOUT if setup.client.lets_go else 0.3)


class Way(NamedTuple):
    """One way out: what the server does, how the reader leaves, and the state then."""

    scenario: str
    leave: Callable[[Any], Any]
    state: str


def check_failure(stream: ChatStream[Any] | AsyncChatStream[Any], failure: Exception | None) -> None:
    assert failure is not None
    assert not isinstance(failure, SSEWireError)
    assert stream.stats.chunks == 2


# Synchronous


def read(stream: ChatStream[Any]) -> None:
    assert len(list(stream)) == len(EVENTS)


def leave_the_block(stream: ChatStream[Any]) -> None:
    with stream:
        next(stream)


def raise_in_the_loop(stream: ChatStream[Any]) -> None:
    def leave() -> None:
        with stream:
            for _ in stream:
                raise OwnError

    with pytest.raises(OwnError):
        leave()


def meet_a_failure_of_the_client(stream: ChatStream[Any]) -> None:
    failure: Exception | None = None
    try:
        list(stream)
    except Exception as error:
        failure = error.with_traceback(None)
    check_failure(stream, failure)


def close(stream: ChatStream[Any]) -> None:
    next(stream)
    stream.close()


def close_from_another_thread(stream: ChatStream[Any]) -> None:
    next(stream)
    thread = threading.Timer(0.05, stream.close)
    thread.start()
    start = time.monotonic()
    with pytest.raises(SSEWireError, match="closed"):
        next(stream)
    assert time.monotonic() - start < NEVER / 2
    thread.join()


WAYS = {
    "the end of the body": Way("unfinished", read, "finished"),
    "the sentinel": Way("silent-behind", read, "done"),
    "the end of the block": Way("silent", leave_the_block, "closed"),
    "an exception in the loop": Way("silent", raise_in_the_loop, "closed"),
    "an exception in the client": Way("reset", meet_a_failure_of_the_client, "incomplete"),
    "close": Way("silent", close, "closed"),
    "close from another thread": Way("silent", close_from_another_thread, "closed"),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("setup", [*SYNC, *SYNC_SDKS], ids=str)
def test_every_way_out(setup: Setup, way: Way, server: Server) -> None:
    with setup.client.open(served_to(setup, server, way.scenario)) as response:
        stream = ChatStream(response)
        way.leave(stream)
        assert stream.state == way.state
        if setup.client.lets_go:
            assert connections_left(server) == 0


@pytest.mark.parametrize("setup", [*SYNC, *SYNC_SDKS], ids=str)
def test_abandoned_stream(setup: Setup, server: Server) -> None:
    with setup.client.open(server.stream("silent")) as response:
        streams = [ChatStream(response)]
        next(streams[0])
        with pytest.warns(ResourceWarning, match="dropped before its end"):
            streams.clear()
        if setup.client.lets_go:
            assert connections_left(server) == 0


# Asynchronous


async def aread(stream: AsyncChatStream[Any]) -> None:
    assert len([chunk async for chunk in stream]) == len(EVENTS)


async def aleave_the_block(stream: AsyncChatStream[Any]) -> None:
    async with stream:
        await anext(stream)


async def araise_in_the_loop(stream: AsyncChatStream[Any]) -> None:
    async def leave() -> None:
        async with stream:
            async for _ in stream:
                raise OwnError

    with pytest.raises(OwnError):
        await leave()


async def ameet_a_failure_of_the_client(stream: AsyncChatStream[Any]) -> None:
    failure: Exception | None = None
    try:
        await aread(stream)
    except Exception as error:
        failure = error.with_traceback(None)
    check_failure(stream, failure)


async def aclose(stream: AsyncChatStream[Any]) -> None:
    await anext(stream)
    await stream.aclose()


async def aclose_from_another_task(stream: AsyncChatStream[Any]) -> None:
    async def read_on() -> None:
        with pytest.raises(SSEWireError, match="closed"):
            await anext(stream)

    await anext(stream)
    with anyio.fail_after(NEVER):
        async with anyio.create_task_group() as group:
            group.start_soon(read_on)
            await anyio.sleep(0.02)
            await stream.aclose()


async def be_cancelled_in_a_scope(stream: AsyncChatStream[Any]) -> None:
    with anyio.move_on_after(0.02) as scope:
        async for _ in stream:
            pass
    assert scope.cancelled_caught
    with pytest.raises(SSEWireError, match="closed"):
        await anext(stream)


async def be_cancelled_with_a_group(stream: AsyncChatStream[Any]) -> None:
    with anyio.fail_after(NEVER):
        async with anyio.create_task_group() as group:
            group.start_soon(aread, stream)
            await anyio.sleep(0.02)
            group.cancel_scope.cancel()
    with pytest.raises(SSEWireError, match="closed"):
        await anext(stream)


ASYNC_WAYS = {
    "the end of the body": Way("unfinished", aread, "finished"),
    "the sentinel": Way("silent-behind", aread, "done"),
    "the end of the block": Way("silent", aleave_the_block, "closed"),
    "an exception in the loop": Way("silent", araise_in_the_loop, "closed"),
    "an exception in the client": Way("reset", ameet_a_failure_of_the_client, "incomplete"),
    "aclose": Way("silent", aclose, "closed"),
    "aclose from another task": Way("silent", aclose_from_another_task, "closed"),
    "a cancelled scope": Way("silent", be_cancelled_in_a_scope, "closed"),
    "a cancelled group": Way("silent", be_cancelled_with_a_group, "closed"),
}


@trio_tells_of_httpx
@pytest.mark.parametrize("way", ASYNC_WAYS.values(), ids=ASYNC_WAYS)
@pytest.mark.parametrize("setup", [*ASYNC, *ASYNC_SDKS], ids=str)
def test_every_asynchronous_way_out(setup: Setup, way: Way, server: Server) -> None:
    if way.leave is be_cancelled_in_a_scope and (reason := ANYIO_UNKNOWN.get(setup.client.name)):
        pytest.skip(reason)

    async def main() -> None:
        async with setup.client.open(served_to(setup, server, way.scenario)) as response:
            stream = AsyncChatStream(response)
            await way.leave(stream)
            assert stream.state == way.state
            if setup.client.lets_go:
                assert await aconnections_left(server) == 0

    assert setup.backend is not None
    run(setup.backend, main)


@pytest.mark.filterwarnings("ignore:Async generator:ResourceWarning")
@pytest.mark.parametrize("setup", [*ASYNC, *ASYNC_SDKS], ids=str)
def test_abandoned_stream_asynchronously(setup: Setup, server: Server) -> None:
    """Nothing can be awaited then; but the connection ends, and the user's block closes the response."""

    async def main() -> None:
        async with setup.client.open(server.stream("silent")) as response:
            streams = [AsyncChatStream(response)]
            await anext(streams[0])
            with pytest.warns(ResourceWarning, match="dropped before its end"):
                streams.clear()
            if setup.client.lets_go:
                assert await aconnections_left(server) == 0
        assert await aconnections_left(server) == 0

    assert setup.backend is not None
    run(setup.backend, main)
