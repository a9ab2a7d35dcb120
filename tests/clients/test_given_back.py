"""Connections that a client has back, for another request: no stream has a hand on them any more."""

from __future__ import annotations

from typing import Any

import anyio
import httpx
import httpx2
import msgspec
import openai
import pytest

from ssewire import APIError, AsyncChatStream, ChatCompletionChunk, ChatStream
from tests.clients.bodies import EVENTS, PAYLOADS
from tests.clients.served import TIMEOUT, Server, Stream

CHUNKS = [msgspec.json.decode(payload, type=ChatCompletionChunk) for payload in PAYLOADS]


def in_step(stream: ChatStream[ChatCompletionChunk], served: Stream) -> list[ChatCompletionChunk]:
    """The chunks, of which the server sends the next one when the one before is confirmed."""
    chunks = []
    for chunk in stream:
        chunks.append(chunk)
        served.confirm(len(chunks))
    return chunks


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
            assert in_step(ChatStream(response), served) == CHUNKS


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
                assert in_step(ChatStream(other), served[1]) == CHUNKS


def test_refused_requests_give_their_connections_back(server: Server) -> None:
    """A pool of two places serves any number of refusals, although nobody closes their responses."""
    with httpx.Client(limits=httpx.Limits(max_connections=2), timeout=TIMEOUT) as http:
        for _ in range(6):
            request = http.build_request("GET", server.stream("refused").url)
            with pytest.raises(APIError, match="slow down"):
                next(iter(ChatStream(http.send(request, stream=True))))


def test_what_a_client_hands_out_in_pieces_is_the_same_as_in_one_read(server: Server) -> None:
    with httpx.Client() as http:
        whole = [http.get(server.stream("at-once").url).content]
    assert list(ChatStream(whole)) == CHUNKS
    assert whole[0].startswith(EVENTS[0])


def test_asynchronous_refused_requests_give_their_connections_back(server: Server) -> None:
    """A pool of two places serves any number of refusals, although nobody closes their responses."""

    async def main() -> None:
        limits = httpx.Limits(max_connections=2)
        async with httpx.AsyncClient(limits=limits, timeout=httpx.Timeout(TIMEOUT)) as client:
            for _ in range(6):
                request = client.build_request("GET", server.stream("refused").url)
                with pytest.raises(APIError, match="slow down"):
                    await anext(AsyncChatStream(await client.send(request, stream=True)))

    anyio.run(main)
