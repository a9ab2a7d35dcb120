"""What a synchronous stream does beside reading to the end, with every client, and with those that it matters for."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, cast

import msgspec
import pytest

from ssewire import (
    AsyncChatStream,
    ChatCompletionChunk,
    ChatStream,
    EventStream,
    NotAStreamError,
    SSEWireError,
)
from tests.clients.adapters import CLIENTS
from tests.clients.bodies import HTML, PAYLOADS
from tests.clients.client import Client
from tests.clients.served import TIMEOUT, Server, Stream

CHUNKS = [msgspec.json.decode(payload, type=ChatCompletionChunk) for payload in PAYLOADS]
SYNC = [client for client in CLIENTS if not client.backends]


@pytest.fixture(params=SYNC, ids=str)
def client(request: pytest.FixtureRequest) -> Client:
    return cast("Client", request.param)


def ask(client: Client, server: Server, scenario: str) -> Stream:
    """A stream in the kind of body that the client can read."""
    return server.stream(scenario, **({} if client.framed else {"framing": "close"}))


def read_in_step(
    stream: ChatStream[ChatCompletionChunk],
    confirm: Callable[[int], None],
    chunks: list[ChatCompletionChunk] | None = None,
) -> list[ChatCompletionChunk]:
    """The chunks; the server sends the next one when this loop has the one before, so nothing may hold one back."""
    chunks = [] if chunks is None else chunks
    for chunk in stream:
        chunks.append(chunk)
        confirm(len(chunks))
    return chunks


def test_an_asynchronous_stream_refuses_the_response(client: Client, server: Server) -> None:
    with (
        client.open(ask(client, server, "at-once")) as response,
        pytest.raises(TypeError, match="is synchronous: use ChatStream"),
    ):
        AsyncChatStream(response)


def test_the_connection_ends_when_the_block_is_left_early(client: Client, server: Server) -> None:
    served = ask(client, server, "silent")
    with client.open(served) as response:
        with ChatStream(response) as stream:
            assert next(iter(stream)) == CHUNKS[0]
        assert stream.state == "closed"
        if client.lets_go:
            served.wait_until_gone()
    served.wait_until_gone()


def test_break_leaves_the_response_open_for_a_second_loop(client: Client, server: Server) -> None:
    served = ask(client, server, "chunked")
    with client.open(served) as response:
        stream = ChatStream(response)
        for chunk in stream:
            assert chunk == CHUNKS[0]
            break
        served.confirm(1)
        assert read_in_step(stream, lambda number: served.confirm(number + 1)) == CHUNKS[1:]
        assert stream.state == "done"


def test_events_come_at_once(client: Client, server: Server) -> None:
    served = ask(client, server, "finished")
    with client.open(served) as response:
        stream = EventStream(response)
        payloads = []
        for number, event in enumerate(stream, 1):
            payloads.append(event.payload)
            served.confirm(number)
        assert payloads == PAYLOADS
        assert stream.state == "finished"


@pytest.mark.parametrize("client", [client for client in SYNC if client.framed and not client.judges], ids=str)
@pytest.mark.parametrize("kind", [ChatStream, EventStream])
def test_a_refusal_in_html_is_no_stream(client: Client, server: Server, kind: Any) -> None:
    with client.open(server.stream("bad-gateway")) as response, pytest.raises(NotAStreamError) as caught:
        next(iter(kind(response)))
    error = caught.value
    assert (error.status, error.body) == (502, HTML)
    assert error.headers["content-type"] == "text/html"


@pytest.mark.parametrize("client", [client for client in SYNC if client.wakes], ids=str)
def test_close_from_another_thread_ends_a_read_that_waits(client: Client, server: Server) -> None:
    served = ask(client, server, "silent")
    with client.open(served) as response:
        stream = ChatStream(response)
        reading = iter(stream)
        assert next(reading) == CHUNKS[0]
        closer = threading.Timer(0.05, stream.close)
        closer.start()
        start = time.monotonic()
        with pytest.raises(SSEWireError, match="closed"):
            next(reading)
        closer.join()
        # Neither has waited for the other: then both would have stayed until the client's patience ended.
        assert time.monotonic() - start < TIMEOUT / 2
        assert stream.state == "closed"
        if client.lets_go:
            served.wait_until_gone()
