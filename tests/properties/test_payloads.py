"""Chat streams, cut anywhere: the payloads, chunks and facts are the oracle's."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given

from ssewire import AsyncChatStream, ChatCompletionChunk, ChatStream, ChunkDecoder
from tests import oracle
from tests.conftest import Run
from tests.properties.streams import chats, places
from tests.reading import all_of, awaited, cut, pieces, until_incomplete


def decoded(reads: Iterable[bytes]) -> tuple[list[ChatCompletionChunk], ChunkDecoder[ChatCompletionChunk]]:
    decoder = ChunkDecoder()
    chunks = [chunk for read in reads for chunk in decoder.feed(read)]
    chunks += until_incomplete(decoder.finish())
    return chunks, decoder


def body_with_event(body: bytes) -> bytes:
    """A body without any event is another error: nothing here is about that."""
    return body if oracle.payloads(body)[0] else b'data: {"choices":[]}\n\n' + body


def facts(stream: Any) -> tuple[Any, Any]:
    usage = None if stream.usage is None else stream.usage.total_tokens
    return usage, stream.finish_reasons


@given(chats(), places)
def test_chunks(chat: tuple[bytes, list[dict[str, Any]]], places: list[int]) -> None:
    body = body_with_event(chat[0])
    right = oracle.read_chat(body)
    for reads in ([body], pieces(body, 1), cut(body, places)):
        chunks, decoder = decoded(reads)
        assert chunks == [msgspec.json.decode(payload, type=ChatCompletionChunk) for payload in right.payloads]
        assert decoder.done is right.done
        assert facts(decoder) == ((right.usage or {}).get("total_tokens"), right.finish_reasons)

        stream = ChatStream(iter(reads))
        assert list(until_incomplete(stream)) == chunks
        assert facts(stream) == facts(decoder)
        assert stream.last_event_id == decoder.last_event_id == oracle.decode(body + oracle.END_OF_INPUT).last_event_id
        assert stream.state == decoder.state
        assert (stream.state == "done") is right.done


@given(chats(), places)
def test_payloads_and_text(chat: tuple[bytes, list[dict[str, Any]]], places: list[int]) -> None:
    body = body_with_event(chat[0])
    right = oracle.read_chat(body)
    assert [json.loads(payload) for payload in right.payloads][-len(chat[1]) :] == chat[1] or not chat[1]
    for reads in ([body], pieces(body, 1), cut(body, places)):
        assert list(until_incomplete(ChatStream(iter(reads)).iter_payloads())) == right.payloads
        texts = [chunk.text for chunk in decoded(reads)[0] if chunk.text]
        assert list(until_incomplete(ChatStream(iter(reads)).iter_text())) == texts
        assert "".join(sorted("".join(texts))) == "".join(sorted("".join(right.text.values())))


@given(chat=chats(), places=places)
def test_async(run: Run, chat: tuple[bytes, list[dict[str, Any]]], places: list[int]) -> None:
    body = body_with_event(chat[0])
    chunks, decoder = decoded([body])
    texts = [chunk.text for chunk in chunks if chunk.text]
    for reads in ([body], pieces(body, 1), cut(body, places)):
        stream = AsyncChatStream(awaited(reads))
        assert run(all_of(aiter(stream))) == chunks
        assert stream.state == decoder.state
        assert facts(stream) == facts(decoder)
        assert run(all_of(AsyncChatStream(awaited(reads)).iter_payloads())) == oracle.payloads(body)[0]
        assert run(all_of(AsyncChatStream(awaited(reads)).iter_text())) == texts


@pytest.mark.parametrize("size", [10_000, 40_000, 2**20, 2**24])
def test_large_reads(size: int) -> None:
    """Large reads are framed ahead of the chunks that are asked for: events with names and ids stay themselves."""
    parts = [b'data: {"id":"%d"}\n\n' % number for number in range(4000)]
    parts[1000] = b"id: 7\n" + parts[1000]
    parts[2000] = b"event: ping\n" + parts[2000]
    parts[3000] = b"id\n" + parts[3000]
    body = b"".join(parts) + b"data: [DONE]\n\n" + b"data: {}\n\n" * 4000
    # What is left of the read decides how it is framed: so much is left behind every event.
    body += b"\n" * 2**20
    stream = ChatStream(iter(pieces(body, size)))
    ids = {chunk.id: stream.last_event_id for chunk in stream}
    assert list(ids) == [str(number) for number in range(4000) if number != 2000]
    assert {number for number, last in ids.items() if last == "7"} == set(list(ids)[1000:2999])
    assert stream.state == "done"


@given(chats(), places)
def test_nothing_is_read_behind_the_sentinel(chat: tuple[bytes, list[dict[str, Any]]], places: list[int]) -> None:
    body = body_with_event(chat[0].partition(b"data: [DONE]")[0]) + b"\n\ndata: [DONE]\n\n"

    def source() -> Iterator[bytes]:
        yield from (read for read in cut(body, places) if read)
        raise AssertionError("read on")

    stream = ChatStream(source())
    assert list(stream.iter_payloads()) == oracle.payloads(body)[0]
    assert stream.state == "done"
