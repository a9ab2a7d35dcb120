"""`idle_timeout` and `first_event_timeout`: how long a stream waits for its next event, and what ends the waiting.

The time is that of a clock which the sources of the tests move on; see test_silence.py for reads that are interrupted.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, NamedTuple, TypeAlias

import anyio
import pytest
import trio

from ssewire import (
    AsyncChatStream,
    AsyncEventStream,
    ChatStream,
    EventStream,
    IncompleteStreamError,
    StreamIdleError,
    idle,
)
from tests.unit.making import DONE, AsyncReads, AsyncResponse, Reads, Response, chunk

HELLO = chunk("Hello")
STOP = chunk("", "stop")
COMMENT = b": keep-alive\n\n"
PING = b"event: ping\ndata: {}\n\n"

# Seconds, by the clock of the test: nothing waits so long.
IDLE = 10.0
FIRST = 30.0

BACKENDS = ["asyncio", "trio"]


class Clock:
    """The time, which passes when somebody says so."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(idle, "monotonic", clock)
    return clock


class Late(NamedTuple):
    """A read, or an exception, that comes so many seconds after it was asked for; None is the end of the body."""

    seconds: float
    read: Any


def late(clock: Clock, item: Any) -> Any:
    """Wait for an item of a source."""
    if not isinstance(item, Late):
        return item
    clock.now += item.seconds
    if isinstance(item.read, BaseException):
        raise item.read
    return item.read


class LateReads(Reads):
    def __init__(self, clock: Clock, *reads: Any) -> None:
        super().__init__(*reads)
        self.clock = clock

    def __next__(self) -> Any:
        read = late(self.clock, super().__next__())
        if read is None:
            raise StopIteration
        return read


class AsyncLateReads(AsyncReads):
    def __init__(self, clock: Clock, *reads: Any) -> None:
        super().__init__(*reads)
        self.clock = clock

    async def __anext__(self) -> Any:
        read = late(self.clock, await super().__anext__())
        if read is None:
            raise StopAsyncIteration
        return read


class Way(NamedTuple):
    """A way to read a stream, synchronously and asynchronously."""

    start: Callable[[Any], Any]
    kind: tuple[type[Any], type[Any]] = (ChatStream, AsyncChatStream)

    def read(self, clock: Clock, *reads: Any, **options: Any) -> Outcome:
        response = Response()
        response.reads = LateReads(clock, *reads)
        stream = self.kind[0](response, **options)
        items: list[Any] = []
        try:
            items += self.start(stream)
        except Exception as error:
            return Outcome(items, error, stream, response)
        return Outcome(items, None, stream, response)

    def read_on(self, backend: str, clock: Clock, *reads: Any, **options: Any) -> Outcome:
        async def main() -> Outcome:
            response = AsyncResponse()
            response.reads = AsyncLateReads(clock, *reads)
            stream = self.kind[1](response, **options)
            items: list[Any] = []
            try:
                reading = self.start(stream)
                if isinstance(reading, Coroutine):
                    await reading
                else:
                    async for item in reading:
                        items.append(item)  # noqa: PERF401 - an error must not lose what came before it
            except Exception as error:
                return Outcome(items, error, stream, response)
            return Outcome(items, None, stream, response)

        return anyio.run(main, backend=backend)


class Outcome(NamedTuple):
    """What came of reading a stream to its end."""

    items: list[Any]
    error: Exception | None
    stream: Any
    response: Any


CHUNKS = Way(lambda stream: stream)
WAYS: dict[str, Way] = {
    "chunks": CHUNKS,
    "text": Way(lambda stream: stream.iter_text()),
    "text of a choice": Way(lambda stream: stream.iter_text(0)),
    "payloads": Way(lambda stream: stream.iter_payloads()),
    "pairs": Way(lambda stream: stream.iter_with_payload()),
    "batches": Way(lambda stream: stream.iter_batches()),
    "bytes": Way(lambda stream: stream.iter_bytes()),
    "collect": Way(lambda stream: stream.collect()),
    "events": Way(lambda stream: stream, (EventStream, AsyncEventStream)),
}

Read: TypeAlias = Callable[..., Outcome]


@pytest.fixture(params=["sync", *BACKENDS])
def read(request: pytest.FixtureRequest, clock: Clock) -> Read:
    """Read a stream in some way to its end or error, synchronously or on an event loop."""
    if request.param == "sync":
        return lambda way, *reads, **options: way.read(clock, *reads, **options)
    return lambda way, *reads, **options: way.read_on(request.param, clock, *reads, **options)


# What is in time


IN_TIME: dict[str, list[Any]] = {
    "each event within the limit, all together beyond it": [*[Late(9, HELLO)] * 5, DONE],
    "a late read with an event": [Late(50, HELLO), DONE],
    "a late read with the sentinel": [HELLO, Late(50, DONE)],
    "keep-alives before an event": [Late(4, COMMENT), Late(4, COMMENT), Late(50, COMMENT + HELLO), DONE],
    "an event behind a comment begins anew": [HELLO, *[Late(4, COMMENT), Late(4, HELLO)] * 5, DONE],
    "events of other names are events": [*[Late(6, PING)] * 5, HELLO, DONE],
    "an event whose last part comes late": [Late(9, HELLO[:9]), Late(50, HELLO[9:]), DONE],
}


@pytest.mark.parametrize("reads", IN_TIME.values(), ids=IN_TIME)
def test_in_time(read: Read, reads: list[Any]) -> None:
    outcome = read(CHUNKS, *reads, idle_timeout=IDLE)
    assert (outcome.error, outcome.stream.state) == (None, "done")
    assert {item.text for item in outcome.items} == {"Hello"}


def test_the_first_event_may_have_a_limit_of_its_own(read: Read) -> None:
    reads = [Late(20, COMMENT), Late(9, HELLO), Late(9, HELLO), DONE]
    outcome = read(CHUNKS, *reads, idle_timeout=IDLE, first_event_timeout=FIRST)
    assert (outcome.error, len(outcome.items)) == (None, 2)


def test_behind_the_first_event_its_limit_is_over(read: Read) -> None:
    outcome = read(CHUNKS, HELLO, Late(1000, COMMENT), Late(1000, HELLO), DONE, first_event_timeout=FIRST)
    assert (outcome.error, len(outcome.items)) == (None, 2)


def test_the_limit_of_the_first_event_may_be_the_shorter_one(read: Read) -> None:
    outcome = read(CHUNKS, Late(10, COMMENT), HELLO, DONE, idle_timeout=FIRST, first_event_timeout=IDLE)
    assert isinstance(outcome.error, StreamIdleError)
    assert (outcome.error.option, outcome.error.limit) == ("first_event_timeout", IDLE)


def test_no_limit_waits_for_ever(read: Read) -> None:
    outcome = read(CHUNKS, Late(1e9, COMMENT), Late(1e9, HELLO), DONE)
    assert (outcome.error, len(outcome.items)) == (None, 1)


def test_an_endless_limit_is_none(read: Read) -> None:
    outcome = read(CHUNKS, Late(1e9, COMMENT), HELLO, DONE, idle_timeout=float("inf"))
    assert (outcome.error, len(outcome.items)) == (None, 1)


def test_the_end_of_the_body_may_come_late(read: Read) -> None:
    outcome = read(CHUNKS, HELLO, STOP, Late(50, None), idle_timeout=IDLE)
    assert (outcome.error, outcome.stream.state) == (None, "finished")


def test_a_cut_body_is_incomplete_and_not_idle(read: Read) -> None:
    outcome = read(CHUNKS, HELLO, Late(50, None), idle_timeout=IDLE)
    assert isinstance(outcome.error, IncompleteStreamError)


@pytest.mark.parametrize("error", [OSError("reset"), TimeoutError("of the client"), trio.TooSlowError()])
def test_what_the_source_raises_passes_through_however_late(read: Read, error: Exception) -> None:
    outcome = read(CHUNKS, HELLO, Late(50, error), idle_timeout=IDLE)
    assert outcome.error is error
    assert outcome.stream.state == "incomplete"


def test_a_slow_reader_is_not_blamed(clock: Clock) -> None:
    stream = ChatStream(LateReads(clock, *[Late(1, HELLO)] * 3, Late(1, COMMENT), DONE), idle_timeout=IDLE)
    for item in stream:
        assert item.text == "Hello"
        clock.now += 1000
    assert (stream.stats.chunks, stream.state) == (3, "done")


@pytest.mark.anyio
async def test_a_slow_asynchronous_reader_is_not_blamed(clock: Clock) -> None:
    reads = AsyncLateReads(clock, *[Late(1, HELLO)] * 3, Late(1, COMMENT), DONE)
    stream = AsyncChatStream(reads, idle_timeout=IDLE)
    async for item in stream:
        assert item.text == "Hello"
        clock.now += 1000
    assert (stream.stats.chunks, stream.state) == (3, "done")


# What is not


class Told(NamedTuple):
    """What the error tells."""

    waited: float
    events: int
    comments: int | None


TOO_LATE: dict[str, tuple[list[Any], Told]] = {
    "keep-alives alone": ([Late(3, COMMENT)] * 9, Told(12, 0, 4)),
    "keep-alives behind an event": ([Late(9, HELLO), *[Late(3, COMMENT)] * 9], Told(12, 1, 4)),
    "as long as the limit, to the second": ([HELLO, Late(5, COMMENT), Late(5, COMMENT), DONE], Told(10, 1, 2)),
    "one late comment": ([HELLO, STOP, Late(50, COMMENT), DONE], Told(50, 2, 1)),
    "part of an event": ([HELLO, Late(5, HELLO[:9]), Late(5, HELLO[9:12]), HELLO[12:], DONE], Told(10, 1, 0)),
    "empty reads": ([HELLO, Late(5, b""), Late(5, b""), DONE], Told(10, 1, 0)),
    "blocks without data": ([HELLO, Late(5, b"id: 7\n\n"), Late(5, b"retry: 1\n\n"), DONE], Told(10, 1, 0)),
    "lines that are no field": ([HELLO, Late(5, b"pong\n"), Late(5, b"pong\n\n"), DONE], Told(10, 1, 0)),
    "behind a read of many events": ([HELLO * 300 + COMMENT, Late(50, COMMENT), DONE], Told(50, 300, 2)),
}


@pytest.mark.parametrize(("reads", "told"), TOO_LATE.values(), ids=TOO_LATE)
def test_too_late(read: Read, reads: list[Any], told: Told) -> None:
    outcome = read(CHUNKS, *reads, idle_timeout=IDLE)
    error = outcome.error
    assert isinstance(error, StreamIdleError)
    assert Told(error.waited, error.events, error.comments) == told
    assert (error.limit, error.option, error.completion) == (IDLE, "idle_timeout", None)
    assert len(outcome.items) == told.events


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_every_way_to_read_ends_and_lets_go_of_the_response(read: Read, way: Way) -> None:
    outcome = read(way, HELLO, *[Late(3, COMMENT)] * 9, idle_timeout=IDLE)
    error, response = outcome.error, outcome.response
    assert isinstance(error, StreamIdleError)
    assert (error.waited, error.events) == (12, 1)
    assert (outcome.stream.state, response.closed, response.generator_closed) == ("incomplete", 1, True)
    assert response.reads.asked == 5


@pytest.mark.parametrize(("way", "given"), [("text", ["Hello"]), ("bytes", [HELLO, *[COMMENT] * 4])])
def test_what_came_before_was_handed_out(read: Read, way: str, given: list[Any]) -> None:
    assert read(WAYS[way], HELLO, *[Late(3, COMMENT)] * 9, idle_timeout=IDLE).items == given


def test_the_first_event_does_not_come(read: Read) -> None:
    outcome = read(CHUNKS, *[Late(9, COMMENT)] * 9, idle_timeout=IDLE, first_event_timeout=FIRST)
    error = outcome.error
    assert isinstance(error, StreamIdleError)
    assert (error.limit, error.option, error.waited) == (FIRST, "first_event_timeout", 36)


def test_after_the_first_event_the_limit_is_the_other_one(read: Read) -> None:
    outcome = read(CHUNKS, HELLO, Late(12, COMMENT), DONE, idle_timeout=IDLE, first_event_timeout=FIRST)
    assert isinstance(outcome.error, StreamIdleError)
    assert (outcome.error.limit, outcome.error.option) == (IDLE, "idle_timeout")


def test_the_message_tells_how_long_for_what_and_what_came(read: Read) -> None:
    outcome = read(CHUNKS, HELLO, HELLO, Late(6.25, COMMENT), Late(6.25, COMMENT), DONE, idle_timeout=IDLE)
    assert str(outcome.error) == (
        "waited 12.5 s for an event, more than idle_timeout=10 allows (events before it: 2, keep-alive comments: 2)"
    )


@pytest.mark.parametrize("way", [way for name, way in WAYS.items() if name != "events"])
def test_the_error_has_the_answer_so_far(read: Read, way: Way) -> None:
    outcome = read(way, HELLO, chunk(" world"), *[Late(5, COMMENT)] * 9, idle_timeout=IDLE, accumulate=True)
    assert isinstance(outcome.error, StreamIdleError)
    assert outcome.error.completion is not None
    assert outcome.error.completion.text == "Hello world"
    assert outcome.stream.completion().text == "Hello world"


def test_collect_has_it_without_being_asked_to(read: Read) -> None:
    outcome = read(WAYS["collect"], HELLO, *[Late(5, COMMENT)] * 9, idle_timeout=IDLE)
    assert isinstance(outcome.error, StreamIdleError)
    assert outcome.error.completion is not None
    assert outcome.error.completion.text == "Hello"


def test_comments_are_no_events_although_they_are_shown(read: Read) -> None:
    reads = [HELLO, *[Late(6, COMMENT)] * 9]
    outcome = read(WAYS["events"], *reads, idle_timeout=IDLE, ignored_lines=True)
    assert isinstance(outcome.error, StreamIdleError)
    assert (outcome.error.waited, outcome.error.events, len(outcome.items)) == (12, 1, 3)


@pytest.mark.parametrize("kind", [ChatStream, EventStream])
def test_a_stream_with_a_limit_that_is_dropped_is_told_of_and_closed_at_once(kind: type[Any]) -> None:
    response = Response(HELLO, HELLO)
    streams = [kind(response, idle_timeout=IDLE)]
    next(streams[0])
    with pytest.warns(ResourceWarning, match="dropped before its end"):
        streams.clear()
    assert response.closed == 1


# Bytes are handed on whatever is in them


BEHIND: dict[str, list[bytes]] = {
    "events": [HELLO],
    "an event beyond the limit": [b"data: " + b"x" * 500 + b"\n\n"],
    "the sentinel": [HELLO, DONE],
}


@pytest.mark.parametrize("before", BEHIND.values(), ids=BEHIND)
def test_bytes_with_events_in_them_are_not_idle_whatever_came_before(read: Read, before: list[bytes]) -> None:
    outcome = read(WAYS["bytes"], *before, *[Late(6, HELLO)] * 5, idle_timeout=IDLE, max_event_size=400)
    assert (outcome.error, outcome.items) == (None, [*before, *[HELLO] * 5])


def test_the_body_of_a_refused_request_is_handed_on_as_long_as_it_comes(clock: Clock) -> None:
    response = Response(status=503)
    response.reads = LateReads(clock, *[Late(6, b"<p>sorry")] * 5)
    stream = ChatStream(response, idle_timeout=IDLE)
    assert list(stream.iter_bytes()) == [b"<p>sorry"] * 5


# Values


@pytest.mark.parametrize("value", [0, 0.0, -0.0, -1, float("nan"), float("-inf")])
@pytest.mark.parametrize("option", ["idle_timeout", "first_event_timeout"])
@pytest.mark.parametrize("kind", [ChatStream, AsyncChatStream, EventStream, AsyncEventStream])
def test_a_limit_is_above_zero(kind: type[Any], option: str, value: float) -> None:
    # What is no source at all would be told of, had anybody looked at it.
    with pytest.raises(ValueError, match=f"{option} is a number of seconds above 0, not {value!r}"):
        kind(object(), **{option: value})


@pytest.mark.parametrize("kind", [ChatStream, AsyncChatStream, EventStream, AsyncEventStream])
def test_a_limit_is_a_number(kind: type[Any]) -> None:
    with pytest.raises(TypeError):
        kind(object(), idle_timeout="5")


# Without an event loop


def test_without_an_event_loop_the_time_is_looked_at_when_a_read_returns(clock: Clock) -> None:
    stream = AsyncChatStream(AsyncLateReads(clock, Late(5, COMMENT), Late(5, COMMENT), HELLO), idle_timeout=IDLE)
    with pytest.raises(StreamIdleError):
        stream.__anext__().send(None)
    assert stream.state == "incomplete"
