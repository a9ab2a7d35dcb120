"""Every synchronous client against a real server: the same chunks, at once, and the connection let go of in time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import httpx
import httpx2
import msgspec
import openai
import pytest

from ssewire import (
    APIError,
    AsyncChatStream,
    ChatCompletionChunk,
    ChatStream,
    EventStream,
    IncompleteStreamError,
    NotAStreamError,
    SSEWireError,
)
from tests.clients.adapters import CLIENTS, Client
from tests.clients.conftest import TIMEOUT, Server
from tests.clients.server import API_ERROR, COMPLETION, EVENTS, HTML, PAYLOADS, TEXTS, USAGE

CHUNKS = [msgspec.json.decode(payload, type=ChatCompletionChunk) for payload in PAYLOADS]

# Those that decompress; http.client and urllib leave it to their users.
DECOMPRESSING = [name for name in CLIENTS if name not in {"http.client", "urllib.request"}]
JUDGING = [name for name, client in CLIENTS.items() if client.judges]
OTHERS = [name for name in CLIENTS if name not in JUDGING]


@pytest.fixture(params=CLIENTS)
def client(request: pytest.FixtureRequest) -> Client:
    return CLIENTS[request.param]


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


@pytest.mark.parametrize("scenario", ["chunked", "close", "keep-alive"])
def test_each_chunk_comes_at_once_and_the_sentinel_ends_the_loop(client: Client, server: Server, scenario: str) -> None:
    served = server.stream(scenario)
    with client.open(served) as response:
        stream = ChatStream(response)
        assert read_in_step(stream, served.confirm) == CHUNKS
        assert stream.state == "done"
        assert msgspec.to_builtins(stream.usage) == USAGE
        assert stream.finish_reasons == {0: "stop"}


@pytest.mark.parametrize("name", DECOMPRESSING)
def test_compressed_events_come_at_once(server: Server, name: str) -> None:
    served = server.stream("gzip")
    with CLIENTS[name].open(served) as response:
        stream = ChatStream(response)
        assert read_in_step(stream, served.confirm) == CHUNKS
        assert stream.state == "done"


def test_an_asynchronous_stream_refuses_the_response(client: Client, server: Server) -> None:
    with (
        client.open(server.stream("at-once")) as response,
        pytest.raises(TypeError, match="is synchronous: use ChatStream"),
    ):
        AsyncChatStream(response)


def test_the_connection_ends_at_the_sentinel_although_the_client_is_still_open(client: Client, server: Server) -> None:
    served = server.stream("chunked")
    with client.open(served) as response:
        read_in_step(ChatStream(response), served.confirm)
        if not client.keeps:
            served.wait_until_gone()
    served.wait_until_gone()


def test_the_connection_ends_when_the_block_is_left_early(client: Client, server: Server) -> None:
    served = server.stream("silent")
    with client.open(served) as response:
        with ChatStream(response) as stream:
            assert next(iter(stream)) == CHUNKS[0]
        assert stream.state == "closed"
        if not client.keeps:
            served.wait_until_gone()
    served.wait_until_gone()


def test_break_leaves_the_response_open_for_a_second_loop(client: Client, server: Server) -> None:
    served = server.stream("chunked")
    with client.open(served) as response:
        stream = ChatStream(response)
        for chunk in stream:
            assert chunk == CHUNKS[0]
            break
        served.confirm(1)
        assert read_in_step(stream, lambda number: served.confirm(number + 1)) == CHUNKS[1:]
        assert stream.state == "done"


@pytest.mark.parametrize("scenario", ["finished", "finished-close"])
def test_a_body_that_ends_without_the_sentinel_is_finished(client: Client, server: Server, scenario: str) -> None:
    served = server.stream(scenario)
    with client.open(served) as response:
        stream = ChatStream(response)
        assert read_in_step(stream, served.confirm) == CHUNKS
        assert stream.state == "finished"


def test_a_whole_answer_in_one_read(client: Client, server: Server) -> None:
    with client.open(server.stream("at-once")) as response:
        stream = ChatStream(response)
        assert "".join(stream.iter_text()) == "".join(TEXTS)
        assert stream.state == "done"


def test_events_come_at_once(client: Client, server: Server) -> None:
    served = server.stream("finished")
    with client.open(served) as response:
        stream = EventStream(response)
        payloads = []
        for number, event in enumerate(stream, 1):
            payloads.append(event.payload)
            served.confirm(number)
        assert payloads == PAYLOADS
        assert stream.state == "finished"


def test_a_broken_chunked_body_raises_the_error_of_the_client_behind_the_chunks(client: Client, server: Server) -> None:
    served = server.stream("broken")
    with client.open(served) as response:
        stream = ChatStream(response)
        chunks: list[ChatCompletionChunk] = []
        with pytest.raises(client.broken):
            read_in_step(stream, served.confirm, chunks)
        assert chunks == CHUNKS[:2]
        assert stream.state == "incomplete"
        assert list(stream) == []


def test_a_body_that_just_stops_is_incomplete_behind_the_chunks(client: Client, server: Server) -> None:
    served = server.stream("broken-close")
    with client.open(served) as response:
        stream = ChatStream(response)
        chunks: list[ChatCompletionChunk] = []
        with pytest.raises(IncompleteStreamError):
            read_in_step(stream, served.confirm, chunks)
        assert chunks == CHUNKS[:2]
        assert stream.state == "incomplete"


def test_an_error_inside_the_stream_is_raised_behind_the_chunks(client: Client, server: Server) -> None:
    served = server.stream("error-inside")
    with client.open(served) as response:
        stream = ChatStream(response)
        chunks: list[ChatCompletionChunk] = []
        with pytest.raises(APIError) as caught:
            read_in_step(stream, served.confirm, chunks)
        assert chunks == CHUNKS[:2]
        assert (caught.value.message, caught.value.code) == ("slow down", 429)
        assert caught.value.status == 200
        assert list(stream) == []
        assert stream.state == "error"


@pytest.mark.parametrize("name", OTHERS)
def test_a_refusal_in_json_is_an_api_error_with_status_and_headers(server: Server, name: str) -> None:
    with CLIENTS[name].open(server.stream("refused")) as response:
        stream = ChatStream(response)
        with pytest.raises(APIError) as caught:
            next(iter(stream))
        assert stream.state == "error"
    error = caught.value
    assert (error.status, error.type, error.code, error.message) == (429, "rate_limit", 429, "slow down")
    assert error.headers["x-request-id"] == "r-1"
    assert error.body == API_ERROR


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("kind", [ChatStream, EventStream])
def test_a_refusal_in_html_is_no_stream(server: Server, name: str, kind: Any) -> None:
    with CLIENTS[name].open(server.stream("bad-gateway")) as response, pytest.raises(NotAStreamError) as caught:
        next(iter(kind(response)))
    error = caught.value
    assert (error.status, error.body) == (502, HTML)
    assert error.headers["content-type"] == "text/html"


@pytest.mark.parametrize(
    ("scenario", "about"),
    [("html", "HTML"), ("completion", "one whole completion"), ("garbage", "no event"), ("empty", "empty")],
)
def test_a_body_that_is_no_stream_is_said_to_be_none(client: Client, server: Server, scenario: str, about: str) -> None:
    with client.open(server.stream(scenario)) as response:
        stream = ChatStream(response)
        with pytest.raises(NotAStreamError, match=about) as caught:
            next(iter(stream))
        assert stream.state == "error"
        assert caught.value.status == 200
        if scenario == "completion":
            assert msgspec.json.decode(caught.value.body) == COMPLETION


@pytest.mark.parametrize("name", JUDGING)
@pytest.mark.parametrize("scenario", ["refused", "bad-gateway"])
def test_a_client_that_judges_the_status_raises_its_own_error(server: Server, name: str, scenario: str) -> None:
    with pytest.raises(Exception, match=r"429|502"), CLIENTS[name].open(server.stream(scenario)):
        pass


def test_close_from_another_thread_ends_a_read_that_waits(client: Client, server: Server) -> None:
    served = server.stream("silent")
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
        if not client.keeps:
            served.wait_until_gone()


@pytest.mark.parametrize("package", [httpx, httpx2], ids=["httpx", "httpx2"])
def test_closing_a_stream_over_a_body_that_was_read_leaves_the_next_request_alone(server: Server, package: Any) -> None:
    """The connection is back in the pool by then, although the response still names it."""
    with package.Client(timeout=TIMEOUT) as http:
        stream = ChatStream(http.get(server.stream("at-once").url))
        assert next(stream) == CHUNKS[0]
        served = server.stream("chunked")
        with http.stream("GET", served.url) as response:
            stream.close()
            assert stream.state == "closed"
            assert read_in_step(ChatStream(response), served.confirm) == CHUNKS


def test_closing_a_stream_over_a_body_that_openai_has_read_leaves_the_next_request_alone(server: Server) -> None:
    served = server.stream("at-once"), server.stream("chunked")
    with openai.OpenAI(base_url="http://x", api_key="none", timeout=TIMEOUT, max_retries=0) as client:
        first, second = (client.with_options(base_url=stream.url).chat.completions for stream in served)
        with first.with_streaming_response.create(model="m", messages=[], stream=True) as response:
            response.read()
            stream = ChatStream(response)
            assert next(stream) == CHUNKS[0]
            with second.with_streaming_response.create(model="m", messages=[], stream=True) as other:
                stream.close()
                assert read_in_step(ChatStream(other), served[1].confirm) == CHUNKS


def test_refused_requests_give_their_connections_back(server: Server) -> None:
    """A pool of two places serves any number of refusals, although nobody closes their responses."""
    with httpx.Client(limits=httpx.Limits(max_connections=2), timeout=TIMEOUT) as http:
        for _ in range(6):
            request = http.build_request("GET", server.stream("refused").url)
            with pytest.raises(APIError, match="slow down"):
                next(iter(ChatStream(http.send(request, stream=True))))


def test_what_a_client_hands_out_in_pieces_is_the_same_as_in_one_read(server: Server) -> None:
    with CLIENTS["httpx"].open(server.stream("at-once")) as response:
        whole = [response.read()]
    assert list(ChatStream(whole)) == CHUNKS
    assert whole[0].startswith(EVENTS[0])
