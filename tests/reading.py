"""Reading a body in pieces with everything that reads one, in the terms of the oracle, to be compared with it."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

from ssewire import (
    AsyncEventStream,
    EventStream,
    EventTooLargeError,
    IgnoredLine,
    IncompleteStreamError,
    ServerSentEvent,
    SSEDecoder,
    SSEWireError,
    _core,
)
from ssewire.decode import DEFAULT_MAX_EVENT_SIZE
from tests.oracle import Event, Ignored

T = TypeVar("T")


class TooLarge(NamedTuple):
    """An event beyond the limit."""

    limit: int
    offset: int


Step = Event | Ignored | TooLarge


class Outcome(NamedTuple):
    """What came out of a body, and what is in force at its end."""

    steps: list[Any]
    last_event_id: str
    retry: int | None


def cut(body: bytes, places: Iterable[int]) -> list[bytes]:
    """Cut a body at some places, in any order; twice the same makes an empty read."""
    edges = [0, *sorted(place % (len(body) + 1) for place in places), len(body)]
    return [body[start:end] for start, end in itertools.pairwise(edges)]


def pieces(body: bytes, size: int) -> list[bytes]:
    """Cut a body into pieces of one size."""
    return [body[start : start + size] for start in range(0, len(body), size)]


def plain(item: ServerSentEvent | IgnoredLine) -> Step:
    """An item in the oracle's terms."""
    if isinstance(item, IgnoredLine):
        assert item.text == item.payload.decode("utf-8", "replace")
        return Ignored(item.payload, item.comment, item.in_event)
    assert item.data == item.payload.decode("utf-8", "replace")
    return Event(item.event, item.payload, item.id, item.retry)


def drain(decoder: Iterator[ServerSentEvent | IgnoredLine]) -> Iterator[Step]:
    """What a decoder has now, its errors among it."""
    while True:
        try:
            yield from map(plain, decoder)
        except EventTooLargeError as error:
            yield TooLarge(error.limit, error.offset)
        else:
            return


def framing_ahead(detach_min: int, *, max_event_size: int = DEFAULT_MAX_EVENT_SIZE, ignored_lines: bool = False) -> Any:
    """An SSEDecoder that frames ahead where so many bytes are left in a read; as a rule it takes a mebibyte."""
    return _core.SSEDecoder(max_event_size=max_event_size, ignored_lines=ignored_lines, detach_min=detach_min)


def with_decoder(reads: Iterable[Any], *, detach_min: int | None = None, **options: Any) -> Outcome:
    """Push the reads into an SSEDecoder."""
    decoder = SSEDecoder(**options) if detach_min is None else framing_ahead(detach_min, **options)
    steps: list[Step] = []
    for read in reads:
        steps += drain(decoder.feed(read))
    steps += drain(decoder.finish())
    return Outcome(steps, decoder.last_event_id, decoder.retry)


def with_stream(reads: Iterable[Any], **options: Any) -> Outcome:
    """Let an EventStream pull the reads."""
    stream = EventStream(iter(reads), **options)
    steps = [plain(item) for item in stream]
    assert stream.state == "finished"
    return Outcome(steps, stream.last_event_id, stream.retry)


async def with_async_stream(reads: Iterable[Any], **options: Any) -> Outcome:
    """Let an AsyncEventStream await the reads."""
    stream = AsyncEventStream(awaited(reads), **options)
    steps = [plain(item) async for item in stream]
    assert stream.state == "finished"
    return Outcome(steps, stream.last_event_id, stream.retry)


async def awaited(reads: Iterable[Any]) -> AsyncIterator[Any]:
    """The reads as an asynchronous source."""
    for read in reads:
        yield read


def every_cut(body: bytes) -> Iterator[Sequence[bytes]]:
    """Whole, byte by byte, and every way to cut it in two."""
    yield [body]
    yield pieces(body, 1)
    for at in range(1, len(body)):
        yield [body[:at], body[at:]]


def until_incomplete(items: Iterable[Any]) -> Iterator[Any]:
    """All items, and no complaint where the body has no end: some tests are about what comes before it."""
    try:
        yield from items
    except IncompleteStreamError:
        return


async def all_of(items: AsyncIterator[Any]) -> list[Any]:
    """All items of an asynchronous iterator, as `until_incomplete` gives them."""
    found: list[Any] = []
    try:
        async for item in items:
            found.append(item)  # noqa: PERF401 - an error must not lose what came before it
    except IncompleteStreamError:
        pass
    return found


# More errors than any body of the tests has; a reader that gives one for ever must not hang them.
_ERRORS = 1000


def with_errors(items: Iterable[T]) -> list[T | SSEWireError]:
    """All items and errors in their order: a reader goes on behind every error."""
    found: list[T | SSEWireError] = []
    iterator = iter(items)
    for _ in range(_ERRORS):
        try:
            found.extend(iterator)
        except SSEWireError as error:
            found.append(error)
        else:
            return found
    raise AssertionError("no end of errors")


async def with_errors_async(items: AsyncIterator[T]) -> list[T | SSEWireError]:
    """The same of an asynchronous iterator."""
    found: list[T | SSEWireError] = []
    for _ in range(_ERRORS):
        try:
            async for item in items:
                found.append(item)  # noqa: PERF401 - an error must not lose what came before it
        except SSEWireError as error:
            found.append(error)
        else:
            return found
    raise AssertionError("no end of errors")
