"""From chunks to bytes in the middle of a stream, and never back: once `iter_bytes` was called there are bytes only.

Who asks for chunks then gets a clear error, and the bytes go on as if nobody had. What was read before they were begun
is not handed out by them, but it counts.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any, Final

import pytest

from ssewire import APIError, AsyncChatStream, ChatStream, DecodeError, IncompleteStreamError, SSEWireError
from tests.conftest import Run
from tests.unit.cases import HELLO, USAGE
from tests.unit.making import DONE, AsyncReads, Reads, chunk, lines, sse
from tests.unit.relaying import HELD, RELEASED, Relaying, counts

A, B, C, D, E = (chunk(name) for name in "abcde")

BYTES_ONLY: Final = (
    r"^this stream hands out its bytes since iter_bytes\(\) was begun, and no chunks; accumulate=True merges them$"
)


@pytest.fixture(params=["sync", "async"])
def kind(request: pytest.FixtureRequest, run: Run) -> Run | None:
    """Both kinds of stream, as `Relaying` takes them."""
    return run if request.param == "async" else None


# The ways to read chunks, and the text of what each gives.
WAYS: Final[dict[str, tuple[Callable[[Any], Any], Callable[[Any], str]]]] = {
    "chunks": (lambda stream: stream, lambda chunk: chunk.text),
    "an iterator over chunks": (
        lambda stream: iter(stream) if isinstance(stream, ChatStream) else aiter(stream),
        lambda chunk: chunk.text,
    ),
    "texts": (lambda stream: stream.iter_text(), str),
    "texts of a choice": (lambda stream: stream.iter_text(0), str),
    "payloads": (
        lambda stream: stream.iter_payloads(),
        lambda payload: str(json.loads(payload)["choices"][0]["delta"]["content"]),
    ),
    "pairs": (lambda stream: stream.iter_with_payload(), lambda pair: pair[1].text),
    "batches": (lambda stream: stream.iter_batches(1), lambda batch: "".join(chunk.text for chunk in batch)),
}

ways = pytest.mark.parametrize("way", [way for way, _ in WAYS.values()], ids=WAYS)
ways_with_text = pytest.mark.parametrize(("way", "text"), WAYS.values(), ids=WAYS)

CLOSED: Final = r"^the stream is closed: "


# Bytes only


@ways
@pytest.mark.parametrize("looks", [True, False])
def test_chunks_are_refused_and_the_bytes_go_on(way: Any, looks: bool, kind: Run | None) -> None:
    reads = [A + B[:9], B[9:] + sse(b"oops"), b"", USAGE + C + DONE, b"behind", b"more"]
    relaying = Relaying(kind, *reads, accumulate=True)
    stream = relaying.stream
    assert relaying.relay is not None
    for number, read in enumerate(reads, 1):
        with pytest.raises(SSEWireError, match=BYTES_ONLY):
            relaying.chunk(way(stream))
        assert relaying.next() == read
        if looks:
            assert stream.state == ("done" if number > 3 else "open")
        with pytest.raises(SSEWireError, match=BYTES_ONLY):
            relaying.chunk(way(stream))
        assert (relaying.released, relaying.response.reads.asked) == (HELD, number)
    assert relaying.next() is None
    with pytest.raises(SSEWireError, match=BYTES_ONLY):
        relaying.chunk(way(stream))
    assert (stream.state, stream.completion().text, relaying.released) == ("done", "abc", RELEASED)
    assert isinstance(stream.error, DecodeError)
    assert counts(stream) == {
        "bytes": len(b"".join(reads)),
        "events": 6,
        "chunks": 4,
        "comments": 0,
        "skipped_events": 0,
        "repaired": 0,
        "decode_errors": 1,
    }


@ways_with_text
def test_so_are_they_in_an_iterator_that_was_taken_before(way: Any, text: Any, kind: Run | None) -> None:
    relaying = Relaying(kind, A + B, C, D + DONE, b"behind", accumulate=True)
    taken = way(relaying.stream)
    assert text(relaying.chunk(taken)) == "a"
    for read in (C, D + DONE, b"behind", None):
        assert relaying.next() == read
        with pytest.raises(SSEWireError, match=BYTES_ONLY):
            relaying.chunk(taken)
    assert (relaying.stream.state, relaying.stream.completion().text, relaying.released) == ("done", "abcd", RELEASED)


@pytest.mark.parametrize("seed", range(20))
def test_in_any_order(seed: int, kind: Run | None) -> None:
    rng = random.Random(seed)
    reads = [A, B[:9], B[9:], sse(b"oops") + C, b"", D + DONE, b"behind", E]
    relaying = Relaying(kind, *reads, accumulate=True, drain=seed % 2 == 1)
    taken = [way(relaying.stream) for way, _ in WAYS.values()]
    assert relaying.relay is not None
    asks: list[Callable[[], Any]] = [
        *(lambda way=way: relaying.chunk(way(relaying.stream)) for way, _ in WAYS.values()),
        *(lambda items=items: relaying.chunk(items) for items in taken),
        relaying.collect,
    ]
    for read in [*reads, None]:
        for ask in rng.sample(asks, k=rng.randrange(4)):
            with pytest.raises(SSEWireError, match=BYTES_ONLY):
                ask()
        assert relaying.next() == read
    assert (relaying.stream.state, relaying.stream.completion().text, relaying.released) == ("done", "abcd", RELEASED)


@pytest.mark.parametrize("before", [0, 1, 3], ids=["before the first read", "in the middle", "at the end"])
def test_collecting_without_accumulate_is_refused_and_begins_no_merging(before: int, kind: Run | None) -> None:
    relaying = Relaying(kind, A, B, DONE)
    assert relaying.relay is not None
    for _ in range(before):
        relaying.next()
    assert relaying.stream.state == ("done" if before == 3 else "open")
    with pytest.raises(SSEWireError, match=BYTES_ONLY):
        relaying.collect()
    with pytest.raises(SSEWireError, match="nothing was merged"):
        relaying.stream.completion()
    assert relaying.rest() == [A, B, DONE][before:]


@ways
@pytest.mark.parametrize("last", [A, DONE])
def test_in_a_stream_that_was_closed_that_is_what_the_error_says(way: Any, last: bytes, kind: Run | None) -> None:
    relaying = Relaying(kind, last, B, accumulate=True)
    taken = way(relaying.stream)
    assert relaying.next() == last
    relaying.close()
    for items in (taken, way(relaying.stream), relaying.relay):
        with pytest.raises(SSEWireError, match=CLOSED):
            relaying.next(items)
    with pytest.raises(SSEWireError, match=CLOSED):
        relaying.collect()


def test_a_signal_that_comes_while_the_source_reads_closes(kind: Run | None) -> None:
    relaying = Relaying(kind, A, KeyboardInterrupt(), B)
    assert relaying.next() == A
    with pytest.raises(KeyboardInterrupt):
        relaying.next()
    assert (relaying.stream.state, relaying.released) == ("closed", RELEASED)
    for items in (relaying.relay, relaying.stream):
        with pytest.raises(SSEWireError, match=CLOSED):
            relaying.next(items)


@ways
def test_the_body_of_a_refused_request(way: Any, kind: Run | None) -> None:
    body = b'{"error": {"message": "busy"}}'
    relaying = Relaying(kind, body[:9], body[9:], status=503)
    for read in (body[:9], body[9:], None):
        assert relaying.next() == read
        with pytest.raises(SSEWireError, match=BYTES_ONLY):
            relaying.chunk(way(relaying.stream))
    error = relaying.stream.error
    assert isinstance(error, APIError)
    assert (error.status, error.message, relaying.stream.state, relaying.released) == (503, "busy", "error", RELEASED)


@pytest.mark.parametrize("error", [OSError("reset"), None])
def test_behind_a_body_that_broke_off(error: OSError | None, kind: Run | None) -> None:
    relaying = Relaying(kind, A, *([error] if error else []))
    assert relaying.next() == A
    if error:
        with pytest.raises(OSError, match="reset"):
            relaying.next()
    else:
        assert relaying.next() is None
    with pytest.raises(SSEWireError, match=BYTES_ONLY):
        relaying.chunk()
    assert (relaying.stream.state, relaying.released) == ("incomplete", RELEASED)


# Begun once


def test_whoever_calls_it_again_gets_the_same_relay(kind: Run | None) -> None:
    relaying = Relaying(kind, A, B)
    first = relaying.stream.iter_bytes()
    for read in (A, B, None):
        assert relaying.next() == read
        assert relaying.stream.iter_bytes() is first
    relaying.close()
    assert relaying.stream.iter_bytes() is first


def test_a_stream_that_is_closed_begins_none(kind: Run | None) -> None:
    relaying = Relaying(kind, A, B)
    relaying.close()
    with pytest.raises(SSEWireError, match="closed"):
        relaying.stream.iter_bytes()
    assert (relaying.response.reads.asked, relaying.released[0]) == (0, 1)


# From chunks to bytes


@ways_with_text
def test_bytes_go_on_behind_the_chunks(way: Any, text: Any, kind: Run | None) -> None:
    reads = [B, C + D[:9], D[9:] + DONE, E]
    relaying = Relaying(kind, A, *reads)
    assert text(relaying.chunk(way(relaying.stream))) == "a"
    assert relaying.rest() == reads
    assert (relaying.stream.state, relaying.stream.stats.chunks) == ("done", 4)
    assert relaying.stream.stats.bytes == len(A + b"".join(reads))


@ways_with_text
def test_what_a_read_brought_behind_the_last_chunk_counts(way: Any, text: Any, kind: Run | None) -> None:
    """Its bytes came with the chunk, so they are not handed out again; but all that is in them is known."""
    relaying = Relaying(kind, A + sse(b"oops") + B + USAGE + C[:9], C[9:], DONE, accumulate=True)
    stream = relaying.stream
    assert text(relaying.chunk(way(stream))) == "a"
    assert relaying.relay is not None
    assert (stream.completion().text, stream.stats.chunks, stream.stats.decode_errors) == ("ab", 3, 1)
    assert stream.usage is not None
    assert stream.usage.total_tokens == 5
    assert isinstance(stream.error, DecodeError)
    assert relaying.rest() == [C[9:], DONE]
    assert (stream.state, stream.completion().text, stream.stats.chunks) == ("done", "abc", 4)


def test_so_do_the_other_documents_of_an_event(kind: Run | None) -> None:
    relaying = Relaying(kind, lines(A[6:-2], B[6:-2], b"oops", C[6:-2]), DONE, accumulate=True)
    assert relaying.chunk().text == "a"
    assert relaying.rest() == [DONE]
    stream = relaying.stream
    assert (stream.completion().text, stream.stats.chunks, stream.stats.decode_errors) == ("abc", 3, 1)


def test_so_does_an_error_behind_a_batch(kind: Run | None) -> None:
    relaying = Relaying(kind, A + sse(b"oops") + B, DONE, accumulate=True)
    assert [item.text for item in relaying.chunk(relaying.stream.iter_batches())] == ["a"]
    assert relaying.rest() == [DONE]
    stream = relaying.stream
    assert isinstance(stream.error, DecodeError)
    assert (stream.completion().text, stream.stats.chunks, stream.stats.decode_errors) == ("ab", 2, 1)


def test_what_was_raised_before_is_no_error_that_was_passed_over(kind: Run | None) -> None:
    relaying = Relaying(kind, sse(b"oops") + A, B, DONE)
    with pytest.raises(DecodeError):
        relaying.chunk()
    assert relaying.rest() == [B, DONE]
    assert (relaying.stream.error, relaying.stream.state, relaying.stream.stats.chunks) == (None, "done", 2)


@pytest.mark.parametrize(
    ("reads", "status", "state", "error"),
    [
        ([chunk("a", "stop") + DONE, E], 200, "done", None),
        ([chunk("a", "stop")], 200, "finished", None),
        ([A], 200, "incomplete", IncompleteStreamError),
        ([b'{"error": {"message": "busy"}}'], 503, "error", APIError),
    ],
)
def test_behind_the_end_of_the_chunks_there_are_no_bytes(
    reads: list[bytes], status: int, state: str, error: type[Exception] | None, kind: Run | None
) -> None:
    relaying = Relaying(kind, *reads, status=status)
    if error is None:
        assert relaying.chunk().text == "a"
        assert relaying.chunk() is None
    else:
        with pytest.raises(error):
            list(iter(relaying.chunk, None))
    asked = relaying.response.reads.asked
    assert relaying.rest() == []
    assert (relaying.stream.state, relaying.stream.error) == (state, None)
    assert (relaying.response.reads.asked, relaying.released) == (asked, RELEASED)


def test_a_source_without_a_response(run: Run) -> None:
    stream = ChatStream(Reads(A, HELLO, DONE))
    assert next(stream).text == "a"
    assert list(stream.iter_bytes()) == [HELLO, DONE]

    async def main() -> None:
        stream = AsyncChatStream(AsyncReads(A, HELLO, DONE))
        assert (await anext(stream)).text == "a"
        assert [read async for read in stream.iter_bytes()] == [HELLO, DONE]

    run(main())
