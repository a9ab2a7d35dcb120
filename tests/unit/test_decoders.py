"""SSEDecoder and ChunkDecoder, pushed: what is fed comes out, an error comes in its place, and it goes on behind it."""

from __future__ import annotations

import array
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from ssewire import (
    APIError,
    ChatCompletionChunk,
    ChunkDecoder,
    DecodeError,
    EventTooLargeError,
    IgnoredLine,
    IncompleteStreamError,
    NotAStreamError,
    ServerSentEvent,
    SSEDecoder,
    SSEWireError,
)
from tests.reading import framing_ahead, pieces
from tests.unit.cases import CASES, ERROR, HELLO, LIMIT, STOP, Case
from tests.unit.making import DONE, chunk, sse


def data(events: Iterable[ServerSentEvent]) -> list[str]:
    return [event.data for event in events]


def texts(chunks: Iterable[ChatCompletionChunk]) -> list[str]:
    return [item.text for item in chunks]


# SSEDecoder


def test_feed_gives_the_decoder_which_gives_what_is_complete() -> None:
    decoder = SSEDecoder()
    assert decoder.feed(b"data: a\n\ndata: b") is decoder
    assert data(decoder) == ["a"]
    assert data(decoder) == []
    assert data(decoder.feed(b"c\n")) == []
    assert data(decoder.feed(b"\nid: 1\n")) == ["bc"]


def test_what_was_not_asked_for_yet_stays() -> None:
    decoder = SSEDecoder()
    for event in decoder.feed(b"data: a\n\ndata: b\n\ndata: c\n\n"):
        assert event.data == "a"
        break
    decoder.feed(b"data: d\n").feed(b"").feed(b"\n")
    assert next(decoder).data == "b"
    assert data(decoder) == ["c", "d"]


def test_finish_drops_an_unfinished_event_as_the_standard_says() -> None:
    decoder = SSEDecoder()
    assert data(decoder.feed(b"data: a\n\ndata: b\n").finish()) == ["a"]
    assert data(decoder.finish()) == []


@pytest.mark.parametrize(
    ("body", "events"),
    [
        (b"data: a\n\ndata: b", ["a", "b"]),
        (b"data: a\n\ndata: b\n", ["a", "b"]),
        (b"data: a\r\n\r\ndata: b\r", ["a", "b"]),
        (b"data: a\n\n", ["a"]),
        (b"data: a\n\nid: 3", ["a"]),
        (b"data", [""]),
        (b"da", []),
        (b"", []),
    ],
)
@pytest.mark.parametrize("size", [1, 100])
def test_finish_delivers_an_unfinished_event_when_asked_to(body: bytes, events: list[str], size: int) -> None:
    decoder = SSEDecoder()
    for read in pieces(body, size):
        decoder.feed(read)
    assert data(decoder.finish(deliver=True)) == events


def test_behind_the_end_nothing_is_taken_until_reset() -> None:
    decoder = SSEDecoder()
    list(decoder.feed(b"id: 1\nretry: 9\ndata: a\n\n").finish())
    with pytest.raises(SSEWireError, match=r"reset\(\)"):
        decoder.feed(b"data: b\n\n")
    assert data(decoder) == []
    decoder.reset()
    assert (decoder.last_event_id, decoder.retry) == ("", None)
    assert [(event.data, event.id) for event in decoder.feed(b"data: c\n\n")] == [("c", "")]


def test_reset_forgets_all_of_the_stream_and_none_of_the_settings() -> None:
    decoder = SSEDecoder(ignored_lines=True, max_event_size=20)
    next(decoder.feed(b"id: 1\ndata: a\n\ndata: b\n\n: c\ndata: unfinis"))
    decoder.reset()
    assert list(decoder) == []
    # A byte-order mark counts at the start only, so here again.
    assert list(decoder.feed(b"\xef\xbb\xbfdata: x\n\n:y\n")) == [ServerSentEvent(data="x"), IgnoredLine(b":y")]
    with pytest.raises(EventTooLargeError) as caught:
        list(decoder.feed(b"data: " + b"x" * 21 + b"\n\n"))
    assert caught.value.limit == 20


def test_retry_and_last_event_id_are_those_of_the_events_so_far() -> None:
    decoder = SSEDecoder()
    assert (decoder.retry, decoder.last_event_id) == (None, "")
    decoder.feed(b"retry: 10\ndata: a\n\nid: 1\n\nid: 2\ndata: b\n\nretry: x\nid: no\0\ndata: c\n\nid\ndata: d\n\n")
    seen = [(event.data, event.id, event.retry, decoder.last_event_id, decoder.retry) for event in decoder]
    assert seen == [
        ("a", "", 10, "", 10),
        ("b", "2", None, "2", 10),
        ("c", "2", None, "2", 10),
        ("d", "", None, "", 10),
    ]
    list(decoder.feed(b"id: 3\nretry: 4\n\n"))
    assert (decoder.last_event_id, decoder.retry) == ("3", 4)


def test_an_event_in_a_large_read_has_its_own_fields() -> None:
    plain, full = b"data: a\n\n", b"event: e\nid: 7\nretry: 5\ndata: b\n\n"
    body = plain * 60_000 + full + plain * 60_000 + b"id\n" + full.replace(b"id: 7\n", b"") + plain
    events = list(framing_ahead(1).feed(body))
    assert events == list(SSEDecoder().feed(body + b"\n" * 2**20))
    small = SSEDecoder()
    assert events == [event for read in pieces(body, 1000) for event in small.feed(read)]
    assert events[59_999:60_002] == [
        ServerSentEvent(data="a"),
        ServerSentEvent("e", "b", "7", 5),
        ServerSentEvent(data="a", id="7"),
    ]
    assert events[-2:] == [ServerSentEvent("e", "b", "", 5), ServerSentEvent(data="a")]


def test_ignored_lines_come_out_on_request_in_their_place() -> None:
    body = b": c\ndata: a\nfoo: bar\n:d\n\nnothing\nid: 1\n\n"
    assert list(SSEDecoder().feed(body)) == [ServerSentEvent(data="a")]
    for size in (1, 5, 100):
        decoder = SSEDecoder(ignored_lines=True)
        assert [item for read in pieces(body, size) for item in decoder.feed(read)] == [
            IgnoredLine(b": c"),
            IgnoredLine(b"foo: bar", in_event=True),
            IgnoredLine(b":d", in_event=True),
            ServerSentEvent(data="a"),
            IgnoredLine(b"nothing"),
        ]


# The limit


def all_of(decoder: SSEDecoder[ServerSentEvent], reads: Iterable[bytes]) -> Iterator[str | tuple[int, int]]:
    """The data of each event, and limit and offset of each that is too large."""
    for read in reads:
        decoder.feed(read)
        while True:
            try:
                yield from (event.data for event in decoder)
            except EventTooLargeError as error:
                yield error.limit, error.offset
            else:
                break


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize(
    ("event", "fits"),
    [
        (b"data: " + b"x" * 100 + b"\n\n", True),
        (b"data: " + b"x" * 101 + b"\n\n", False),
        (b"data:" + b"x" * 100 + b"\r\n\r\n", True),
        (b"data:" + b"x" * 101 + b"\r\n\r\n", False),
        (b"data: " + b"x" * 50 + b"\ndata: " + b"x" * 49 + b"\n\n", True),
        (b"data: " + b"x" * 50 + b"\ndata: " + b"x" * 50 + b"\n\n", False),
        (b"data\n" * 101 + b"\n", True),
        (b"data\n" * 102 + b"\n", False),
    ],
    ids=lambda value: "" if isinstance(value, bytes) else "fits" if value else "does not",
)
def test_the_limit_is_exact_however_the_event_is_cut(event: bytes, fits: bool, size: int) -> None:
    body = b"data: a\n\n" + event + b"data: b\n\n"
    first, middle, last = all_of(SSEDecoder(max_event_size=100), pieces(body, size))
    assert (first, last) == ("a", "b")
    if fits:
        assert isinstance(middle, str)
        assert len(middle) == 100
    else:
        assert isinstance(middle, tuple)
        assert middle[0] == 100


def test_the_offset_is_that_of_the_line_which_goes_beyond() -> None:
    body = b"data: a\n\n: comment\ndata: 12345\ndata: 67890\ndata: x\n\n"
    for size in (1, 4, 1000):
        assert list(all_of(SSEDecoder(max_event_size=8), pieces(body, size))) == ["a", (8, body.index(b"data: 6"))]


def test_an_endless_line_is_an_error_once_and_then_nothing() -> None:
    decoder = SSEDecoder(max_event_size=1000)
    reads = [b"data: ", *[b"x" * 64] * 10_000, b"\n\ndata: b\n\n"]
    assert list(all_of(decoder, reads)) == [(1000, 0), "b"]


@pytest.mark.parametrize(
    "garbage", [bytes(5000), bytes(range(256)) * 50, b"\xff" * 5000, b"\n" * 5000, b"\r\n\r" * 999]
)
def test_garbage_is_no_event(garbage: bytes) -> None:
    assert data(SSEDecoder().feed(garbage).feed(b"\n\ndata: a\n\n")) == ["a"]
    assert data(SSEDecoder(ignored_lines=False).feed(garbage).finish(deliver=True)) == []


# What may be fed


BUFFERS: dict[str, Callable[[bytes], Any]] = {
    "bytes": bytes,
    "bytearray": bytearray,
    "memoryview": memoryview,
    "memoryview of every other byte": lambda body: memoryview(b"".join(b"%c." % byte for byte in body))[::2],
    "array of bytes": lambda body: array.array("B", body),
    "array of words": lambda body: array.array("H", body + b"\n" * (len(body) % 2)),
    "subclass of bytes": type("Bytes", (bytes,), {}),
}


@pytest.mark.parametrize("buffer", BUFFERS.values(), ids=BUFFERS)
def test_any_buffer_may_be_fed(buffer: Callable[[bytes], Any]) -> None:
    assert data(SSEDecoder().feed(buffer(b"data: a\n\n"))) == ["a"]
    assert texts(ChunkDecoder().feed(buffer(HELLO))) == ["Hello"]


@pytest.mark.parametrize("decoder", [SSEDecoder(), ChunkDecoder()], ids=["SSEDecoder", "ChunkDecoder"])
def test_what_is_no_buffer_is_refused_and_changes_nothing(decoder: Any) -> None:
    decoder.feed(b'data: {"id": ')
    with pytest.raises(TypeError, match=r"expected bytes, got str: .*iter_bytes"):
        decoder.feed("data: a\n\n")
    for wrong, name in ((None, "NoneType"), (7, "int"), ([b"a"], "list"), (object(), "object")):
        with pytest.raises(TypeError, match=f"expected bytes or another buffer, got {name}"):
            decoder.feed(wrong)
    (item,) = decoder.feed(b'"x"}\n\n')
    assert item in (ServerSentEvent(data='{"id": "x"}'), ChatCompletionChunk(id="x"))


def test_a_buffer_may_be_changed_after_it_was_fed() -> None:
    buffer = bytearray(b"data: a\n\ndata: b\n\ndata: c")
    decoder = SSEDecoder().feed(buffer)
    assert next(decoder).data == "a"
    buffer[:] = b"\n" * 100
    buffer.clear()
    assert data(decoder.feed(b"\n\n")) == ["b", "c"]


# ChunkDecoder


PUSHES: dict[str, Callable[[bytes], Iterable[bytes]]] = {
    "whole": lambda body: [body],
    "byte by byte": lambda body: pieces(body, 1),
}


def outcome(decoder: ChunkDecoder[ChatCompletionChunk]) -> Iterator[str | type[Exception]]:
    for _ in range(20):
        try:
            yield from (item.text for item in decoder)
        except SSEWireError as error:
            yield type(error)
        else:
            return
    raise AssertionError("no end of errors")


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.parametrize("reads", PUSHES.values(), ids=PUSHES)
@pytest.mark.parametrize("eager", [True, False], ids=["after each read", "at the end"])
def test_a_chunk_decoder_comes_to_the_same_outcome_as_a_stream(
    case: Case, reads: Callable[[bytes], Iterable[bytes]], eager: bool
) -> None:
    decoder = ChunkDecoder(require_done=case.require_done, max_event_size=LIMIT)
    found: list[str | type[Exception]] = []
    for read in reads(case.body):
        assert decoder.feed(read) is decoder
        if eager:
            found += outcome(decoder)
    assert decoder.finish() is decoder
    found += outcome(decoder)
    assert found == case.outcome
    assert decoder.state == case.state
    assert decoder.done or case.state != "done"
    assert list(outcome(decoder.finish())) == []


def test_a_chunk_decoder_goes_on_behind_an_event_that_is_too_large() -> None:
    decoder = ChunkDecoder(max_event_size=100).feed(HELLO + sse(b"x" * 101) + STOP + DONE)
    assert next(decoder).text == "Hello"
    with pytest.raises(EventTooLargeError):
        next(decoder)
    assert texts(decoder) == [""]
    # A piece of the answer is missing, which the sentinel does not heal.
    assert (decoder.done, decoder.state) == (True, "error")


def test_a_chunk_decoder_tells_what_a_stream_tells() -> None:
    decoder = ChunkDecoder()
    assert (decoder.state, decoder.done, decoder.usage, decoder.finish_reasons) == ("open", False, None, {})
    list(decoder.feed(b"id: 1\n" + HELLO + chunk("", "stop", usage={"total_tokens": 4})))
    assert decoder.usage is not None
    assert (decoder.usage.total_tokens, decoder.finish_reasons, decoder.last_event_id) == (4, {0: "stop"}, "1")
    assert (decoder.events, decoder.chunks) == (2, 2)
    list(decoder.feed(DONE))
    assert (decoder.state, decoder.done) == ("done", True)


def test_a_chunk_decoder_ignores_what_is_fed_behind_the_sentinel() -> None:
    decoder = ChunkDecoder().feed(HELLO + DONE + ERROR)
    assert texts(decoder) == ["Hello"]
    assert texts(decoder.feed(HELLO).finish()) == []
    assert decoder.state == "done"


def test_a_chunk_decoder_that_is_reset_reads_another_stream() -> None:
    decoder = ChunkDecoder()
    with pytest.raises(APIError):
        list(decoder.feed(b"id: 1\n" + chunk("a", "stop", usage={"total_tokens": 4}) + ERROR))
    list(decoder.feed(DONE + HELLO))
    assert (decoder.state, decoder.done) == ("error", True)
    decoder.reset()
    assert (decoder.state, decoder.done, decoder.usage, decoder.finish_reasons) == ("open", False, None, {})
    assert (decoder.last_event_id, decoder.events, decoder.chunks) == ("", 0, 0)
    assert texts(decoder.feed(HELLO)) == ["Hello"]
    with pytest.raises(IncompleteStreamError):
        list(decoder.finish())
    decoder.reset()
    with pytest.raises(NotAStreamError):
        list(decoder.finish())
    assert decoder.state == "error"


def test_a_chunk_decoder_decodes_to_the_type_asked_for() -> None:
    assert list(ChunkDecoder(dict[str, Any]).feed(sse({"a": 1}))) == [{"a": 1}]
    with pytest.raises(DecodeError):
        next(ChunkDecoder(dict[str, int]).feed(sse({"a": "b"})))


def test_a_chunk_decoder_takes_nothing_behind_the_end_but_anything_behind_the_sentinel() -> None:
    decoder = ChunkDecoder()
    assert list(decoder.feed(b"data: [DONE]\n\n").feed(b"data: {}\n\n")) == []
    assert decoder.done
    decoder.finish()
    with pytest.raises(SSEWireError, match=r"reset\(\)"):
        decoder.feed(b"data: {}\n\n")
    decoder.reset()
    assert len(list(decoder.feed(b"data: {}\n\n"))) == 1
