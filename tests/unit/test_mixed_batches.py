"""`iter_batches` among other ways to iterate, interrupted and closed, and over a decoder that is fed."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from ssewire import (
    APIError,
    AsyncChatStream,
    ChatStream,
    ChunkDecoder,
    DecodeError,
    IncompleteStreamError,
    SSEWireError,
)
from tests.conftest import Run
from tests.unit.cases import ERROR, STOP
from tests.unit.making import DONE, AsyncReads, Reads, Response, chunk, lines, sse
from tests.unit.test_batches import A, B, C, D, Own, lists, lists_async, named, text

# Interruptions, and the end


def test_ctrl_c_comes_out_at_once_and_closes_the_stream(run: Run) -> None:
    response = Response(named("a", "b", "interrupted", "c"), DONE)
    stream = ChatStream(response, type=Own)
    view = stream.iter_batches()
    with pytest.raises(KeyboardInterrupt):
        next(view)
    assert (stream.state, response.closed, response.generator_closed) == ("closed", 1, True)
    with pytest.raises(SSEWireError, match="closed"):
        next(view)

    async def read() -> tuple[str, int]:
        source = AsyncReads(named("a", "b", "interrupted", "c"), DONE)
        stream = AsyncChatStream(source, type=Own)
        view = stream.iter_batches()
        try:
            await anext(view)
        except KeyboardInterrupt:
            return stream.state, source.closed
        raise AssertionError("not interrupted")

    assert run(read()) == ("closed", 1)


def test_ctrl_c_while_the_source_is_read_comes_behind_the_list() -> None:
    stream = ChatStream(Reads(A + B, KeyboardInterrupt()))
    view = stream.iter_batches()
    assert list(map(text, next(view))) == ["a", "b"]
    with pytest.raises(KeyboardInterrupt):
        next(view)
    assert stream.state == "closed"


def test_behind_close_there_are_no_more_lists(run: Run) -> None:
    stream = ChatStream([A, B])
    view = stream.iter_batches()
    next(view)
    stream.close()
    with pytest.raises(SSEWireError, match="closed"):
        next(view)

    async def read() -> None:
        stream = AsyncChatStream(AsyncReads(A, B))
        view = stream.iter_batches()
        await anext(view)
        await stream.aclose()
        with pytest.raises(SSEWireError, match="closed"):
            await anext(view)

    run(read())


# Ways to iterate that are mixed


@pytest.mark.parametrize("options", [{}, {"type": dict}, {"accumulate": True}], ids=str)
def test_all_ways_share_one_position(options: dict[str, Any], run: Run) -> None:
    texts = "abcdefghijkl"
    body = b"".join(map(chunk, texts[:6])) + ERROR + b"".join(map(chunk, texts[6:10]))
    reads = [body, chunk("k") + chunk("l"), DONE]

    stream = ChatStream(reads, **options)
    assert text(next(stream)) == "a"
    assert next(stream.iter_text()) == "b"
    assert sse(next(stream.iter_payloads())) == chunk("c")
    view = stream.iter_batches()
    assert list(map(text, next(view))) == ["d", "e", "f"]
    with pytest.raises(APIError):
        next(stream)
    assert text(next(stream.iter_with_payload())[1]) == "g"
    assert list(map(text, next(view))) == ["h", "i", "j"]
    assert list(map(text, next(view))) == ["k", "l"]
    assert lists(view) == []

    async def read() -> None:
        stream = AsyncChatStream(AsyncReads(*reads), **options)
        assert text(await anext(stream)) == "a"
        assert await anext(stream.iter_text()) == "b"
        assert sse(await anext(stream.iter_payloads())) == chunk("c")
        view = stream.iter_batches()
        assert list(map(text, await anext(view))) == ["d", "e", "f"]
        with pytest.raises(APIError):
            await anext(stream)
        assert text((await anext(stream.iter_with_payload()))[1]) == "g"
        assert list(map(text, await anext(view))) == ["h", "i", "j"]
        assert await lists_async(view) == [["k", "l"]]

    run(read())


def test_a_list_inside_lines_of_an_event_that_were_begun() -> None:
    stream = ChatStream([lines(A[6:-2], B[6:-2], b"oops", C[6:-2]) + D + DONE])
    assert text(next(stream)) == "a"
    assert lists(stream.iter_batches()) == [["b"], DecodeError, ["c", "d"]]


def test_facts_are_those_of_plain_iteration() -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
    stream = ChatStream([b"id: 7\n" + A + STOP + sse({"choices": [], "usage": usage}) + DONE])
    assert lists(stream.iter_batches()) == [["a", "", ""]]
    assert (msgspec.to_builtins(stream.usage), stream.finish_reasons) == (usage, {0: "stop"})
    assert (stream.stats.chunks, stream.stats.events, stream.last_event_id) == (3, 4, "7")


def test_batches_of_a_decoder_that_is_fed() -> None:
    decoder = ChunkDecoder()
    assert lists(decoder.feed(A + B + C[:9]).batches(256)) == [["a", "b"]]
    assert lists(decoder.feed(C[9:] + sse(b"oops") + D).batches(256)) == [["c"], DecodeError, ["d"]]
    assert lists(decoder.finish().batches(256)) == [IncompleteStreamError]
