"""An asynchronous stream gives other tasks a turn after a bounded amount, even when everything is there already.

Nothing is timed: a task beside the stream counts its own turns, and the stream's reader looks at that count.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Final, NamedTuple, TypeAlias

import anyio
import anyio.lowlevel
import pytest

from ssewire import AsyncChatStream, AsyncEventStream, DecodeError, NotAStreamError
from tests.unit.making import DONE, AsyncReads, AsyncResponse, choice, chunk, lines, sse

pytestmark = pytest.mark.anyio

STRETCH: Final = 256
"""So many events, reads or KiB make a turn, as documented."""

MANY: Final = 10_000
FEWER: Final = 2_000

HELLO = chunk("Hello")
COMMENT = b": keep-alive\n\n"
PAYLOAD = HELLO.removeprefix(b"data: ").rstrip()

# Trio runs the tasks of a round in either order, so that between two turns of one the other may have none, or two.
ROUNDS: Final = {"asyncio": 1, "trio": 2}


class Beside:
    """A task that does nothing but count its turns."""

    def __init__(self) -> None:
        self.turns = 0

    async def run(self) -> None:
        while True:
            self.turns += 1
            await anyio.lowlevel.checkpoint()


@asynccontextmanager
async def beside() -> AsyncIterator[Beside]:
    """Run it while the block runs; its first turn is over when the block begins."""
    counter = Beside()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(counter.run)
        while not counter.turns:
            await anyio.lowlevel.checkpoint()
        yield counter
        tasks.cancel_scope.cancel()


async def longest(items: AsyncIterator[Any], size: Callable[[Any], int] = lambda _: 1) -> tuple[int, int]:
    """Read to the end; gives how much came in all, and how much at most without a turn of another task."""
    total = most = since = 0
    async with beside() as other:
        before = other.turns
        async for item in items:
            if other.turns != before:
                before, since = other.turns, 0
            total += size(item)
            since += size(item)
            most = max(most, since)
    return total, most


async def turns(reading: Awaitable[Any]) -> int:
    """Read to the end; gives how many turns another task had meanwhile."""
    async with beside() as other:
        before = other.turns
        await reading
    return other.turns - before


async def exhaust(items: AsyncIterator[Any]) -> int:
    """Read to the end; gives the number of items."""
    count = 0
    async for _ in items:
        count += 1
    return count


class Way(NamedTuple):
    """A way to read a stream, and how many events an item of it is."""

    items: Callable[[AsyncReads], AsyncIterator[Any]]
    size: Callable[[Any], int] = lambda _: 1


WAYS: dict[str, Way] = {
    "chunks": Way(AsyncChatStream),
    "dicts": Way(lambda reads: AsyncChatStream(reads, type=dict[str, Any])),
    "merged": Way(lambda reads: AsyncChatStream(reads, accumulate=True)),
    "with a limit": Way(lambda reads: AsyncChatStream(reads, idle_timeout=60)),
    "text": Way(lambda reads: AsyncChatStream(reads).iter_text()),
    "text of a choice": Way(lambda reads: AsyncChatStream(reads).iter_text(0)),
    "text of dicts": Way(lambda reads: AsyncChatStream(reads, type=dict[str, Any]).iter_text()),
    "payloads": Way(lambda reads: AsyncChatStream(reads).iter_payloads()),
    "pairs": Way(lambda reads: AsyncChatStream(reads).iter_with_payload()),
    "batches": Way(lambda reads: AsyncChatStream(reads).iter_batches(), len),
    "events": Way(AsyncEventStream),
    "events and comments": Way(lambda reads: AsyncEventStream(reads, ignored_lines=True)),
}

Body: TypeAlias = list[bytes]

BODIES: dict[str, Body] = {
    "one read": [HELLO * MANY],
    "a read an event": [HELLO] * FEWER,
    "reads of several events": [HELLO * 8] * (FEWER // 8),
    "events cut by reads": [HELLO[:-1], *[HELLO[-1:] + HELLO[:-1]] * (FEWER - 1), HELLO[-1:]],
    # Framed ahead, without the interpreter.
    "one very large read": [HELLO * 2 * MANY],
    "several lines an event": [lines(b'{"choices":', b"[%b]}" % PAYLOAD[12:-2]) * FEWER],
    "events of a name": [(b"event: message\n" + HELLO) * FEWER],
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
async def test_no_stretch_is_longer_than_documented(way: Way, body: Body, anyio_backend_name: str) -> None:
    total, most = await longest(way.items(AsyncReads(*body, DONE)), way.size)
    assert total >= FEWER
    assert 0 < most <= STRETCH * ROUNDS[anyio_backend_name]


LINES: dict[str, bytes] = {
    "data lines, each a chunk": lines(*[PAYLOAD] * MANY),
    "chunks run together on a line": sse(PAYLOAD * MANY),
}

LINE_WAYS = ["chunks", "dicts", "merged", "text", "pairs", "batches"]


@pytest.mark.parametrize("event", LINES.values(), ids=LINES)
@pytest.mark.parametrize("way", LINE_WAYS)
async def test_an_event_of_many_chunks_is_no_longer_a_stretch(way: str, event: bytes, anyio_backend_name: str) -> None:
    # The large event itself takes its own time, and is handed out piece by piece.
    stream = AsyncReads(event, DONE)
    total, most = await longest(WAYS[way].items(stream), WAYS[way].size)
    assert total == MANY
    assert 0 < most <= STRETCH * ROUNDS[anyio_backend_name]


@pytest.mark.parametrize("way", ["chunks", "payloads", "events", "batches"])
async def test_large_events_count_by_their_size(way: str, anyio_backend_name: str) -> None:
    # An event of 8 KiB counts as much as nine.
    body = chunk("x" * 8192) * 200
    total, most = await longest(WAYS[way].items(AsyncReads(body, DONE)), WAYS[way].size)
    assert total == (201 if way == "events" else 200)
    assert 0 < most <= (STRETCH // 9 + 1) * ROUNDS[anyio_backend_name]


# With nothing to hand out

SILENT: dict[str, Body] = {
    "comments in one read": [COMMENT * MANY],
    "comments, each a read": [COMMENT] * MANY,
    "events of another name": [b"event: ping\ndata: {}\n\n" * MANY],
    "lines that are no field": [b"pong\n" * MANY],
    "such lines inside an event": [b"data: {}\n" + b"pong\n" * MANY],
    "empty reads": [b""] * MANY,
    "reads of a byte": [b":"] * MANY,
    "data that says nothing": [b"data: null\n\n" * MANY],
}

READINGS: dict[str, Callable[[AsyncReads], Awaitable[Any]]] = {
    "chunks": lambda reads: exhaust(AsyncChatStream(reads)),
    "text": lambda reads: exhaust(AsyncChatStream(reads).iter_text()),
    "payloads": lambda reads: exhaust(AsyncChatStream(reads).iter_payloads()),
    "batches": lambda reads: exhaust(AsyncChatStream(reads).iter_batches()),
    "bytes": lambda reads: exhaust(AsyncChatStream(reads).iter_bytes()),
    "collect": lambda reads: AsyncChatStream(reads).collect(),
}


@pytest.mark.parametrize("body", SILENT.values(), ids=SILENT)
@pytest.mark.parametrize("reading", READINGS.values(), ids=READINGS)
async def test_what_is_not_handed_out_counts(reading: Callable[[AsyncReads], Awaitable[Any]], body: Body) -> None:
    reads = AsyncReads(HELLO, *body, b"\n\n", HELLO, DONE)
    assert await turns(reading(reads)) >= MANY // STRETCH - 1


# No event and no line that is shown: bytes alone count, and in a large read those that are framed at a time.
BARE: dict[str, Body] = {
    "fields without data": [b"id: 1\n" * 4096 * STRETCH],
    "line ends": [b"\n" * 1024 * STRETCH] * 20,
    "a very large read of them": [b"\n" * 32 * 1024 * STRETCH],
}


@pytest.mark.parametrize("body", BARE.values(), ids=BARE)
@pytest.mark.parametrize("reading", READINGS.values(), ids=READINGS)
async def test_bytes_without_events_count(reading: Callable[[AsyncReads], Awaitable[Any]], body: Body) -> None:
    mebibytes = sum(map(len, body)) >> 20
    assert await turns(reading(AsyncReads(*body, HELLO, DONE))) >= mebibytes - 1 > 0


@pytest.mark.parametrize("body", [[COMMENT * MANY], [COMMENT] * MANY], ids=["one read", "many reads"])
@pytest.mark.parametrize("ignored_lines", [False, True])
async def test_comments_in_a_stream_of_events_count(body: Body, ignored_lines: bool) -> None:
    stream = AsyncEventStream(AsyncReads(*body), ignored_lines=ignored_lines)
    # Those in a read that are not shown are passed over at gigabytes a second, and do not count.
    least = MANY // STRETCH - 1 if ignored_lines or len(body) > 1 else 0
    assert await turns(exhaust(stream)) >= least


NO_TEXT: dict[str, bytes] = {
    "usage": sse({"choices": [], "usage": {"total_tokens": 1}}),
    "reasoning": sse({"choices": [{"index": 0, "delta": {"reasoning": "hm"}}]}),
    "another choice": sse({"choices": [choice("Hello", index=1)]}),
}


@pytest.mark.parametrize("event", NO_TEXT.values(), ids=NO_TEXT)
@pytest.mark.parametrize("type", [None, dict[str, Any]], ids=["built-in", "dict"])
async def test_chunks_without_the_text_asked_for_count(event: bytes, type: Any) -> None:
    stream = AsyncChatStream(AsyncReads(event * MANY, DONE), **({"type": type} if type else {}))
    assert await turns(exhaust(stream.iter_text(0))) >= MANY // STRETCH - 1


async def test_events_that_are_passed_over_count() -> None:
    stream = AsyncChatStream(AsyncReads(sse(b"oops") * MANY, DONE), on_decode_error="skip")
    assert await turns(exhaust(stream)) >= MANY // STRETCH - 1


async def test_errors_that_are_raised_count() -> None:
    stream = AsyncChatStream(AsyncReads(sse(b"oops") * MANY, DONE))

    async def past_all_errors() -> None:
        for _ in range(MANY):
            with pytest.raises(DecodeError):
                await anext(stream)

    assert await turns(past_all_errors()) >= MANY // STRETCH - 1


@pytest.mark.parametrize("name", BODIES)
async def test_bytes_are_followed_in_stretches(name: str) -> None:
    stream = AsyncChatStream(AsyncReads(*BODIES[name], DONE), accumulate=True)
    assert await turns(exhaust(stream.iter_bytes())) >= FEWER // STRETCH - 1
    assert stream.state == "done"


@pytest.mark.parametrize("before", [DONE, sse({"error": "x"}), b"data: " + b"x" * 500 + b"\n\n"])
async def test_bytes_behind_the_end_of_the_stream_count(before: bytes) -> None:
    stream = AsyncChatStream(AsyncReads(before, *[HELLO] * MANY), max_event_size=400)
    assert await turns(exhaust(stream.iter_bytes())) >= MANY // STRETCH - 1


async def test_bytes_of_a_refused_request_count() -> None:
    stream = AsyncChatStream(AsyncResponse(*[b"<p>sorry"] * MANY, status=503))
    assert await turns(exhaust(stream.iter_bytes())) >= MANY // STRETCH - 1


async def test_the_body_of_a_refused_request_counts() -> None:
    stream = AsyncChatStream(AsyncResponse(*[b"<p>"] * MANY, status=503))

    async def refused() -> None:
        with pytest.raises(NotAStreamError):
            await anext(stream)

    assert await turns(refused()) >= MANY // STRETCH - 1


async def test_collecting_takes_turns() -> None:
    stream = AsyncChatStream(AsyncReads(HELLO * MANY, DONE))
    assert await turns(stream.collect()) >= MANY // STRETCH - 1
    assert stream.completion().text == "Hello" * MANY


async def test_fifty_streams_share_the_loop() -> None:
    """None is done before the others have begun."""
    done: list[int] = []
    begun: list[int] = []

    async def read(number: int) -> None:
        stream = AsyncChatStream(AsyncReads(HELLO * 1000, DONE))
        await anext(stream)
        begun.append(number)
        assert await exhaust(stream) == 999
        assert len(begun) == 50
        done.append(number)

    async with anyio.create_task_group() as tasks:
        for number in range(50):
            tasks.start_soon(read, number)
    assert len(done) == 50


# Turns change nothing else


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
async def test_what_comes_out_is_the_same_and_in_order(way: Way) -> None:
    texts = [f"{number}" for number in range(1000)]
    found: list[Any] = []
    async for item in way.items(AsyncReads(b"".join(map(chunk, texts)), DONE)):
        found += item if isinstance(item, list) else [item]
    assert len([item for item in found if getattr(item, "data", "") != "[DONE]"]) == 1000
    assert [text for text, item in zip(texts, found, strict=False) if f'"{text}"' in told(item)] == texts


def told(item: Any) -> str:
    """What an item says, in whichever form."""
    payload = item[0] if isinstance(item, tuple) else item
    return f'"{payload}"' if isinstance(payload, str) else repr(payload).replace("'", '"')


@pytest.mark.parametrize("way", ["chunks", "text", "payloads", "pairs", "batches"])
async def test_another_way_to_read_may_go_on_at_a_turn(way: str) -> None:
    stream = AsyncChatStream(AsyncReads(HELLO * 1000, DONE))
    ways: dict[str, AsyncIterator[Any]] = {
        "chunks": aiter(stream),
        "text": stream.iter_text(),
        "payloads": stream.iter_payloads(),
        "pairs": stream.iter_with_payload(),
        "batches": stream.iter_batches(),
    }
    for _ in range(STRETCH):
        await anext(stream)
    assert sum([len(item) if way == "batches" else 1 async for item in ways[way]]) == 1000 - STRETCH
