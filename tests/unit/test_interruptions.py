"""A signal while an event is worked on: it comes out as it is, and the stream is closed, for part of the event is lost.

What is left of the event, and what comes behind it, must not be handed out as if nothing were missing.
"""

from __future__ import annotations

import asyncio
import signal
import time
from _thread import interrupt_main
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain, repeat
from operator import truediv
from random import Random
from threading import Thread
from typing import Any, Final

import msgspec
import pytest

from ssewire import AsyncChatStream, ChatStream, ChunkDecoder, DecodeError, EventStream, SSEWireError
from tests.conftest import Run
from tests.unit.making import DONE, AsyncResponse, Response, chunk, lines, sse

# A timer that has not gone off by then never will.
TIMEOUT: Final = 10.0


class AlarmError(BaseException):
    """What the handler of the timer raises; no `Exception`, so that nobody takes it for a fault of the payload."""


def press_ctrl_c() -> None:
    signal.raise_signal(signal.SIGINT)


def wait_for_the_timer() -> None:
    signal.setitimer(signal.ITIMER_REAL, 0.001)
    time.sleep(TIMEOUT)


def raise_alarm(_number: int, _frame: object) -> None:
    raise AlarmError


def raise_interrupt(_number: int, _frame: object) -> None:
    """As the usual handler, for which asyncio would put its own."""
    raise KeyboardInterrupt


SIGNALS: Final = {"Ctrl-C": press_ctrl_c}
if hasattr(signal, "setitimer"):
    SIGNALS["timer"] = wait_for_the_timer

Interrupt = Callable[[], None]


@pytest.fixture(params=SIGNALS.values(), ids=list(SIGNALS))
def interrupt(request: pytest.FixtureRequest) -> Iterator[Interrupt]:
    """Something that is interrupted by a real signal, whose handler raises."""
    before = [(signal.SIGINT, signal.signal(signal.SIGINT, raise_interrupt))]
    if hasattr(signal, "setitimer"):
        before.append((signal.SIGALRM, signal.signal(signal.SIGALRM, raise_alarm)))
    yield request.param
    for number, handler in before:
        signal.signal(number, handler)


A, B, C = (b'{"id":"%b","choices":[]}' % name for name in (b"a", b"b", b"c"))

# Behind "a" comes what is interrupted: the decode of "b" of a type of one's own, or the function for what is no JSON.
INTERRUPTED: Final[dict[str, tuple[bytes, str]]] = {
    "decode, lines": (lines(A, B, C), "decode"),
    "decode, documents": (lines(A + B + C), "decode"),
    "decode, an event of its own": (sse(A) + sse(B) + sse(C), "decode"),
    "decode, a name": (b"event: chunk\n" + lines(A, B, C), "decode"),
    "decode, beside an error": (sse(A) + sse(B.replace(b"{", b'{"error":"m",')) + sse(C), "decode"),
    "decode, the second decoder": (sse(A) + sse(B.replace(b"{", b'{"x":NaN,')) + sse(C), "decode"),
    "function, lines": (lines(A, b"oops", C), "function"),
    "function, documents on a line": (lines(A, C + b"{", C), "function"),
    "function, an event of its own": (sse(A) + sse(b"oops") + sse(C), "function"),
    "function, a name": (b"event: chunk\n" + lines(A, b"oops", C), "function"),
}

interrupted = pytest.mark.parametrize(("body", "place"), INTERRUPTED.values(), ids=INTERRUPTED)


def options(place: str, interrupt: Interrupt) -> dict[str, Any]:
    """What makes a stream be interrupted in that place."""

    class Own(msgspec.Struct):
        id: str
        choices: list[Any]

        def __post_init__(self) -> None:
            if place == "decode" and self.id == "b":
                interrupt()

    def on_decode_error(_: DecodeError) -> None:
        interrupt()

    return {"type": Own, "on_decode_error": on_decode_error}


CAUGHT: Final = (KeyboardInterrupt, AlarmError)


@interrupted
def test_a_stream_is_closed(body: bytes, place: str, interrupt: Interrupt) -> None:
    response = Response(body, sse(C), DONE)
    stream = ChatStream(response, **options(place, interrupt))
    assert next(stream).id == "a"
    with pytest.raises(CAUGHT):
        next(stream)
    assert (stream.state, response.closed, response.generator_closed) == ("closed", 1, True)
    for reader in (stream, stream.iter_text(), stream.iter_payloads(), stream.iter_with_payload()):
        with pytest.raises(SSEWireError, match="closed"):
            next(reader)
    stream.close()
    assert (stream.state, stream.stats.chunks, response.closed, response.reads.asked) == ("closed", 1, 1, 1)


@interrupted
def test_so_it_is_when_it_is_read_in_pairs(body: bytes, place: str, interrupt: Interrupt) -> None:
    response = Response(body, sse(C), DONE)
    stream = ChatStream(response, **options(place, interrupt))
    pairs = stream.iter_with_payload()
    assert next(pairs)[1].id == "a"
    with pytest.raises(CAUGHT):
        next(pairs)
    with pytest.raises(SSEWireError, match="closed"):
        next(pairs)
    assert (stream.state, response.closed, response.generator_closed) == ("closed", 1, True)


@interrupted
def test_an_asynchronous_stream_is_closed(body: bytes, place: str, interrupt: Interrupt, run: Run) -> None:
    async def main() -> None:
        response = AsyncResponse(body, sse(C), DONE)
        stream = AsyncChatStream(response, **options(place, interrupt))
        assert (await anext(stream)).id == "a"
        with pytest.raises(CAUGHT):
            await anext(stream)
        assert (stream.state, response.closed, response.generator_closed) == ("closed", 1, True)
        for reader in (stream, stream.iter_text(), stream.iter_payloads(), stream.iter_with_payload()):
            with pytest.raises(SSEWireError, match="closed"):
                await anext(reader)
        await stream.aclose()
        assert (stream.state, stream.stats.chunks, response.closed, response.reads.asked) == ("closed", 1, 1, 1)

    run(main())


@interrupted
def test_a_decoder_is_closed(body: bytes, place: str, interrupt: Interrupt) -> None:
    decoder: ChunkDecoder[Any] = ChunkDecoder(**options(place, interrupt))
    assert next(decoder.feed(body)).id == "a"
    with pytest.raises(CAUGHT):
        next(decoder)
    assert (decoder.state, decoder.stats.chunks) == ("closed", 1)
    for reader in (decoder, decoder.texts(), decoder.payloads(), decoder.pairs()):
        with pytest.raises(SSEWireError, match="closed"):
            next(reader)


def test_an_error_of_the_type_is_no_interruption() -> None:
    """The difference: this one concerns its part of the event alone."""

    class Own(msgspec.Struct):
        id: str
        choices: list[Any]

        def __post_init__(self) -> None:
            if self.id == "b":
                raise OSError("busy")

    stream = ChatStream([lines(A, B, C) + DONE], type=Own)
    assert next(stream).id == "a"
    with pytest.raises(DecodeError, match="busy"):
        next(stream)
    assert [item.id for item in stream] == ["c"]


def test_a_task_that_is_cancelled_inside_an_event_is_cancelled_when_it_reads_on(run: Run) -> None:
    """Nothing is awaited inside an event, so what it holds is handed out first."""
    seen: list[str] = []

    async def never() -> bytes:
        await asyncio.sleep(TIMEOUT)
        raise AssertionError("not cancelled")

    async def read(stream: AsyncChatStream[Any]) -> None:
        async for item in stream:
            seen.append(item.text)  # noqa: PERF401 - a cancelled task must not lose what it has seen

    async def main() -> None:
        response = AsyncResponse(lines(chunk("a")[6:-2], b"oops", chunk("b")[6:-2]), never, DONE)
        tasks: list[asyncio.Task[None]] = []
        stream = AsyncChatStream(response, on_decode_error=lambda _: tasks[0].cancel())
        tasks.append(asyncio.create_task(read(stream)))
        with pytest.raises(asyncio.CancelledError):
            await tasks[0]
        assert seen == ["a", "b"]
        assert (stream.state, response.closed, response.generator_closed) == ("closed", 1, True)
        with pytest.raises(SSEWireError, match="closed"):
            await anext(stream)
        await stream.aclose()
        assert response.closed == 1

    run(main())


@pytest.mark.parametrize(
    ("kind", "way"), [(ChatStream, iter), (EventStream, iter), (ChatStream, ChatStream.iter_bytes)]
)
def test_a_signal_that_waits_while_a_read_fails_closes_the_stream(kind: Any, way: Any) -> None:
    """It comes out when the first Python code runs after the read, which is the code that is told of the failure."""
    # No Python code runs in it, and so nothing looks at the signal.
    reads = chain([chunk("x")], filter(interrupt_main, [signal.SIGINT]), map(truediv, [1], [0]))
    stream = kind(reads)
    items = way(stream)
    next(items)
    with pytest.raises(KeyboardInterrupt):
        next(items)
    assert stream.state == "closed"
    with pytest.raises(SSEWireError, match="closed"):
        next(items)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="a timer of POSIX")
@pytest.mark.parametrize("doing", ["reading", "closing"])
def test_a_signal_at_any_moment_leaves_no_lock_of_a_relay_held(doing: str) -> None:
    random, interrupted = Random(7), 0
    before = signal.signal(signal.SIGALRM, raise_alarm)
    try:
        for _ in range(500):
            stream = ChatStream(repeat(chunk("x"), 200), accumulate=True)
            relay = stream.iter_bytes()
            try:
                signal.setitimer(signal.ITIMER_REAL, random.uniform(2e-5, 6e-4))
                if doing == "closing":
                    for _ in range(1000):
                        stream.close()
                else:
                    list(relay)
                time.sleep(0.01)
            except AlarmError:
                interrupted += 1
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            with suppress(StopIteration, SSEWireError):
                next(relay)
            asker = Thread(target=stream.completion, daemon=True)
            asker.start()
            asker.join(TIMEOUT)
            assert not asker.is_alive()
            assert not relay._reading.locked()  # type: ignore[attr-defined]
            stream.close()
    finally:
        signal.signal(signal.SIGALRM, before)
    assert interrupted > 400
