"""The times in `stats`: each counts from the read that brought it, and what came in one read came at once.

Sources here wait before they hand out a read. Of the times nothing is asserted but that what was told to wait did
wait so long, and which is longer than which.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, Final

import msgspec
import pytest

from ssewire import AsyncChatStream, ChatCompletionChunk, ChatStream, ChunkDecoder, StreamStats
from tests.conftest import Run
from tests.reading import with_errors, with_errors_async
from tests.unit.cases import ERROR
from tests.unit.making import DONE, choice, chunk, lines, sse
from tests.unit.test_own_types import DOCUMENTED, TYPES

# In seconds: a wait, and one that nobody takes for it.
WAIT: Final = 0.005
LONG: Final = 0.03

# However busy the machine is, no test takes so long.
MOST: Final = 60.0

A, B, C = (chunk(text) for text in "abc")

# Reads, and waits in seconds.
Steps = list[Any]


def left(until: float) -> float:
    """So many seconds are left: a clock that is coarse may wake a sleeper too early."""
    return max(0.0, until - time.perf_counter())


def wait(seconds: float) -> None:
    until = time.perf_counter() + seconds
    while pause := left(until):
        time.sleep(pause)


def slow(steps: Steps) -> Iterator[bytes]:
    for step in steps:
        if isinstance(step, float):
            wait(step)
        else:
            yield step


async def slow_async(steps: Steps) -> AsyncIterator[bytes]:
    for step in steps:
        if isinstance(step, float):
            until = time.perf_counter() + step
            await asyncio.sleep(step)
            wait(left(until))
        else:
            yield step


class Times:
    """The times of a stream, and that they fit together."""

    def __init__(self, stats: StreamStats) -> None:
        self.byte = stats.time_to_first_byte
        self.text = stats.time_to_first_text
        self.gaps = stats.text_gaps
        self.mean = stats.mean_text_gap
        self.longest = stats.longest_text_gap
        known = [time for time in (self.byte, self.text, self.mean, self.longest) if time is not None]
        assert all(0 < time < MOST for time in known)
        if self.text is not None:
            assert self.byte is not None
            assert self.byte <= self.text
        if self.gaps:
            assert self.mean is not None
            assert self.longest is not None
            assert self.text is not None
            assert self.mean <= self.longest <= self.mean * self.gaps * 1.001
        else:
            assert (self.mean, self.longest) == (None, None)


WAYS: Final[dict[str, Callable[[Any], Any]]] = {
    "chunks": lambda stream: stream,
    "texts": lambda stream: stream.iter_text(),
    "texts of a choice": lambda stream: stream.iter_text(0),
    "pairs": lambda stream: stream.iter_with_payload(),
    "batches": lambda stream: stream.iter_batches(),
    "batches of one": lambda stream: stream.iter_batches(1),
    "bytes": lambda stream: stream.iter_bytes(),
}

each_way = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)


def times(steps: Steps, way: Callable[[Any], Any] = iter, **options: Any) -> Times:
    stream = ChatStream(slow(steps), **options)
    with_errors(way(stream))
    return Times(stream.stats)


async def times_async(steps: Steps, way: Callable[[Any], Any], **options: Any) -> Times:
    stream = AsyncChatStream(slow_async(steps), **options)
    await with_errors_async(way(stream))
    return Times(stream.stats)


def check(found: Times, byte: float, text: float | None, gaps: int, longest: float) -> None:
    """So long it took at the least; gaps are counted exactly."""
    assert found.byte is not None
    assert found.byte >= byte
    assert (found.text is None) == (text is None)
    assert (found.text or 0.0) >= (text or 0.0)
    assert (found.gaps, (found.longest or 0.0) >= longest) == (gaps, True)


# Steps; then the time to the first byte and to the first text, the number of gaps, and the longest.
STEPS: Final[dict[str, tuple[Steps, float, float | None, int, float]]] = {
    "one text": ([WAIT, A, DONE], WAIT, WAIT, 0, 0.0),
    "texts in one read": ([WAIT, A + B + C + DONE], WAIT, WAIT, 0, 0.0),
    "texts in two reads": ([WAIT, A + B, LONG, C + A, DONE], WAIT, WAIT, 1, LONG),
    "texts in three reads": ([A, WAIT, B, LONG, C, DONE], 0.0, 0.0, 2, LONG),
    "comments first": ([WAIT, b": hi\n\n", LONG, A, DONE], WAIT, WAIT + LONG, 0, 0.0),
    "an empty read is no byte": ([b"", WAIT, A, DONE], WAIT, WAIT, 0, 0.0),
    "an event in two reads counts at its end": ([A[:9], LONG, A[9:], DONE], 0.0, LONG, 0, 0.0),
    "an event in two reads, a whole one before it": ([A + B[:9], LONG, B[9:], DONE], 0.0, 0.0, 1, LONG),
    "a byte-order mark is a byte": ([b"\xef\xbb\xbf", LONG, A, DONE], 0.0, LONG, 0, 0.0),
    "reads without text between": ([A, WAIT, chunk(""), WAIT, b": hi\n\n", WAIT, B, DONE], 0.0, 0.0, 1, 3 * WAIT),
    "no text behind it": ([A, LONG, chunk(None, "stop"), WAIT, DONE], 0.0, 0.0, 0, 0.0),
    "an error between": ([A, WAIT, ERROR, WAIT, B, DONE], 0.0, 0.0, 1, 2 * WAIT),
    "lines of an event": ([A, WAIT, lines(B[6:-2], C[6:-2]), DONE], 0.0, 0.0, 1, WAIT),
    "the last event without its blank line": ([A, WAIT, chunk("b", "stop")[:-2]], 0.0, 0.0, 1, WAIT),
    "another choice": ([A, WAIT, chunk("x", index=1), DONE], 0.0, 0.0, 1, WAIT),
}


@pytest.mark.parametrize(("steps", "byte", "text", "gaps", "longest"), STEPS.values(), ids=STEPS)
def test_times(steps: Steps, byte: float, text: float, gaps: int, longest: float, run: Run) -> None:
    check(times(steps), byte, text, gaps, longest)
    check(run(times_async(steps, aiter)), byte, text, gaps, longest)


@each_way
def test_times_however_the_stream_is_read(way: Callable[[Any], Any], run: Run) -> None:
    steps = [WAIT, b": hi\n\n", LONG, A + B, WAIT, sse({}), C + A, LONG, B + DONE]
    right = (WAIT, WAIT + LONG, 2, LONG)
    check(times(steps, way), *right)
    check(times(steps, way, type=dict), *right)
    check(run(times_async(steps, way)), *right)


# What is no text

NO_TEXT: Final[dict[str, bytes]] = {
    "reasoning": sse({"choices": [{"index": 0, "delta": {"reasoning_content": "hm"}}]}),
    "reasoning by another name": sse({"choices": [{"index": 0, "delta": {"reasoning": "hm", "content": ""}}]}),
    "reasoning in a typed part": sse(
        {"choices": [{"index": 0, "delta": {"content": [{"type": "thinking", "thinking": "hm"}]}}]}
    ),
    "no typed parts": sse({"choices": [{"index": 0, "delta": {"content": []}}]}),
    "a refusal": sse({"choices": [{"index": 0, "delta": {"refusal": "no"}}]}),
    "a tool call": sse({"choices": [{"index": 0, "delta": {"tool_calls": [{"function": {"arguments": "{}"}}]}}]}),
    "a role": sse({"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]}),
    "usage alone": sse({"choices": [], "usage": {"total_tokens": 5}}),
    "usage without choices": sse({"usage": {"total_tokens": 5}}),
    "a comment": b": hi\n\n",
    "a named event": b'event: ping\ndata: {"content": "a"}\n\n',
    "an event that is no chunk": sse(b"oops"),
    "an error": ERROR,
}


@pytest.mark.parametrize("type", [ChatCompletionChunk, dict])
@pytest.mark.parametrize("event", NO_TEXT.values(), ids=NO_TEXT)
def test_what_is_no_text(event: bytes, type: Any) -> None:
    check(times([event, event, DONE], type=type), 0.0, None, 0, 0.0)
    # Neither the first nor the last, nor what divides a gap.
    check(times([event, WAIT, A + event, WAIT, event, WAIT, event + B, event, DONE], type=type), 0.0, WAIT, 1, 2 * WAIT)


def parts(*texts: str) -> bytes:
    said = [{"type": "thinking", "thinking": "hm"}, *({"type": "text", "text": text} for text in texts)]
    return sse({"choices": [{"index": 0, "delta": {"content": said}}]})


@pytest.mark.parametrize("type", [ChatCompletionChunk, dict])
def test_text_in_typed_parts(type: Any) -> None:
    steps = [parts(), WAIT, parts("a"), WAIT, parts(""), WAIT, parts("b", "c"), DONE]
    check(times(steps, type=type), 0.0, WAIT, 1, 2 * WAIT)


@pytest.mark.parametrize("type", TYPES.values(), ids=TYPES)
def test_text_of_own_types(type: Any, run: Run) -> None:
    steps = [chunk(""), WAIT, A + B, WAIT, C + DONE]
    check(times(steps, type=type), 0.0, WAIT, 1, WAIT)
    check(run(times_async(steps, aiter, type=type)), 0.0, WAIT, 1, WAIT)


@pytest.mark.parametrize("type", DOCUMENTED.values(), ids=DOCUMENTED)
def test_text_of_documented_types(type: Any) -> None:
    members = {"id": "i", "created": 1, "model": "m", "object": "chat.completion.chunk"}
    first, *others = (sse({**members, "choices": [choice(text)]}) for text in ("", "a", "b"))
    check(times([first, WAIT, others[0], WAIT, others[1], DONE], type=type), 0.0, WAIT, 1, WAIT)


class Rest(msgspec.Struct):
    id: str = ""


def test_a_type_without_choices_has_no_text() -> None:
    check(times([WAIT, A, B, DONE], type=Rest), WAIT, None, 0, 0.0)


def test_the_text_of_a_chunk_with_several_choices_is_one() -> None:
    both = sse({"choices": [choice(""), choice("x", index=1), choice("y", index=2)]})
    check(times([both, WAIT, both, DONE]), 0.0, 0.0, 1, WAIT)


def test_payloads_show_no_text_unless_they_are_merged() -> None:
    steps = [WAIT, A, WAIT, B + chunk(None, "stop")]
    check(times(steps, lambda stream: stream.iter_payloads()), WAIT, None, 0, 0.0)
    check(times(steps, lambda stream: stream.iter_payloads(), accumulate=True), WAIT, WAIT, 1, WAIT)


def test_payloads_first_and_then_chunks() -> None:
    stream = ChatStream(slow([A, WAIT, B, WAIT, C, DONE]))
    next(stream.iter_payloads())
    assert len(list(stream)) == 2
    check(Times(stream.stats), 0.0, WAIT, 1, WAIT)


# When it is asked


def test_nothing_is_known_before_the_first_read(run: Run) -> None:
    async def ask() -> list[Any]:
        stream = AsyncChatStream(DONE)
        return list(msgspec.structs.astuple(stream.stats))

    nothing = [0, 0, 0, 0, 0, 0, 0, None, None, 0, None, None]
    assert list(msgspec.structs.astuple(ChatStream([A]).stats)) == nothing
    assert list(msgspec.structs.astuple(ChunkDecoder().stats)) == nothing
    assert run(ask()) == nothing


def test_each_answer_is_a_snapshot() -> None:
    stream = ChatStream(slow([A, WAIT, B, LONG, C, DONE]))
    snapshots = [stream.stats]
    for _ in stream:
        snapshots.append(stream.stats)  # noqa: PERF401 - each is taken in its turn
    assert [stats.text_gaps for stats in snapshots] == [0, 0, 1, 2]
    first, second, third = map(Times, snapshots[1:])
    assert (first.byte, first.text) == (second.byte, second.text) == (third.byte, third.text)
    assert (second.longest, second.mean) == (second.mean, second.longest)
    assert third.longest is not None
    assert third.mean is not None
    assert third.longest >= LONG
    assert third.mean < third.longest


def test_time_counts_from_the_making_of_the_stream() -> None:
    stream = ChatStream(read for read in (A, DONE))
    wait(WAIT)
    list(stream)
    check(Times(stream.stats), WAIT, WAIT, 0, 0.0)


IN_MEMORY: dict[str, Any] = {
    "bytes": A + B + DONE,
    "bytearray": bytearray(A + DONE),
    "list": [A, B, DONE],
    "tuple": (A, DONE),
}


@pytest.mark.parametrize("body", IN_MEMORY.values(), ids=IN_MEMORY)
def test_what_is_in_memory_comes_at_no_time(body: Any) -> None:
    stream = ChatStream(body)
    list(stream)
    assert stream.stats.chunks > 0
    check_none(stream.stats)


def test_nor_does_it_asynchronously(run: Run) -> None:
    async def read() -> None:
        stream = AsyncChatStream(A + DONE)
        assert [chunk.text async for chunk in stream] == ["a"]
        check_none(stream.stats)

    run(read())


def check_none(stats: StreamStats) -> None:
    times = (stats.time_to_first_byte, stats.time_to_first_text, stats.mean_text_gap, stats.longest_text_gap)
    assert (times, stats.text_gaps) == ((None, None, None, None), 0)


@each_way
def test_a_reader_that_takes_its_time_over_one_read_makes_no_gap(way: Callable[[Any], Any]) -> None:
    stream = ChatStream([A + B + C + DONE])
    for _ in way(stream):
        wait(WAIT)
    found = Times(stream.stats)
    assert found.gaps == 0
    # Nor is its time the text's.
    assert found.text == found.byte


def test_a_chunk_that_waits_its_turn_came_with_its_read() -> None:
    stream = ChatStream(slow([chunk("") + A, DONE]))
    next(stream)
    wait(WAIT)
    next(stream)
    assert stream.stats.time_to_first_text == stream.stats.time_to_first_byte
    list(stream)


def test_bytes_that_are_relayed_count_from_their_read() -> None:
    """However late somebody asks how the stream stands."""
    stream = ChatStream(slow([A, WAIT, B, DONE]))
    relayed = stream.iter_bytes()
    assert next(relayed) == A
    wait(LONG)
    found = Times(stream.stats)
    assert found.text == found.byte
    assert list(relayed) == [B, DONE]
    check(Times(stream.stats), 0.0, 0.0, 1, LONG + WAIT)


def test_the_end_stays_as_it_is() -> None:
    stream = ChatStream(slow([A, WAIT, B, DONE]))
    list(stream)
    before = stream.stats
    wait(WAIT)
    assert (list(stream), stream.stats) == ([], before)
    stream.close()
    assert stream.stats == before


# A decoder that is fed


def feed(decoder: ChunkDecoder[Any], steps: Steps) -> Times:
    for read in slow(steps):
        with_errors(decoder.feed(read))
    with_errors(decoder.finish())
    return Times(decoder.stats)


@pytest.mark.parametrize(("steps", "byte", "text", "gaps", "longest"), STEPS.values(), ids=STEPS)
def test_times_of_a_decoder(steps: Steps, byte: float, text: float, gaps: int, longest: float) -> None:
    check(feed(ChunkDecoder(), steps), byte, text, gaps, longest)


def test_a_decoder_tells_the_times_at_which_it_was_fed() -> None:
    decoder = ChunkDecoder()
    decoder.feed(A)
    wait(WAIT)
    decoder.feed(B)
    wait(LONG)
    assert len(list(decoder)) == 2
    found = Times(decoder.stats)
    assert (found.text, found.gaps) == (found.byte, 1)
    assert found.longest is not None
    assert found.longest >= WAIT


@pytest.mark.parametrize("type", [ChatCompletionChunk, dict])
def test_a_decoder_that_is_reset_starts_anew(type: Any) -> None:
    decoder = ChunkDecoder(type)
    feed(decoder, [A, LONG, B])
    decoder.reset()
    assert list(msgspec.structs.astuple(decoder.stats)) == [0, 0, 0, 0, 0, 0, 0, None, None, 0, None, None]
    found = feed(decoder, [WAIT, b": hi\n\n", WAIT, A, WAIT, B + DONE])
    check(found, WAIT, 2 * WAIT, 1, WAIT)


def test_a_read_that_was_not_looked_into_is_forgotten_by_a_reset() -> None:
    decoder = ChunkDecoder()
    decoder.feed(A)
    decoder.reset()
    assert list(decoder) == []
    check(feed(decoder, [chunk(""), WAIT, B, DONE]), 0.0, WAIT, 0, 0.0)
