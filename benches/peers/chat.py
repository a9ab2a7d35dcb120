"""Readers of chat streams: the OpenAI SDK, what users build from parts, and the floor.

The floor is msgspec with the chunk type of this package on payloads that somebody else has already split: what is left
when framing, the sentinel, errors, usage and the end state cost nothing.
"""

import json
from collections.abc import Iterable, Iterator
from functools import cache
from typing import cast

import httpx2
import msgspec
import openai
from openai.types.chat import ChatCompletionChunk as OpenAIChunk

import ssewire
from benches.corpus import Input
from benches.peers.base import Peer
from benches.peers.sse import find_payloads, httpx_sse_events

_decode = msgspec.json.Decoder(ssewire.ChatCompletionChunk).decode


class _TextDelta(msgspec.Struct, gc=False):
    content: str | None = None


class _TextChoice(msgspec.Struct, gc=False):
    delta: _TextDelta


class _TextChunk(msgspec.Struct, gc=False):
    choices: list[_TextChoice]


_decode_text = msgspec.json.Decoder(_TextChunk).decode


def chunk_facts(chunk: ssewire.ChatCompletionChunk | OpenAIChunk) -> object:
    """Give what a chunk says, under names that the SDK and this package share."""
    choices = [(c.index, c.delta.role, c.delta.content, c.finish_reason) for c in chunk.choices]
    return chunk.id, chunk.model, chunk.created, choices, chunk.usage and chunk.usage.total_tokens


def expected_facts(payloads: list[bytes]) -> list[object]:
    """Give the same facts from payloads, by the standard library's JSON and no type at all."""
    return [_facts(json.loads(payload)) for payload in payloads]


def _facts(chunk: dict[str, object]) -> object:
    choices = [
        (c["index"], c["delta"].get("role"), c["delta"].get("content"), c.get("finish_reason"))
        for c in cast("list[dict[str, dict[str, object]]]", chunk["choices"])
    ]
    usage = cast("dict[str, int] | None", chunk.get("usage"))
    return chunk.get("id"), chunk.get("model"), chunk.get("created"), choices, usage and usage["total_tokens"]


def expected_text(payloads: list[bytes]) -> list[object]:
    """Give the whole text, by the standard library's JSON: peers cut it differently when a chunk has two choices."""
    return ["".join(text for payload in payloads for text in _texts(json.loads(payload)))]


def _texts(chunk: dict[str, list[dict[str, dict[str, str]]]]) -> Iterator[str]:
    for choice in chunk["choices"]:
        if text := choice["delta"].get("content"):
            yield text


def floor(name: str) -> Peer:
    """The floor for typed chunks."""

    def run(stream: Input) -> None:
        decode = _decode
        for payload in stream.payloads:
            decode(payload)

    return Peer(name, run, lambda stream: [chunk_facts(_decode(payload)) for payload in stream.payloads])


def text_floor(name: str, *, text_only: bool) -> Peer:
    """The floor for text: the type of this package, or one that names nothing but the text."""
    decoder = _decode_text if text_only else _decode

    def run(stream: Input) -> None:
        decode = decoder
        for payload in stream.payloads:
            for choice in decode(payload).choices:
                choice.delta.content  # noqa: B018 (asking is what is measured)

    def collect(stream: Input) -> list[object]:
        texts = [choice.delta.content for payload in stream.payloads for choice in decoder(payload).choices]
        return ["".join(str(text) for text in texts if text)]

    return Peer(name, run, collect)


def find_msgspec(stream: Input) -> Iterable[ssewire.ChatCompletionChunk]:
    """The hand-written loop with msgspec behind it."""
    return map(_decode, find_payloads(stream))


def httpx_sse_msgspec(stream: Input) -> Iterator[ssewire.ChatCompletionChunk]:
    """httpx-sse with msgspec behind it: what a user without this package would best build."""
    for event in httpx_sse_events(stream):
        if event.data == "[DONE]":
            return
        yield _decode(event.data)


def httpx_sse_json_texts(stream: Input) -> Iterator[str]:
    """httpx-sse and the standard library's JSON: what most programs do."""
    for event in httpx_sse_events(stream):
        if event.data == "[DONE]":
            return
        yield from _texts(json.loads(event.data))


def find_json_texts(stream: Input) -> Iterator[str]:
    """The hand-written loop and the standard library's JSON."""
    for payload in find_payloads(stream):
        yield from _texts(json.loads(payload))


class _Reads(httpx2.SyncByteStream):
    def __init__(self, reads: list[bytes]) -> None:
        self._reads = reads

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._reads)


class _Transport(httpx2.BaseTransport):
    """Answers any request with the reads it was last given."""

    reads: list[bytes]

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        headers = {"content-type": "text/event-stream; charset=utf-8"}
        return httpx2.Response(200, headers=headers, stream=_Reads(self.reads), request=request)


@cache
def _sdk() -> tuple[openai.OpenAI, _Transport]:
    transport = _Transport()
    client = httpx2.Client(transport=transport)
    return openai.OpenAI(api_key="none", base_url="http://bench.invalid/v1", http_client=client), transport


def sdk_chunks(stream: Input) -> Iterable[OpenAIChunk]:
    """The OpenAI SDK over a transport in memory."""
    client, transport = _sdk()
    transport.reads = stream.reads
    return client.chat.completions.create(model="bench", messages=[{"role": "user", "content": "?"}], stream=True)


def sdk_texts(stream: Input) -> Iterator[str]:
    """The text of the OpenAI SDK's chunks, as its documentation reads it."""
    for chunk in sdk_chunks(stream):
        for choice in chunk.choices:
            if choice.delta.content:
                yield choice.delta.content
