"""What a stream keeps to recognise chunks is bounded, and nothing is left of what it has handed out."""

from __future__ import annotations

import gc
import sys
import tracemalloc
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import pytest

from ssewire import (
    ChatCompletionChunk,
    ChatStream,
    ChoiceDelta,
    ChoiceDeltaToolCall,
    ChoiceDeltaToolCallFunction,
    ChunkChoice,
    ChunkDecoder,
    CompletionUsage,
)
from tests.alike.sharing import KINDS, mutable_parts, reads_of
from tests.lifecycle.leaving import memory, on_linux
from tests.unit.making import DONE, sse

STRUCTS: Final = (
    ChatCompletionChunk,
    ChunkChoice,
    ChoiceDelta,
    ChoiceDeltaToolCall,
    ChoiceDeltaToolCallFunction,
    CompletionUsage,
)

WAYS: Final[dict[str, Callable[[ChatStream[Any]], Iterable[Any]]]] = {
    "chunks": iter,
    "text": lambda stream: stream.iter_text(),
    "pairs": lambda stream: stream.iter_with_payload(),
    "batches": lambda stream: (chunk for batch in stream.iter_batches(7) for chunk in batch),
    "every third held": lambda stream: every_third(stream),
    "changed": lambda stream: changed(stream),
}


def every_third(stream: ChatStream[Any]) -> Iterator[Any]:
    held: deque[Any] = deque(maxlen=3)
    for number, chunk in enumerate(stream):
        if number % 3 == 0:
            held.append(chunk.choices[0].delta)
        yield chunk


def changed(stream: ChatStream[Any]) -> Iterator[Any]:
    for chunk in stream:
        for part in list(mutable_parts(chunk)):
            if isinstance(part, list):
                part.append(part.copy())
            elif not isinstance(part, dict):
                delattr(part, part.__struct_fields__[0])
        yield None


def run_through(items: Iterable[Any]) -> None:
    deque(items, maxlen=0)


def references(shared: list[Any]) -> list[int]:
    """So many references there are to what all chunks have in common."""
    return [sys.getrefcount(common) for common in (None, True, *STRUCTS, *shared)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", WAYS)
def test_nothing_is_left_of_the_chunks(kind: str, way: str) -> None:
    """However many there were, there are no more objects than before, and no more references to what they share."""
    reads = reads_of(kind, 500)[:-1]
    rounds = 200 if (kind, way) in (("text", "chunks"), ("counted", "text")) else 6
    stream = ChatStream(read for _ in range(rounds) for read in reads)
    items = iter(WAYS[way](stream))
    # What is learned, and what msgspec and the collector keep, is there by then.
    first = [next(items) for _ in range(300)]
    shared = [] if way != "chunks" else [member for member in (first[-1].id, first[-1].object) if member]
    del first
    gc.collect()
    before, counted = sys.getallocatedblocks(), references(shared)
    for _ in range(rounds * len(reads) - 300):
        next(items)
    gc.collect()
    grown, after = sys.getallocatedblocks() - before, references(shared)
    assert stream._decoder.recognised > 0.99 * stream._decoder.chunks
    # A chunk or two more may be held than at the other moment, and what they consist of.
    assert grown < 400
    assert all(other - one < 100 for one, other in zip(counted, after, strict=True)), (counted, after)
    stream.close()


def shapes(count: int, size: int) -> Iterator[bytes]:
    """Chunks no two of which have the same members; each twice, so that something can be learned of it."""
    for number in range(count):
        for text in ("a", "b"):
            yield sse({f"m{number}": "x" * size, "choices": [{"delta": {"content": text}}]})
    yield DONE


@on_linux
@pytest.mark.parametrize("size", [10, 3900, 100_000])
def test_a_stream_of_many_shapes(size: int) -> None:
    """20,000 shapes or 40 MB of them, of which a few KiB are kept."""
    count = min(20_000, 40_000_000 // size)
    run_through(ChatStream(shapes(200, size)))
    before = memory()
    run_through(ChatStream(shapes(count, size)))
    assert memory() - before < 4 * 1024 * 1024


@on_linux
def test_a_large_value_in_a_hole() -> None:
    """A template is small, what stands in its holes need not be: none of that is kept."""
    reads = [sse({"choices": [{"delta": {"content": text}}]}) for text in ("a", "b", "c", "x" * 8_000_000)]
    decoder = ChunkDecoder()
    gc.collect()
    tracemalloc.start()
    try:
        for read in reads:
            run_through(decoder.feed(read))
        assert decoder.recognised == 2
        assert tracemalloc.get_traced_memory()[0] < 1_000_000
    finally:
        tracemalloc.stop()


@on_linux
def test_five_hundred_streams_that_have_learned() -> None:
    """Each has eight shapes at the most, together 16 KiB, and two chunks."""
    reads, large = list(shapes(12, 10)), list(shapes(12, 3900))

    def grown(reads: list[bytes], count: int) -> float:
        before = memory()
        streams = [ChatStream(iter(reads)) for _ in range(count)]
        for stream in streams:
            for _ in reads[:-1]:
                next(stream)
        grown = (memory() - before) / count
        for stream in streams:
            stream.close()
        return grown

    assert grown(reads, 500) < 40_000
    assert grown(large, 500) < 100_000


def test_nothing_is_left_of_a_stream() -> None:
    """What was learned goes when the stream ends, though the stream itself be held."""
    reads = reads_of("counted", 100)
    counted = references([])
    streams = [ChatStream(iter(reads)) for _ in range(200)]
    for stream in streams:
        run_through(stream)
    gc.collect()
    # Of each only its usage is left.
    for before, after in zip(counted, references([]), strict=True):
        assert after - before < 200 * 15
    del streams, stream
    gc.collect()
    for before, after in zip(counted, references([]), strict=True):
        assert after - before < 50
