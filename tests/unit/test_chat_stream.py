"""ChatStream: what comes out of a body, when the source is asked and closed, and where a loop goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import msgspec
import pytest

from ssewire import (
    APIError,
    ChatCompletionChunk,
    ChatStream,
    DecodeError,
    EventTooLargeError,
    NotAStreamError,
    SSEWireError,
)
from tests.reading import cut, pieces
from tests.unit.cases import CASES, ERROR, HELLO, LIMIT, STOP, Case
from tests.unit.making import DONE, Reads, Response, chunk, sse


def outcome(stream: ChatStream[ChatCompletionChunk]) -> list[str | type[Exception]]:
    """The text of each chunk and each error in its place, going on behind every error."""
    found: list[str | type[Exception]] = []
    for _ in range(20):
        try:
            found.extend(chunk.text for chunk in stream)
        except SSEWireError as error:
            found.append(type(error))
        else:
            return found
    raise AssertionError("no end of errors")


CUTS: dict[str, Callable[[bytes], list[bytes]]] = {
    "whole": lambda body: [body],
    "byte by byte": lambda body: pieces(body, 1),
    "with an empty read": lambda body: cut(body, (40, 40, 90)),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.parametrize("reads", CUTS.values(), ids=CUTS)
def test_outcome_and_state(case: Case, reads: Callable[[bytes], list[bytes]]) -> None:
    stream = ChatStream(Reads(*reads(case.body)), require_done=case.require_done, max_event_size=LIMIT)
    assert stream.state == "open"
    assert outcome(stream) == case.outcome
    assert stream.state == case.state
    # A further loop gives nothing new, and the state stays, also when the stream is closed now.
    assert outcome(stream) == []
    stream.close()
    assert outcome(stream) == []
    assert stream.state == case.state


# The sentinel, and the source


def test_behind_the_sentinel_the_source_is_not_asked_once_more_and_closed() -> None:
    source = Reads(HELLO, DONE, HELLO)
    assert [chunk.text for chunk in ChatStream(source)] == ["Hello"]
    assert (source.asked, source.closed) == (2, 1)


def test_the_source_is_asked_only_when_a_chunk_is_wanted() -> None:
    source = Reads(HELLO + HELLO, HELLO, DONE)
    stream = ChatStream(source)
    assert source.asked == 0
    chunks = iter(stream)
    next(chunks)
    next(chunks)
    assert source.asked == 1
    next(chunks)
    assert source.asked == 2
    assert next(chunks, None) is None
    assert source.asked == 3


@pytest.mark.parametrize(
    ("reads", "state"),
    [
        ([HELLO, DONE, HELLO], "done"),
        ([HELLO, STOP], "finished"),
        ([HELLO], "incomplete"),
        ([HELLO, OSError("reset")], "incomplete"),
        ([b"<html>"], "error"),
        ([b"data: " + b"x" * 500], "error"),
    ],
)
def test_at_the_end_the_response_and_the_reads_are_closed_at_once(reads: list[Any], state: str) -> None:
    response = Response(*reads)
    stream = ChatStream(response, max_event_size=LIMIT)
    with suppress(SSEWireError, OSError):
        list(stream)
    assert stream.state == state
    assert (response.closed, response.generator_closed) == (1, True)


def test_leaving_the_block_closes_once_and_keeps_the_error() -> None:
    response = Response(HELLO, HELLO)
    with pytest.raises(ZeroDivisionError), ChatStream(response) as stream:
        assert 1 / len(next(stream).reasoning)
    stream.close()
    assert stream.state == "closed"
    assert (response.closed, response.generator_closed) == (1, True)


def test_an_iterable_without_a_close_is_read_all_the_same() -> None:
    with ChatStream([HELLO, DONE]) as stream:
        assert [chunk.text for chunk in stream] == ["Hello"]
    assert stream.state == "done"


def test_an_endless_source_of_nothing_is_left_to_its_limit() -> None:
    source = Reads(*[b"data: x"], *[b"x"] * 1000)
    stream = ChatStream(source, max_event_size=100)
    with pytest.raises(EventTooLargeError) as caught:
        next(stream)
    assert (caught.value.limit, caught.value.offset) == (100, 0)
    assert source.asked < 110


# Loops


def test_break_leaves_the_stream_open_and_a_second_loop_goes_on() -> None:
    source = Reads(chunk("a") + chunk("b"), chunk("c"), DONE)
    stream = ChatStream(source)
    for item in stream:
        assert item.text == "a"
        break
    assert (stream.state, source.closed) == ("open", 0)
    assert [item.text for item in stream] == ["b", "c"]
    assert stream.state == "done"


@pytest.mark.parametrize("type", [ChatCompletionChunk, dict[str, Any]])
def test_all_ways_to_iterate_share_one_position(type: type[Any]) -> None:
    stream = ChatStream([b"".join(chunk(text) for text in "abcdefg") + DONE], type=type)
    texts, payloads, pairs = stream.iter_text(), stream.iter_payloads(), stream.iter_with_payload()
    assert msgspec.to_builtins(next(stream))["choices"][0]["delta"]["content"] == "a"
    assert next(texts) == "b"
    assert sse(next(payloads)) == chunk("c")
    payload, item = next(pairs)
    assert sse(payload) == chunk("d")
    assert msgspec.convert(msgspec.to_builtins(item), ChatCompletionChunk).text == "d"
    assert next(texts) == "e"
    assert [*stream.iter_text()] == ["f", "g"]
    assert [*texts, *payloads, *pairs, *stream] == []
    assert stream.state == "done"


@pytest.mark.parametrize("type", [ChatCompletionChunk, dict[str, Any]])
def test_the_text_leaves_out_what_has_none_and_goes_on_behind_an_error(type: type[Any]) -> None:
    body = chunk("") + chunk("a") + sse({}) + sse(b"oops") + chunk(None) + chunk("b") + ERROR + chunk("c") + DONE
    texts = ChatStream([body], type=type).iter_text()
    assert next(texts) == "a"
    with pytest.raises(DecodeError):
        next(texts)
    assert next(texts) == "b"
    with pytest.raises(APIError):
        next(texts)
    assert list(texts) == ["c"]


def test_payloads_are_as_sent_and_not_decoded() -> None:
    sent = [b'{"choices" :[ ]}', b"oops", b'{"x":\n1}']
    body = b"".join(b"data: " + payload.replace(b"\n", b"\ndata: ") + b"\n\n" for payload in sent)
    stream = ChatStream([body + b"data:\n\n" + ERROR + DONE])
    payloads = stream.iter_payloads()
    assert [next(payloads) for _ in sent] == sent
    with pytest.raises(APIError):
        next(payloads)
    assert list(payloads) == []
    assert stream.state == "error"


def test_a_closed_stream_raises_however_it_is_read() -> None:
    stream = ChatStream([chunk("a") + chunk("b")])
    texts = stream.iter_text()
    next(stream)
    stream.close()
    stream.close()
    for reader in (stream, iter(stream), texts, stream.iter_text(), stream.iter_payloads(), stream.iter_with_payload()):
        with pytest.raises(SSEWireError, match="closed"):
            next(reader)
    assert stream.state == "closed"


def test_a_stream_that_is_closed_behind_an_error_inside_it_gives_nothing_more() -> None:
    response = Response(ERROR + HELLO, HELLO)
    stream = ChatStream(response)
    with pytest.raises(APIError):
        next(stream)
    assert response.closed == 0
    stream.close()
    assert response.closed == 1
    with pytest.raises(SSEWireError, match="closed"):
        next(stream)
    assert stream.state == "error"


def test_the_last_event_id_is_that_of_the_chunks_so_far() -> None:
    stream = ChatStream([b"id: 1\n" + HELLO + HELLO + b"id: zwei \xe2\x82\xac\n" + HELLO, DONE])
    assert stream.last_event_id == ""
    ids = [stream.last_event_id for _ in stream]
    assert ids == ["1", "1", "zwei €"]


def test_the_last_event_id_in_a_large_read_is_that_of_the_chunks_so_far() -> None:
    # Behind every event is enough left of the read to frame it ahead.
    stream = ChatStream([HELLO * 1000 + b"id: 1\n" + HELLO + HELLO * 1000 + DONE + b"\n" * 2**20])
    assert [stream.last_event_id for _ in stream] == [""] * 1000 + ["1"] * 1001


# What errors say


def test_a_decode_error_says_which_event_and_where() -> None:
    before = b": comment\n\n" + HELLO + b"data:\n\n"
    stream = ChatStream([before + b"id: 3\n" + sse(b'{"choices": [{"index": "x"}]}') + DONE])
    assert next(stream).text == "Hello"
    with pytest.raises(DecodeError) as caught:
        next(stream)
    error = caught.value
    assert error.payload == b'{"choices": [{"index": "x"}]}'
    assert error.event_number == 3
    assert error.offset == len(before) + len(b"id: 3\n")
    assert "$.choices[0].index" in error.reason
    assert error.reason in str(error)
    assert stream.state == "open"


@pytest.mark.parametrize("status", [200, 201, 206])
def test_any_success_is_one(status: int) -> None:
    assert [chunk.text for chunk in ChatStream(Response(HELLO, DONE, status=status))] == ["Hello"]


@pytest.mark.parametrize("body", [HELLO + DONE, b"", b"<html>", b'{"detail": "no"}', b'{"error": {"message": "no"}}'])
def test_a_bad_status_is_an_error_whatever_the_body(body: bytes) -> None:
    response = Response(*pieces(body, 3), status=404, headers={"Content-Type": "text/plain"})
    stream = ChatStream(response)
    with pytest.raises((APIError, NotAStreamError), match="404") as caught:
        next(stream)
    assert isinstance(caught.value, APIError) == (b'"no"' in body)
    assert (caught.value.status, caught.value.headers) == (404, {"content-type": "text/plain"})
    assert (stream.state, response.closed) == ("error", 1)
    assert list(stream) == []


def test_of_a_refusal_only_the_start_is_read() -> None:
    response = Response(*[b"x" * 1000] * 5000, status=500)
    with pytest.raises(NotAStreamError) as caught:
        next(ChatStream(response))
    assert len(caught.value.body) == 65_536
    assert response.reads.asked == 1 + 1024 * 1024 // 1000


def test_a_refusal_with_a_long_prompt_in_it_is_read_whole() -> None:
    """Servers that validate requests send back what was wrong in them."""
    detail = [{"msg": "too long", "loc": ["body", "messages"], "input": "x" * 500_000}]
    with pytest.raises(APIError) as caught:
        next(ChatStream(Response(*pieces(msgspec.json.encode({"detail": detail}), 4096), status=422)))
    assert (caught.value.message, caught.value.body) == ("body.messages: too long", {"detail": detail})


# What the source raises


@pytest.mark.parametrize("error", [OSError("reset"), ValueError("v"), StopAsyncIteration(), RecursionError("r")])
def test_an_error_of_the_source_passes_through_as_it_is(error: Exception) -> None:
    source = Reads(HELLO, error, HELLO)
    stream = ChatStream(source)
    assert next(stream).text == "Hello"
    with pytest.raises(type(error)) as caught:
        next(stream)
    assert caught.value is error
    assert (stream.state, source.closed) == ("incomplete", 1)
    assert list(stream) == []
    assert source.asked == 2


@pytest.mark.parametrize("interruption", [KeyboardInterrupt(), SystemExit(3), GeneratorExit()])
def test_an_interrupted_read_leaves_the_stream_closed(interruption: BaseException) -> None:
    source = Reads(HELLO, interruption, HELLO)
    stream = ChatStream(source)
    next(stream)
    with pytest.raises(type(interruption)) as caught:
        next(stream)
    assert caught.value is interruption
    assert (stream.state, source.closed) == ("closed", 1)
    with pytest.raises(SSEWireError, match="closed"):
        next(stream)
    stream.close()


@pytest.mark.parametrize("read", ["data: x\n\n", None, 7, [1]])
def test_a_read_that_is_no_bytes_is_a_type_error(read: Any) -> None:
    source = Reads(HELLO, read)
    stream = ChatStream(source)
    next(stream)
    with pytest.raises(TypeError, match="iter_bytes" if isinstance(read, str) else "expected bytes"):
        next(stream)
    assert (stream.state, source.closed) == ("incomplete", 1)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_reads_may_be_any_buffer(kind: Callable[[bytes], Any]) -> None:
    assert [chunk.text for chunk in ChatStream(map(kind, pieces(HELLO + DONE, 5)))] == ["Hello"]
    assert [chunk.text for chunk in ChatStream(kind(HELLO + DONE))] == ["Hello"]


def test_a_buffer_that_its_source_uses_again_is_read_in_time() -> None:
    def reads() -> Iterator[memoryview]:
        buffer = bytearray(200)
        for event in (chunk("a"), chunk("b") + b"data: {", b"}\n\n" + chunk("c", "stop")):
            buffer[: len(event)] = event
            yield memoryview(buffer)[: len(event)]
            buffer[:] = b"\n" * 200

    assert [chunk.text for chunk in ChatStream(reads())] == ["a", "b", "", "c"]


def test_an_error_that_closing_raises_is_not_hidden() -> None:
    class Stubborn(Reads):
        def close(self) -> None:
            super().close()
            raise OSError("cannot close")

    source = Stubborn(HELLO, DONE)
    stream = ChatStream(source)
    assert next(stream).text == "Hello"
    with pytest.raises(OSError, match="cannot close"):
        next(stream)
    assert (stream.state, source.closed) == ("done", 1)
    assert list(stream) == []
