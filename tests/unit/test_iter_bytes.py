"""`iter_bytes`: the reads as they are, whatever is in them, and at any moment what is known of those given so far."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pytest

from ssewire import (
    APIError,
    ChatAccumulator,
    ChatStream,
    ChunkDecoder,
    DecodeError,
    EventTooLargeError,
    NotAStreamError,
    SSEWireError,
)
from tests.conftest import Run
from tests.reading import cut, pieces, with_errors
from tests.unit.cases import CASES, ERROR, HELLO, LIMIT, STOP, USAGE, Case
from tests.unit.making import DONE, Response, chunk, lines, sse
from tests.unit.relaying import HELD, RELEASED, Relaying, counts

GZIP: Final = b"\x1f\x8b\x08\0" + bytes(60)


@pytest.fixture(params=["sync", "async"])
def kind(request: pytest.FixtureRequest, run: Run) -> Run | None:
    """Both kinds of stream, as `Relaying` takes them."""
    return run if request.param == "async" else None


# The same reads


def cuts(body: bytes) -> Iterator[list[bytes]]:
    yield [body]
    yield pieces(body, 1)
    yield pieces(body, 7)
    yield cut(body, [0, 3, 3, 20, 20, len(body), len(body)])


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_whatever_is_in_a_body_it_comes_as_it_is(case: Case, kind: Run | None) -> None:
    errors = [item for item in case.outcome if isinstance(item, type)]
    for reads in cuts(case.body):
        relaying = Relaying(kind, *reads, require_done=case.require_done, max_event_size=LIMIT)
        stream = relaying.stream
        assert relaying.rest() == reads
        assert stream.state == case.state
        assert type(stream.error) is (errors[-1] if errors else type(None))
        assert (stream.stats.bytes, stream.stats.chunks) == (len(case.body), len(case.outcome) - len(errors))
        assert relaying.released == RELEASED


def overwritten(reads: list[bytes], as_view: bool) -> Iterator[Any]:
    """Reads as clients hand them out that use one buffer for all."""
    for read in reads:
        buffer = bytearray(read)
        yield memoryview(buffer) if as_view else buffer
        buffer[:] = b"\n" * len(buffer)


@pytest.mark.parametrize("as_view", [True, False], ids=["memoryview", "bytearray"])
def test_a_read_is_the_users_own_although_the_source_uses_its_buffer_again(as_view: bool, kind: Run | None) -> None:
    reads = pieces(HELLO + STOP + DONE, 9)
    relaying = Relaying(kind, *[()], accumulate=True)
    relaying.response.reads._reads = overwritten(reads, as_view)
    given = relaying.rest()
    assert given == reads
    assert {type(read) for read in given} == {bytes}
    assert (relaying.stream.state, relaying.stream.completion().text) == ("done", "Hello")


def test_bytes_are_handed_on_without_a_copy(kind: Run | None) -> None:
    read = HELLO + DONE
    relaying = Relaying(kind, read)
    assert relaying.next() is read
    relaying.close()


@pytest.mark.parametrize("read", ["text", None, 3])
def test_what_is_no_bytes_is_an_error(read: Any, kind: Run | None) -> None:
    relaying = Relaying(kind, HELLO, read, HELLO)
    assert relaying.next() == HELLO
    with pytest.raises(TypeError, match="bytes"):
        relaying.next()
    assert (relaying.stream.state, relaying.stream.stats.chunks, relaying.released) == ("incomplete", 1, RELEASED)
    assert relaying.next() is None


# To the end of the body, and no further


def test_it_goes_on_past_the_sentinel_and_the_response_is_closed_at_the_end(kind: Run | None) -> None:
    reads = [HELLO + STOP + DONE[:9], DONE[9:] + USAGE, b"", b": bye\n\n" + ERROR, b"\xff{"]
    relaying = Relaying(kind, *reads, accumulate=True)
    stream, response = relaying.stream, relaying.response
    seen: list[Any] = []
    for read in reads:
        assert relaying.next() == read
        assert relaying.released == HELD
        seen.append((stream.state, stream.stats.bytes))
    ends = [len(b"".join(reads[:number])) for number in range(1, 6)]
    assert seen == list(zip(["open", "done", "done", "done", "done"], ends, strict=True))
    assert relaying.next() is None
    assert (relaying.released, response.reads.asked) == (RELEASED, 6)
    assert relaying.next() is None
    assert (relaying.released, response.reads.asked) == (RELEASED, 6)
    # Nothing behind the sentinel counts but its bytes.
    assert (stream.state, stream.error, stream.usage, stream.finish_reasons) == ("done", None, None, {0: "stop"})
    assert counts(stream) == {
        "bytes": ends[-1],
        "events": 3,
        "chunks": 2,
        "comments": 0,
        "skipped_events": 0,
        "repaired": 0,
        "decode_errors": 0,
    }


def test_a_stream_that_drains_asks_for_nothing_behind_the_end(kind: Run | None) -> None:
    relaying = Relaying(kind, HELLO, DONE, HELLO, drain=True)
    assert relaying.rest() == [HELLO, DONE, HELLO]
    assert (relaying.response.reads.asked, relaying.released) == (4, RELEASED)


REFUSED: Final[dict[str, tuple[bytes, type[APIError | NotAStreamError], str]]] = {
    "JSON": (b'{"error": {"message": "busy", "code": 9}}', APIError, "busy"),
    "an event": (sse({"error": {"message": "busy"}}), APIError, "busy"),
    "HTML": (b"<html><body>502 Bad Gateway</body></html>", NotAStreamError, "502 Bad Gateway"),
    "gzip": (GZIP, NotAStreamError, "gzip"),
    "nothing": (b"", NotAStreamError, "refused"),
    "a good stream": (HELLO + STOP + DONE, NotAStreamError, "refused"),
    "more than is kept": (b'{"detail": "busy"}' + b" " * 1_100_000, APIError, "busy"),
    "text, more than is kept": (b"no capacity" * 100_000, NotAStreamError, "no capacity"),
}


@pytest.mark.parametrize(("body", "error", "message"), REFUSED.values(), ids=REFUSED)
def test_the_body_of_a_refused_request(
    body: bytes, error: type[APIError | NotAStreamError], message: str, kind: Run | None
) -> None:
    for reads in ([body], pieces(body, 1 + len(body) // 30)):
        relaying = Relaying(kind, *reads, status=503, headers={"X": "y"}, accumulate=True)
        for read in reads:
            assert relaying.next() == read
            assert (relaying.stream.state, relaying.released) == ("open", HELD)
        assert relaying.rest() == []
        said = relaying.stream.error
        assert isinstance(said, error)
        assert message in str(said)
        with pytest.raises(error) as caught:
            next(ChatStream(Response(body, status=503, headers={"X": "y"})))
        known: Any = caught.value
        assert (str(said), said.body) == (str(known), known.body)
        assert (said.status, said.headers) == (503, {"x": "y"})
        assert (relaying.stream.state, relaying.stream.usage, relaying.released) == ("error", None, RELEASED)
        assert relaying.stream.completion().choices == []


@pytest.mark.parametrize("error", [OSError("reset"), APIError("said", body=None), SSEWireError("other")])
@pytest.mark.parametrize("before", [[HELLO], [], [HELLO, STOP, DONE]])
def test_an_exception_of_the_source_passes_through(error: Exception, before: list[bytes], kind: Run | None) -> None:
    relaying = Relaying(kind, *before, error, HELLO, accumulate=True)
    assert [relaying.next() for _ in before] == before
    with pytest.raises(type(error)) as caught:
        relaying.next()
    assert caught.value is error
    state = "done" if DONE in before else "error" if isinstance(error, APIError) else "incomplete"
    assert (relaying.stream.state, relaying.stream.stats.bytes) == (state, len(b"".join(before)))
    assert relaying.stream.completion().text == "Hello" * (HELLO in before)
    assert (relaying.released, relaying.response.reads.asked) == (RELEASED, len(before) + 1)
    assert relaying.next() is None
    assert relaying.response.reads.asked == len(before) + 1


def test_an_exception_of_a_refused_response_passes_through(kind: Run | None) -> None:
    relaying = Relaying(kind, b'{"error"', OSError("reset"), status=500)
    assert relaying.next() == b'{"error"'
    with pytest.raises(OSError, match="reset"):
        relaying.next()
    assert (relaying.stream.state, relaying.released) == ("incomplete", RELEASED)


# Left early


@pytest.mark.parametrize("last", [HELLO, b"", DONE, sse(b"oops"), HELLO[:9]])
def test_closing_before_the_end(last: bytes, kind: Run | None) -> None:
    relaying = Relaying(kind, USAGE, last, HELLO, accumulate=True)
    assert [relaying.next(), relaying.next()] == [USAGE, last]
    relaying.close()
    relaying.close()
    assert (relaying.released, relaying.response.reads.asked) == (RELEASED, 2)
    for _ in range(2):
        with pytest.raises(SSEWireError, match="closed"):
            relaying.next()


def test_what_was_given_before_a_stream_was_left_is_known_behind_it(kind: Run | None) -> None:
    """A gateway whose own client has gone must know what it owes."""
    relaying = Relaying(kind, HELLO, STOP + USAGE, b"never asked for", accumulate=True)
    assert [relaying.next(), relaying.next()] == [HELLO, STOP + USAGE]
    relaying.close()
    stream = relaying.stream
    assert (stream.state, stream.finish_reasons, stream.stats.chunks) == ("closed", {0: "stop"}, 3)
    assert stream.usage is not None
    assert stream.usage.total_tokens == 5
    assert stream.completion().text == "Hello"


def test_so_is_all_of_a_large_read(kind: Run | None) -> None:
    """It is looked at in many parts."""
    relaying = Relaying(kind, HELLO * 5000 + USAGE, HELLO, accumulate=True)
    assert relaying.next() == HELLO * 5000 + USAGE
    relaying.close()
    stream = relaying.stream
    assert (stream.state, stream.stats.chunks, stream.completion().text) == ("closed", 5001, "Hello" * 5000)
    assert stream.usage is not None


def test_a_stream_left_behind_its_sentinel_is_done(kind: Run | None) -> None:
    relaying = Relaying(kind, HELLO, DONE, HELLO)
    assert [relaying.next(), relaying.next()] == [HELLO, DONE]
    relaying.close()
    assert (relaying.stream.state, relaying.released) == ("done", RELEASED)


def test_leaving_the_block_closes(run: Run) -> None:
    relaying = Relaying(None, HELLO, HELLO)
    stream: Any = relaying.stream
    with stream:
        assert next(stream.iter_bytes()) == HELLO
    assert (stream.state, relaying.released) == ("closed", RELEASED)

    async def main() -> None:
        relaying = Relaying(run, HELLO, HELLO)
        stream: Any = relaying.stream
        async with stream:
            assert await anext(stream.iter_bytes()) == HELLO
        assert (stream.state, relaying.released) == ("closed", RELEASED)

    run(main())


# What is known


MIXED: Final = b"".join(
    (
        b"id: 7\n" + HELLO,
        b": hi\n\n",
        chunk("b", index=1),
        sse(b"oops"),
        lines(chunk("c")[6:-2], chunk("d", "length", index=1)[6:-2]),
        b"event: ping\ndata: {}\n\n",
        ERROR,
        USAGE,
        STOP + DONE + b"data: behind\n\n",
    )
)


@pytest.mark.parametrize("reads", [pieces(MIXED, 40), pieces(MIXED, 300), cut(MIXED, [9, 9, 100])])
def test_at_every_moment_all_is_known_of_the_bytes_given_so_far(reads: list[bytes], kind: Run | None) -> None:
    relaying = Relaying(kind, *reads, accumulate=True)
    stream = relaying.stream
    decoder = ChunkDecoder()
    accumulator = ChatAccumulator()
    for read in reads:
        assert relaying.next() == read
        errors: list[Any] = []
        for item in with_errors(decoder.feed(read)):
            if isinstance(item, Exception):
                errors.append(item)
            else:
                accumulator.add(item)
        assert stream.completion().choices == accumulator.completion().choices
        assert counts(stream) == counts(decoder)
        assert (stream.state, stream.usage, stream.finish_reasons, stream.last_event_id) == (
            decoder.state,
            decoder.usage,
            decoder.finish_reasons,
            decoder.last_event_id,
        )
        if errors:
            assert str(stream.error) == str(errors[-1])
    assert (relaying.rest(), stream.state) == ([], "error")


def test_the_last_error_stays_and_holds_nothing(kind: Run | None) -> None:
    relaying = Relaying(kind, HELLO, sse(b"oops"), sse(b"[1]") + HELLO, HELLO, DONE)
    seen = []
    while relaying.next() is not None:
        error = relaying.stream.error
        seen.append(error.payload if isinstance(error, DecodeError) else error)
    assert seen == [None, b"oops", b"[1]", b"[1]", b"[1]"]
    assert relaying.stream.error is not None
    assert relaying.stream.error.__traceback__ is None


def test_an_event_beyond_the_limit(kind: Run | None) -> None:
    reads = [HELLO, sse(b"x" * 500)[:300], sse(b"x" * 500)[300:], HELLO, DONE]
    relaying = Relaying(kind, *reads, max_event_size=LIMIT)
    assert relaying.rest() == reads
    assert isinstance(relaying.stream.error, EventTooLargeError)
    assert (relaying.stream.state, relaying.stream.stats.bytes) == ("error", len(b"".join(reads)))


def test_without_accumulate_there_is_no_completion(kind: Run | None) -> None:
    relaying = Relaying(kind, HELLO + DONE)
    assert relaying.rest() == [HELLO + DONE]
    with pytest.raises(SSEWireError, match="accumulate=True"):
        relaying.stream.completion()


def test_a_refused_request_that_is_left_early_says_so(kind: Run | None) -> None:
    refusal = b'{"error": {"message": "slow down", "type": "rate_limit"}}'
    relaying = Relaying(kind, refusal, b"more", status=429)
    assert relaying.next() == refusal
    assert relaying.stream.stats.bytes == len(refusal)
    relaying.close()
    assert isinstance(relaying.stream.error, APIError)
    assert (relaying.stream.error.message, relaying.stream.error.status) == ("slow down", 429)
    assert (relaying.stream.state, relaying.released) == ("error", RELEASED)
