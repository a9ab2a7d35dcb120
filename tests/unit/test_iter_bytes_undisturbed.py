"""Nothing disturbs the bytes of `iter_bytes`: no function of the user's own, no signal, no decoder that breaks down."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Final

import msgspec
import pytest

from ssewire import ChatStream, DecodeError, SSEWireError
from tests.conftest import Run
from tests.unit.cases import HELLO, STOP, USAGE
from tests.unit.making import DONE, Response, sse
from tests.unit.relaying import RELEASED, Relaying


@pytest.fixture(params=["sync", "async"])
def kind(request: pytest.FixtureRequest, run: Run) -> Run | None:
    """Both kinds of stream, as `Relaying` takes them."""
    return run if request.param == "async" else None


# The user's own functions


def test_a_function_for_undecodable_events_is_called_for_each(kind: Run | None) -> None:
    seen: list[bytes] = []
    reads = [sse(b"oops") + HELLO, sse(b"[1]"), DONE]
    relaying = Relaying(kind, *reads, on_decode_error=lambda error: seen.append(error.payload))
    assert relaying.rest() == reads
    assert (seen, relaying.stream.error, relaying.stream.state) == ([b"oops", b"[1]"], None, "done")
    assert relaying.stream.stats.decode_errors == 2


@pytest.mark.parametrize(
    "error", [OSError("full"), SSEWireError("mine"), StopIteration(), RecursionError(), MemoryError()]
)
def test_what_it_raises_stops_nothing(error: Exception, kind: Run | None) -> None:
    def fails(_: DecodeError) -> None:
        raise error

    reads = [sse(b"oops") * 20 + HELLO, sse(b"oops"), STOP + DONE, b"behind"]
    relaying = Relaying(kind, *reads, on_decode_error=fails)
    assert relaying.rest() == reads
    stream = relaying.stream
    assert (stream.state, stream.stats.chunks, stream.stats.decode_errors) == ("done", 2, 21)
    if isinstance(error, StopIteration):
        assert isinstance(stream.error, RuntimeError)
    else:
        assert stream.error is error


QUESTIONS: Final[dict[str, tuple[Callable[[Any], Any], Any]]] = {
    "state": (lambda stream: stream.state, "open"),
    "usage": (lambda stream: stream.usage.total_tokens, 5),
    "finish reasons": (lambda stream: stream.finish_reasons, {0: "stop"}),
    "last event id": (lambda stream: stream.last_event_id, "7"),
    "stats": (lambda stream: (stream.stats.chunks, stream.stats.decode_errors), (3, 1)),
    "completion": (lambda stream: stream.completion().text, "Hello"),
    "error": (lambda stream: stream.error, None),
}

HANDED_OUT: Final = b"id: 7\n" + HELLO + STOP + USAGE + sse(b"oops") + HELLO

# Who looks at what was handed out.
LOOKS: Final[dict[str, Callable[[Relaying], Any]]] = {
    "the relay": lambda relaying: relaying.next(),
    "who asks": lambda relaying: relaying.stream.state,
    "closing": lambda relaying: relaying.close(),
}

looks = pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)


@looks
@pytest.mark.parametrize(("question", "answer"), QUESTIONS.values(), ids=QUESTIONS)
def test_it_may_ask_how_the_stream_stands(
    question: Callable[[Any], Any], answer: Any, look: Callable[[Relaying], Any], kind: Run | None
) -> None:
    """The answer is that of the events before this one."""
    answers: list[Any] = []
    relaying: Relaying = Relaying(
        kind,
        HANDED_OUT,
        DONE,
        accumulate=True,
        on_decode_error=lambda _: answers.append(question(relaying.stream)),
    )
    assert relaying.next() == HANDED_OUT
    look(relaying)
    assert answers == [answer]
    stream = relaying.stream
    assert (stream.stats.chunks, stream.completion().text, stream.error) == (4, "HelloHello", None)
    relaying.close()


@looks
def test_so_may_a_chunk_type_of_ones_own(look: Callable[[Relaying], Any], kind: Run | None) -> None:
    answers: list[Any] = []

    class Own(msgspec.Struct):
        choices: list[Any]

        def __post_init__(self) -> None:
            answers.append((relaying.stream.state, relaying.stream.stats.chunks, relaying.stream.completion().text))

    relaying = Relaying(kind, HELLO + HELLO, DONE, type=Own, accumulate=True)
    assert relaying.next() == HELLO + HELLO
    look(relaying)
    assert answers == [("open", 0, ""), ("open", 1, "Hello")]
    relaying.close()


@looks
def test_it_may_close_the_stream(look: Callable[[Relaying], Any]) -> None:
    relaying: Relaying = Relaying(None, HELLO + sse(b"oops"), HELLO, on_decode_error=lambda _: relaying.close())
    assert relaying.next() == HELLO + sse(b"oops")
    with suppress(SSEWireError):
        look(relaying)
    with pytest.raises(SSEWireError, match="closed"):
        relaying.next()
    stream = relaying.stream
    assert (stream.state, stream.error, stream.stats.chunks) == ("closed", None, 1)
    assert (relaying.released, relaying.response.reads.asked) == (RELEASED, 1)


@pytest.mark.parametrize("read", [Relaying.chunk, Relaying.next], ids=["chunks", "bytes"])
@pytest.mark.parametrize("by_the_relay", [True, False])
def test_it_cannot_read_the_stream_and_loses_nothing(read: Callable[[Relaying], Any], by_the_relay: bool) -> None:
    reads = [sse(b"oops"), HELLO, DONE, b"behind"]
    relaying: Relaying = Relaying(None, *reads, on_decode_error=lambda _: read(relaying))
    assert relaying.next() == reads[0]
    if not by_the_relay:
        assert relaying.stream.state == "open"
    assert relaying.rest() == reads[1:]
    stream = relaying.stream
    assert (stream.state, stream.stats.chunks, relaying.released) == ("done", 1, RELEASED)
    assert isinstance(stream.error, SSEWireError)
    assert "being read" in str(stream.error)


def recurse() -> None:
    recurse()


def refuse() -> None:
    raise OSError("full")


@pytest.mark.parametrize("does", [recurse, refuse])
def test_a_chunk_type_of_ones_own_that_fails(does: Callable[[], None], kind: Run | None) -> None:
    class Own(msgspec.Struct):
        choices: list[Any]

        def __post_init__(self) -> None:
            does()

    reads = [HELLO, STOP, DONE, HELLO]
    relaying = Relaying(kind, *reads, type=Own)
    assert relaying.rest() == reads
    assert isinstance(relaying.stream.error, DecodeError)
    assert (relaying.stream.state, relaying.stream.stats.decode_errors) == ("done", 2)


def test_a_read_is_looked_at_behind_the_moment_it_is_handed_out_and_before_the_next_is_asked_for(
    kind: Run | None,
) -> None:
    """So however long it takes, it delays no byte of it."""
    order: list[str] = []

    class Own(msgspec.Struct):
        id: str
        choices: list[Any] = []

        def __post_init__(self) -> None:
            order.append(f"looked at {self.id}")

    def reads() -> Iterator[bytes]:
        for name in "abc":
            order.append(f"asked for {name}")
            yield sse({"id": name})

    relaying = Relaying(kind, type=Own)
    relaying.response.reads._reads = reads()
    while (read := relaying.next()) is not None:
        order.append(f"given {chr(read[13])}")
    assert order == [f"{what} {name}" for name in "abc" for what in ("asked for", "given", "looked at")]


@looks
def test_a_signal_while_a_read_is_looked_at_loses_no_byte_and_closes(
    look: Callable[[Relaying], Any], kind: Run | None
) -> None:
    class Own(msgspec.Struct):
        choices: list[Any]

        def __post_init__(self) -> None:
            raise KeyboardInterrupt

    relaying = Relaying(kind, HELLO, HELLO, type=Own)
    assert relaying.next() == HELLO
    with pytest.raises(KeyboardInterrupt):
        look(relaying)
    # No read was asked for, so none is lost.
    assert (relaying.stream.state, relaying.response.reads.asked) == ("closed", 1)
    with pytest.raises(SSEWireError, match="closed"):
        relaying.next()
    relaying.close()
    assert relaying.released == RELEASED


# No endless loop


class Broken:
    """A decoder that breaks down when it looks at what it was fed, and refuses everything from then on."""

    over = False

    def __init__(self) -> None:
        self.closed = False
        self.asked = 0

    def relay(self) -> None:
        pass

    def feed(self, _: object) -> None:
        assert not self.closed

    def finish(self) -> None:
        assert not self.closed

    def follow(self) -> bool:
        self.asked += 1
        self.closed = True
        raise SSEWireError("a bug in ssewire")


def test_a_decoder_that_has_broken_down_is_asked_no_more() -> None:
    response = Response(HELLO, HELLO, DONE)
    stream = ChatStream(response)
    broken: Any = Broken()
    stream._decoder = broken
    relay = stream.iter_bytes()
    for read in (HELLO, HELLO, DONE):
        assert (next(relay), stream.state) == (read, "open")
    assert list(relay) == []
    assert (str(stream.error), stream.state, response.closed) == ("a bug in ssewire", "incomplete", 1)
    assert broken.asked == 1


def deep(depth: int, step: Callable[[], Any]) -> Any:
    return deep(depth - 1, step) if depth else step()


def test_at_the_limit_of_recursion_a_read_comes_whole_or_not_at_all() -> None:
    """The error comes out before a read is asked for, and nothing goes round for ever."""
    raised = 0
    for left in range(1, 60):
        relaying = Relaying(None, HELLO + sse(b"oops") + DONE, b"x", b"y")
        given = [relaying.next()]
        try:
            given.append(deep(sys.getrecursionlimit() - left, relaying.next))
        except RecursionError:
            raised += 1
        assert given + relaying.rest() == [HELLO + sse(b"oops") + DONE, b"x", b"y"]
    assert 0 < raised < 59
