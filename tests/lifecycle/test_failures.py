"""Servers that fall silent, cut, or hold back: what the reader is told, and that nothing is asked for twice.

Kinds 141 (no-retry-after-first-byte), 142 (half-dead-connection), 143 (total-timeout) and 145 (compression-delay).
"""

from __future__ import annotations

import time
from typing import Any

import aiohttp
import httpx
import pytest

from ssewire import AsyncChatStream, ChatStream, Provider, StreamIdleError
from tests.clients.bodies import EVENTS, TEXTS
from tests.clients.reading import Setup
from tests.clients.served import Server, Stream
from tests.lifecycle.leaving import ASYNC, NEVER, SYNC, aconnections_left, connections_left, run, trio_tells_of_httpx
from tests.lifecycle.pools import POOLS


def failure_of(stream: ChatStream[Any]) -> Exception:
    """What ends the loop."""
    try:
        list(stream)
    except Exception as error:
        return error.with_traceback(None)
    raise AssertionError("the loop ended in order")


async def afailure_of(stream: AsyncChatStream[Any]) -> Exception:
    try:
        async for _ in stream:
            pass
    except Exception as error:
        return error.with_traceback(None)
    raise AssertionError("the loop ended in order")


def check_cut(stream: ChatStream[Any] | AsyncChatStream[Any], failure: Exception, setup: Setup, served: Stream) -> None:
    assert setup.client.raises(failure, "reset"), failure
    assert any("2 chunks had come" in note for note in failure.__notes__)
    assert (stream.state, stream.stats.chunks, stream.completion().text) == ("incomplete", 2, "Hello, ")
    assert served.server.ask("/requests" + served.path.removeprefix("/first-cut-then-whole")) == 1


@pytest.mark.parametrize("setup", SYNC, ids=str)
def test_no_retry_after_first_byte(setup: Setup, server: Server) -> None:
    served = server.stream("first-cut-then-whole")
    with setup.client.open(served) as response:
        stream = ChatStream(response, accumulate=True)
        check_cut(stream, failure_of(stream), setup, served)


@trio_tells_of_httpx
@pytest.mark.parametrize("setup", ASYNC, ids=str)
def test_no_retry_after_first_byte_asynchronously(setup: Setup, server: Server) -> None:
    async def main() -> None:
        served = server.stream("first-cut-then-whole")
        async with setup.client.open(served) as response:
            stream = AsyncChatStream(response, accumulate=True)
            check_cut(stream, await afailure_of(stream), setup, served)

    assert setup.backend is not None
    run(setup.backend, main)


@pytest.mark.parametrize("scenario", ["mute", "silent"])
@trio_tells_of_httpx
@pytest.mark.parametrize("setup", ASYNC, ids=str)
def test_half_dead_connection(setup: Setup, scenario: str, server: Server) -> None:
    """On the caller's clock, and the connection is closed, not kept for the next request."""

    async def main() -> None:
        async with setup.client.open(server.stream(scenario)) as response:
            stream = AsyncChatStream(response, first_event_timeout=0.1, idle_timeout=0.1)
            start = time.monotonic()
            failure = await afailure_of(stream)
            assert time.monotonic() - start < NEVER / 2
            assert isinstance(failure, StreamIdleError)
            assert ("first_event_timeout" if scenario == "mute" else "idle_timeout") in str(failure)
            assert (stream.state, stream.stats.chunks) == ("incomplete", int(scenario == "silent"))
            if setup.client.lets_go:
                assert await aconnections_left(server) == 0

    assert setup.backend is not None
    run(setup.backend, main)


@pytest.mark.parametrize("name", POOLS)
def test_half_dead_connection_synchronously(name: str, server: Server) -> None:
    """A blocking read is ended by the client's own limit; keep-alives wake it, and then it is the caller's."""
    with POOLS[name](1) as get:
        stream = ChatStream(get(server.stream("kept-alive")), idle_timeout=0.1)
        assert next(stream).text == "Hel"
        with pytest.raises(StreamIdleError):
            next(stream)
        assert stream.state == "incomplete"
        assert connections_left(server) == 0


@pytest.mark.parametrize("setup", SYNC, ids=str)
def test_half_dead_connection_is_left_after_the_clients_own_limit(setup: Setup, server: Server) -> None:
    if setup.client.name == "curl_cffi":
        pytest.skip("its limit for a stream is a lowest speed, measured over some seconds")
    with setup.client.open(server.stream("silent", timeout=0.2)) as response:
        stream = ChatStream(response)
        failure = failure_of(stream)
        assert setup.client.raises(failure, "timeout"), failure
        assert any("1 chunk had come" in note for note in failure.__notes__)
        if setup.client.lets_go:
            assert connections_left(server) == 0


def test_total_timeout_of_aiohttp_passes_through_behind_the_chunks(server: Server) -> None:
    async def main() -> None:
        served = server.stream("steady", events="1000", gap="0.01")
        timeout = aiohttp.ClientTimeout(total=0.2)
        async with aiohttp.ClientSession(timeout=timeout) as session, session.get(served.address) as response:
            stream = AsyncChatStream(response)
            failure = await afailure_of(stream)
            assert isinstance(failure, TimeoutError)
            assert stream.stats.chunks > 1
            assert stream.state == "incomplete"
            assert any(f"{stream.stats.chunks} chunks had come" in note for note in failure.__notes__)
            assert await aconnections_left(server) == 0

    run("asyncio", main)


def test_total_timeout_is_none_in_the_table_of_clients(server: Server) -> None:
    """With a limit between reads alone, an answer that takes longer than it in all is whole."""
    (setup,) = [setup for setup in ASYNC if setup.client.name == "aiohttp"]

    async def main() -> None:
        async with setup.client.open(server.stream("steady", events="40", gap="0.01", timeout=0.2)) as response:
            stream = AsyncChatStream(response)
            assert len([chunk async for chunk in stream]) == 41
            assert stream.state == "done"

    run("asyncio", main)


def delivered(stream: ChatStream[Any]) -> tuple[int, int]:
    """How many chunks there were, and how many gaps between texts."""
    return len(list(stream)), stream.stats.text_gaps


def test_compression_delay_is_not_asked_for_and_can_be_seen(server: Server) -> None:
    with httpx.Client() as client:
        with client.stream("GET", server.stream("compressing").address) as response:
            held_back = delivered(ChatStream(response))
        request = Provider(server.stream("compressing").url).request(model="m", messages=[])
        with client.stream(**request) as response:
            at_once = delivered(ChatStream(response))
    # What is held back comes in one read, which a slow model's answer does not.
    assert held_back == (len(EVENTS), 0)
    assert at_once == (len(EVENTS), len(TEXTS) - 1)
