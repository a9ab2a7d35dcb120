"""Every asynchronous client against a real server, on asyncio and, where the client can, on trio."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, NamedTuple, TypeAlias

import anyio
import anyio.to_thread
import httpx
import msgspec
import pytest

from ssewire import (
    APIError,
    AsyncChatStream,
    AsyncEventStream,
    ChatCompletionChunk,
    ChatStream,
    IncompleteStreamError,
    NotAStreamError,
    SSEWireError,
)
from tests.clients.adapters import ASYNC_CLIENTS, AsyncClient
from tests.clients.conftest import TIMEOUT, Server, Stream
from tests.clients.server import API_ERROR, HTML, PAYLOADS, TEXTS, USAGE

CHUNKS = [msgspec.json.decode(payload, type=ChatCompletionChunk) for payload in PAYLOADS]

# On trio, httpx leaves the generators inside its own to the collector, whoever stops before the end of a body, and
# trio tells of each. Those of other origin stay errors.
pytestmark = pytest.mark.filterwarnings(r"ignore:Async generator '(httpx2?|httpcore2?|openai)\.:ResourceWarning")

Scenario: TypeAlias = Callable[[], Coroutine[Any, Any, None]]


class Setup(NamedTuple):
    """A client on an event loop."""

    client: AsyncClient
    backend: str

    def run(self, scenario: Scenario) -> None:
        anyio.run(scenario, backend=self.backend)


@pytest.fixture(
    params=[(name, backend) for name, client in ASYNC_CLIENTS.items() for backend in client.backends], ids="-".join
)
def setup(request: pytest.FixtureRequest) -> Setup:
    name, backend = request.param
    return Setup(ASYNC_CLIENTS[name], backend)


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


@pytest.mark.parametrize("scenario", ["chunked", "close", "gzip", "keep-alive"])
def test_each_chunk_comes_at_once_and_the_sentinel_ends_the_loop(setup: Setup, server: Server, scenario: str) -> None:
    async def main() -> None:
        served = server.stream(scenario)
        async with setup.client.open(served) as response:
            stream = AsyncChatStream(response)
            assert await read_in_step(stream, served.confirm) == CHUNKS
            assert stream.state == "done"
            assert msgspec.to_builtins(stream.usage) == USAGE
            assert stream.finish_reasons == {0: "stop"}
            await gone(served)

    setup.run(main)


def test_a_synchronous_stream_refuses_the_response(setup: Setup, server: Server) -> None:
    async def main() -> None:
        async with setup.client.open(server.stream("at-once")) as response:
            with pytest.raises(TypeError, match="is asynchronous: use AsyncChatStream"):
                ChatStream(response)

    setup.run(main)


def test_the_connection_ends_when_the_block_is_left_early(setup: Setup, server: Server) -> None:
    async def main() -> None:
        served = server.stream("silent")
        async with setup.client.open(served) as response:
            async with AsyncChatStream(response) as stream:
                assert await anext(stream) == CHUNKS[0]
            assert stream.state == "closed"
            await gone(served)

    setup.run(main)


def test_break_leaves_the_response_open_for_a_second_loop(setup: Setup, server: Server) -> None:
    async def main() -> None:
        served = server.stream("chunked")
        async with setup.client.open(served) as response:
            stream = AsyncChatStream(response)
            async for chunk in stream:
                assert chunk == CHUNKS[0]
                break
            served.confirm(1)
            rest = await read_in_step(stream, lambda number: served.confirm(number + 1))
            assert rest == CHUNKS[1:]
            assert stream.state == "done"

    setup.run(main)


@pytest.mark.parametrize("scenario", ["finished", "finished-close"])
def test_a_body_that_ends_without_the_sentinel_is_finished(setup: Setup, server: Server, scenario: str) -> None:
    async def main() -> None:
        served = server.stream(scenario)
        async with setup.client.open(served) as response:
            stream = AsyncChatStream(response)
            assert await read_in_step(stream, served.confirm) == CHUNKS
            assert stream.state == "finished"

    setup.run(main)


def test_text_of_a_whole_answer_in_one_read(setup: Setup, server: Server) -> None:
    async def main() -> None:
        async with setup.client.open(server.stream("at-once")) as response:
            stream = AsyncChatStream(response)
            assert "".join([text async for text in stream.iter_text()]) == "".join(TEXTS)
            assert stream.state == "done"

    setup.run(main)


def test_events_come_at_once(setup: Setup, server: Server) -> None:
    async def main() -> None:
        served = server.stream("finished")
        async with setup.client.open(served) as response:
            stream = AsyncEventStream(response)
            payloads: list[bytes] = []
            async for event in stream:
                payloads.append(event.payload)
                served.confirm(len(payloads))
            assert payloads == PAYLOADS
            assert stream.state == "finished"

    setup.run(main)


@pytest.mark.parametrize("scenario", ["broken", "broken-close"])
def test_a_body_that_breaks_off_is_incomplete_behind_the_chunks(setup: Setup, server: Server, scenario: str) -> None:
    async def main() -> None:
        served = server.stream(scenario)
        async with setup.client.open(served) as response:
            stream = AsyncChatStream(response)
            chunks: list[ChatCompletionChunk] = []
            with pytest.raises(setup.client.broken if scenario == "broken" else IncompleteStreamError):
                await read_in_step(stream, served.confirm, chunks)
            assert chunks == CHUNKS[:2]
            assert stream.state == "incomplete"
            assert [chunk async for chunk in stream] == []

    setup.run(main)


def test_an_error_inside_the_stream_is_raised_behind_the_chunks(setup: Setup, server: Server) -> None:
    async def main() -> None:
        served = server.stream("error-inside")
        async with setup.client.open(served) as response:
            stream = AsyncChatStream(response)
            chunks: list[ChatCompletionChunk] = []
            with pytest.raises(APIError, match="slow down"):
                await read_in_step(stream, served.confirm, chunks)
            assert chunks == CHUNKS[:2]
            assert [chunk async for chunk in stream] == []
            assert stream.state == "error"
            await gone(served)

    setup.run(main)


def test_a_refusal_is_an_error_with_status_and_headers(setup: Setup, server: Server) -> None:
    async def main() -> None:
        async with setup.client.open(server.stream("refused")) as response:
            with pytest.raises(APIError) as caught:
                await anext(AsyncChatStream(response))
        error = caught.value
        assert (error.status, error.code, error.body) == (429, 429, API_ERROR)
        assert error.headers["x-request-id"] == "r-1"
        async with setup.client.open(server.stream("bad-gateway")) as response:
            with pytest.raises(NotAStreamError) as refusal:
                await anext(AsyncChatStream(response))
        assert (refusal.value.status, refusal.value.body) == (502, HTML)

    if setup.client.judges:
        with pytest.raises(Exception, match="429"):
            setup.run(main)
    else:
        setup.run(main)


@pytest.mark.parametrize(
    ("scenario", "about"),
    [("html", "HTML"), ("completion", "one whole completion"), ("garbage", "no event"), ("empty", "empty")],
)
def test_a_body_that_is_no_stream_is_said_to_be_none(setup: Setup, server: Server, scenario: str, about: str) -> None:
    async def main() -> None:
        async with setup.client.open(server.stream(scenario)) as response:
            stream = AsyncChatStream(response)
            with pytest.raises(NotAStreamError, match=about):
                await anext(stream)
            assert stream.state == "error"

    setup.run(main)


@pytest.mark.parametrize("how", ["aclose", "cancel"])
def test_a_read_of_a_silent_server_is_ended_from_another_task(setup: Setup, server: Server, how: str) -> None:
    async def main() -> None:
        served = server.stream("silent")
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
            await gone(served)
            (error,) = errors
            assert isinstance(error, SSEWireError if how == "aclose" else anyio.get_cancelled_exc_class())
            assert stream.state == "closed"
            with pytest.raises(SSEWireError, match="closed"):
                await anext(stream)

    setup.run(main)


def test_refused_requests_give_their_connections_back(server: Server) -> None:
    """A pool of two places serves any number of refusals, although nobody closes their responses."""

    async def main() -> None:
        limits = httpx.Limits(max_connections=2)
        async with httpx.AsyncClient(limits=limits, timeout=httpx.Timeout(TIMEOUT)) as client:
            for _ in range(6):
                request = client.build_request("GET", server.stream("refused").url)
                with pytest.raises(APIError, match="slow down"):
                    await anext(AsyncChatStream(await client.send(request, stream=True)))

    anyio.run(main)
