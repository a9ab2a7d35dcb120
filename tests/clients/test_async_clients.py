"""What an asynchronous stream does beside reading to the end, with every client on every event loop that it can."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, TypeAlias, cast

import anyio
import anyio.to_thread
import msgspec
import pytest

from ssewire import AsyncChatStream, AsyncEventStream, ChatCompletionChunk, ChatStream, SSEWireError
from tests.clients.adapters import CLIENTS
from tests.clients.bodies import PAYLOADS
from tests.clients.reading import LEFT_TO_THE_COLLECTOR, Setup, setups
from tests.clients.served import Server, Stream

CHUNKS = [msgspec.json.decode(payload, type=ChatCompletionChunk) for payload in PAYLOADS]
ASYNC = [client for client in CLIENTS if client.backends]

pytestmark = LEFT_TO_THE_COLLECTOR

Scenario: TypeAlias = Callable[[], Coroutine[Any, Any, None]]


@pytest.fixture(params=setups(ASYNC), ids=str)
def setup(request: pytest.FixtureRequest) -> Setup:
    return cast("Setup", request.param)


def run(setup: Setup, scenario: Scenario) -> None:
    assert setup.backend is not None
    anyio.run(scenario, backend=setup.backend)


def ask(setup: Setup, server: Server, scenario: str) -> Stream:
    """A stream in the kind of body that the client can read."""
    return server.stream(scenario, **({} if setup.client.framed else {"framing": "close"}))


async def read_in_step(
    stream: AsyncChatStream[ChatCompletionChunk],
    confirm: Callable[[int], None],
    chunks: list[ChatCompletionChunk] | None = None,
) -> list[ChatCompletionChunk]:
    """The chunks; the server sends the next one when this loop has the one before."""
    chunks = [] if chunks is None else chunks
    async for chunk in stream:
        chunks.append(chunk)
        confirm(len(chunks))
    return chunks


async def gone(served: Stream) -> None:
    """Return when the server has seen the connection's end; some clients close it in a later step of their loop."""
    await anyio.to_thread.run_sync(served.wait_until_gone)


def test_a_synchronous_stream_refuses_the_response(setup: Setup, server: Server) -> None:
    async def main() -> None:
        async with setup.client.open(ask(setup, server, "at-once")) as response:
            with pytest.raises(TypeError, match="is asynchronous: use AsyncChatStream"):
                ChatStream(response)

    run(setup, main)


def test_the_connection_ends_when_the_block_is_left_early(setup: Setup, server: Server) -> None:
    async def main() -> None:
        served = ask(setup, server, "silent")
        async with setup.client.open(served) as response:
            async with AsyncChatStream(response) as stream:
                assert await anext(stream) == CHUNKS[0]
            assert stream.state == "closed"
            if setup.client.lets_go:
                await gone(served)

    run(setup, main)


def test_break_leaves_the_response_open_for_a_second_loop(setup: Setup, server: Server) -> None:
    async def main() -> None:
        served = ask(setup, server, "chunked")
        async with setup.client.open(served) as response:
            stream = AsyncChatStream(response)
            async for chunk in stream:
                assert chunk == CHUNKS[0]
                break
            served.confirm(1)
            rest = await read_in_step(stream, lambda number: served.confirm(number + 1))
            assert rest == CHUNKS[1:]
            assert stream.state == "done"

    run(setup, main)


def test_events_come_at_once(setup: Setup, server: Server) -> None:
    async def main() -> None:
        served = ask(setup, server, "finished")
        async with setup.client.open(served) as response:
            stream = AsyncEventStream(response)
            payloads: list[bytes] = []
            async for event in stream:
                payloads.append(event.payload)
                served.confirm(len(payloads))
            assert payloads == PAYLOADS
            assert stream.state == "finished"

    run(setup, main)


@pytest.mark.parametrize("how", ["aclose", "cancel"])
def test_a_read_of_a_silent_server_is_ended_from_another_task(setup: Setup, server: Server, how: str) -> None:
    if how == "aclose" and not setup.client.wakes:
        pytest.skip("what lies below cannot be closed, so only cancelling the task ends a read")

    async def main() -> None:
        served = ask(setup, server, "silent")
        errors: list[BaseException] = []
        async with setup.client.open(served) as response:
            stream = AsyncChatStream(response)
            assert await anext(stream) == CHUNKS[0]

            async def read() -> None:
                try:
                    await anext(stream)
                except SSEWireError as error:
                    errors.append(error)
                except BaseException as error:
                    errors.append(error)
                    raise

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(read)
                await anyio.wait_all_tasks_blocked()
                if how == "aclose":
                    await stream.aclose()
                else:
                    tasks.cancel_scope.cancel()
            if setup.client.lets_go:
                await gone(served)
            (error,) = errors
            assert isinstance(error, SSEWireError if how == "aclose" else anyio.get_cancelled_exc_class())
            assert stream.state == "closed"
            with pytest.raises(SSEWireError, match="closed"):
                await anext(stream)

    run(setup, main)
