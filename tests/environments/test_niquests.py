"""What is particular to niquests: bodies that it keeps, its connections, and responses that share one."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine
from textwrap import dedent
from typing import Any

import niquests  # type: ignore[import-not-found, unused-ignore]
import pytest

from ssewire import APIError, AsyncChatStream, ChatStream, SSEWireError
from tests.clients.adapters_niquests import CLIENTS, options
from tests.clients.bodies import TEXTS
from tests.clients.served import TIMEOUT, Server, Stream

Run = Callable[[Coroutine[Any, Any, Any]], Any]

TEXT = "".join(TEXTS)


@pytest.mark.parametrize("example", [client.example for client in CLIENTS], ids=["sync", "async"])
def test_the_documents_examples_print_the_text(server: Server, example: str) -> None:
    program = dedent(example).replace("https://host/v1", server.stream("at-once").url)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert (done.stdout.decode(), done.stderr.decode()) == (TEXT, "")


# Bodies that were read before


def test_a_body_that_was_read_is_parsed_from_memory(server: Server) -> None:
    with niquests.Session() as session:
        assert ChatStream(session.post(**at_once(server, stream=False))).collect().text == TEXT
        response = session.post(**at_once(server))
        assert response.content
        assert ChatStream(response).collect().text == TEXT


def test_an_asynchronous_body_that_was_read_is_parsed_from_memory(server: Server, run: Run) -> None:
    async def main() -> None:
        async with niquests.AsyncSession() as session:
            # Without `stream=True` the response is a synchronous one.
            response = await session.post(**at_once(server, stream=False))
            assert ChatStream(response).collect().text == TEXT
            with pytest.raises(TypeError, match="is synchronous: use ChatStream"):
                AsyncChatStream(response)
            response = await session.post(**at_once(server))
            assert await response.content
            assert (await AsyncChatStream(response).collect()).text == TEXT

    run(main())


def test_a_body_that_is_gone_is_not_taken_for_an_empty_one(server: Server) -> None:
    with niquests.Session() as session:
        consumed = session.post(**at_once(server))
        assert list(consumed.iter_content(-1))
        closed = session.post(**at_once(server))
        closed.close()
        for response in (consumed, closed):
            with pytest.raises(SSEWireError, match="nothing can be read from this Response"):
                ChatStream(response)


def test_an_asynchronous_body_that_is_gone_is_not_taken_for_an_empty_one(server: Server, run: Run) -> None:
    async def main() -> None:
        async with niquests.AsyncSession() as session:
            consumed = await session.post(**at_once(server))
            assert [read async for read in await consumed.iter_content(-1)]
            closed = await session.post(**at_once(server))
            await closed.close()
            for response in (consumed, closed):
                with pytest.raises(SSEWireError, match="nothing can be read from this AsyncResponse"):
                    AsyncChatStream(response)

    run(main())


# Connections


def test_a_drained_connection_is_used_again(server: Server) -> None:
    peers = set()
    with niquests.Session() as session:
        for _ in range(2):
            stream = ChatStream(session.post(**late_end(server)), drain=True)
            assert stream.collect().text == TEXT
            peers.add(stream.response_headers["x-peer"])
    assert len(peers) == 1


def test_a_drained_asynchronous_connection_is_used_again(server: Server, run: Run) -> None:
    peers = set()

    async def main() -> None:
        async with niquests.AsyncSession() as session:
            for _ in range(2):
                stream = AsyncChatStream(await session.post(**late_end(server)), drain=True)
                assert (await stream.collect()).text == TEXT
                peers.add(stream.response_headers["x-peer"])

    run(main())
    assert len(peers) == 1


@pytest.mark.parametrize("transport", ["http", "https"])
def test_closing_from_another_task_ends_a_read_that_waits(server: Server, run: Run, transport: Any) -> None:
    served = server.stream("silent", transport=transport)

    async def main() -> None:
        async with niquests.AsyncSession() as session:
            stream = AsyncChatStream(await session.post(served.address, **options(served)))
            await anext(stream)
            served.confirm(1)
            reading = asyncio.ensure_future(anext(stream))
            await asyncio.sleep(0.05)
            start = time.monotonic()
            await stream.aclose()
            with pytest.raises(SSEWireError, match="closed"):
                await reading
            # Neither has waited until the client's patience ends.
            assert time.monotonic() - start < TIMEOUT / 2
            await asyncio.to_thread(served.wait_until_gone)

    run(main())


def test_an_abandoned_stream_ends_its_connection(server: Server, run: Run) -> None:
    served = server.stream("silent")

    async def main() -> None:
        async with niquests.AsyncSession() as session:
            streams = [AsyncChatStream(await session.post(served.address, **options(served)))]
            await anext(streams[0])
            with pytest.warns(ResourceWarning, match="dropped before its end"):
                streams.clear()
            await asyncio.to_thread(served.wait_until_gone)

    run(main())


# Several requests over one connection


def test_responses_share_a_connection(server: Server) -> None:
    """Nobody has waited for their heads before they are read."""
    served = [server.stream(name, transport="h2") for name in ("late-end", "refused", "late-end")]
    with niquests.Session(multiplexed=True) as session:
        responses = [session.post(stream.address, **options(stream)) for stream in served]
        assert all(response.lazy for response in responses)
        first, refused, last = map(ChatStream, responses)
        assert last.collect().text == TEXT
        with pytest.raises(APIError, match="slow down") as caught:
            refused.collect()
        assert caught.value.status == 429
        assert first.collect().text == TEXT
        assert first.response_headers["x-peer"] == last.response_headers["x-peer"]


def test_asynchronous_responses_that_share_a_connection_are_gathered_first(server: Server, run: Run) -> None:
    served = [server.stream(name, transport="h2") for name in ("late-end", "refused")]

    async def main() -> None:
        async with niquests.AsyncSession(multiplexed=True) as session:
            responses = [await session.post(stream.address, **options(stream)) for stream in served]
            with pytest.raises(niquests.exceptions.MultiplexingError, match="gather"):
                AsyncChatStream(responses[0])
            await session.gather()
            whole, refused = map(AsyncChatStream, responses)
            assert (await whole.collect()).text == TEXT
            with pytest.raises(APIError, match="slow down") as caught:
                await refused.collect()
            assert caught.value.status == 429

    run(main())


def at_once(server: Server, *, stream: bool = True) -> dict[str, Any]:
    return {**_request(server.stream("at-once")), "stream": stream}


def late_end(server: Server) -> dict[str, Any]:
    return _request(server.stream("late-end"))


def _request(served: Stream) -> dict[str, Any]:
    return {"url": served.address, **options(served)}
