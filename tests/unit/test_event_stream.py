"""EventStream and AsyncEventStream: end states, errors and the fields in force (framing has tests of its own)."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from ssewire import (
    AsyncEventStream,
    EventStream,
    EventTooLargeError,
    IgnoredLine,
    NotAStreamError,
    ServerSentEvent,
    SSEWireError,
)
from tests.reading import pieces
from tests.unit.making import AsyncReads, AsyncResponse, Reads, Response

A, B = ServerSentEvent(data="a"), ServerSentEvent(data="b")
BODY = b"data: a\n\ndata: b\n\n"


@pytest.mark.parametrize("size", [1, 5, 100])
def test_the_end_of_the_body_finishes_and_an_unfinished_event_is_dropped(size: int) -> None:
    source = Reads(*pieces(BODY + b"data: c\n", size))
    stream = EventStream(source)
    assert (stream.state, source.asked) == ("open", 0)
    assert list(stream) == [A, B]
    assert (stream.state, source.closed) == ("finished", 1)
    assert list(stream) == []
    stream.close()
    assert (stream.state, source.closed) == ("finished", 1)


def test_the_sentinel_is_an_event_like_any_other() -> None:
    assert [event.data for event in EventStream([b"data: [DONE]\n\n" + BODY])] == ["[DONE]", "a", "b"]


@pytest.mark.parametrize("body", [b"", b": hi\n\n", b"<html></html>", bytes(1000)])
def test_a_body_without_an_event_gives_none(body: bytes) -> None:
    stream = EventStream([body])
    assert list(stream) == []
    assert stream.state == "finished"


def test_a_second_loop_goes_on_where_the_first_stopped() -> None:
    source = Reads(BODY)
    stream = EventStream(source)
    for event in stream:
        assert event == A
        break
    assert (stream.state, source.closed) == ("open", 0)
    assert list(stream) == [B]


def test_ignored_lines_come_on_request() -> None:
    stream = EventStream([b": hi\nfoo\n" + BODY], ignored_lines=True)
    assert list(stream) == [IgnoredLine(b": hi"), IgnoredLine(b"foo"), A, B]


def test_fields_in_force_are_those_of_the_events_so_far() -> None:
    stream = EventStream([b"id: 1\nretry: 7\n" + BODY + b"id: 2\n", BODY + b"id: 3\n\n"])
    assert (stream.last_event_id, stream.retry) == ("", None)
    assert [(event.data, stream.last_event_id, stream.retry) for event in stream] == [
        ("a", "1", 7),
        ("b", "1", 7),
        ("a", "2", 7),
        ("b", "2", 7),
    ]
    assert stream.last_event_id == "3"


def test_an_event_that_is_too_large_ends_the_stream_behind_what_came_before() -> None:
    response = Response(BODY + b"data: " + b"x" * 11, b"\n\n" + BODY)
    stream = EventStream(response, max_event_size=10)
    assert [next(stream), next(stream)] == [A, B]
    with pytest.raises(EventTooLargeError) as caught:
        next(stream)
    assert (caught.value.limit, caught.value.offset) == (10, len(BODY))
    assert (stream.state, response.closed, list(stream)) == ("error", 1, [])


def test_a_bad_status_is_an_error() -> None:
    response = Response(BODY, status=500, headers={"A": "b"})
    stream = EventStream(response)
    with pytest.raises(NotAStreamError, match="status 500") as caught:
        next(stream)
    assert (caught.value.status, caught.value.headers, caught.value.body) == (500, {"a": "b"}, BODY)
    assert (stream.state, response.closed, list(stream)) == ("error", 1, [])


@pytest.mark.parametrize(
    ("error", "state"), [(OSError("reset"), "incomplete"), (KeyboardInterrupt(), "closed"), (SystemExit(), "closed")]
)
def test_an_error_of_the_source_passes_through_as_it_is(error: BaseException, state: str) -> None:
    source = Reads(BODY, error)
    stream = EventStream(source)
    assert [next(stream), next(stream)] == [A, B]
    with pytest.raises(type(error)) as caught:
        next(stream)
    assert caught.value is error
    assert (stream.state, source.closed) == (state, 1)
    if state == "closed":
        with pytest.raises(SSEWireError, match="closed"):
            next(stream)
    else:
        assert list(stream) == []


def test_leaving_the_block_closes_and_a_closed_stream_raises() -> None:
    response = Response(BODY, BODY)
    with EventStream(response) as stream:
        next(stream)
    assert (stream.state, response.closed, response.generator_closed) == ("closed", 1, True)
    for reader in (stream, iter(stream)):
        with pytest.raises(SSEWireError, match="closed"):
            next(reader)


@pytest.mark.anyio
@pytest.mark.parametrize("size", [1, 100])
async def test_the_asynchronous_stream_comes_to_the_same(size: int) -> None:
    source = AsyncReads(*pieces(b": hi\nid: 1\nretry: 7\n" + BODY + b"data: c\n", size))
    stream = AsyncEventStream(source, ignored_lines=True)
    items = [item async for item in stream]
    assert items == [
        IgnoredLine(b": hi"),
        ServerSentEvent(data="a", id="1", retry=7),
        ServerSentEvent(data="b", id="1"),
    ]
    assert (stream.state, stream.last_event_id, stream.retry, source.closed) == ("finished", "1", 7, 1)
    assert [item async for item in stream] == []


class Interruption(BaseException):
    """What is no Exception, and yet leaves the event loop of the test alone."""


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("reads", "status", "error", "state"),
    [
        ([BODY, OSError("reset")], 200, OSError, "incomplete"),
        ([BODY, Interruption()], 200, Interruption, "closed"),
        ([BODY, "text"], 200, TypeError, "incomplete"),
        ([BODY, b"data: " + b"x" * 99], 200, EventTooLargeError, "error"),
        ([BODY], 404, NotAStreamError, "error"),
    ],
)
async def test_the_asynchronous_stream_fails_and_closes_in_the_same_way(
    reads: list[Any], status: int, error: type[BaseException], state: str
) -> None:
    response = AsyncResponse(*reads, status=status)
    stream = AsyncEventStream(response, max_event_size=20)
    if status == 200:
        assert [await anext(stream), await anext(stream)] == [A, B]
    with pytest.raises(error):
        await anext(stream)
    assert (stream.state, response.closed, response.generator_closed) == (state, 1, True)


@pytest.mark.anyio
async def test_a_cancelled_read_leaves_the_asynchronous_stream_closed() -> None:
    response = AsyncResponse(BODY, anyio.sleep_forever)
    stream = AsyncEventStream(response)
    assert [await anext(stream), await anext(stream)] == [A, B]
    with anyio.CancelScope() as scope:
        scope.cancel()
        await anext(stream)
    assert scope.cancelled_caught
    assert (stream.state, response.closed, response.generator_closed) == ("closed", 1, True)
    with pytest.raises(SSEWireError, match="closed"):
        await anext(stream)
