"""A body read in one way, and everything that its reader learns from it, in terms that can be compared.

A chunk is told by its `repr`, which names the class of every Struct and every member, and tells 1 from 1.0, True and
"1", and 0.0 from -0.0, where equality does not. It is told as soon as it is handed out, and let go, so that what is
built anew from it later is seen too.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec

from ssewire import AsyncChatStream, ChatAccumulator, ChatCompletionChunk, ChatStream, ChunkDecoder, _core
from ssewire.chunk_types import chunk_type
from ssewire.decode import DEFAULT_MAX_EVENT_SIZE, chat_decoder, stats_of
from tests.reading import awaited

Reads: TypeAlias = Sequence[bytes]

TIMES: Final = ("time_to_first_byte", "time_to_first_text", "mean_text_gap", "longest_text_gap")


class Outcome(NamedTuple):
    """What one way of reading made of a body."""

    items: list[str]
    """Chunks, or whatever it gives, and errors, in their order."""
    facts: list[str]
    """What the stream tells at its end."""


class Read(NamedTuple):
    """An outcome, and how it came about: that is what may differ."""

    outcome: Outcome
    chunks: int
    recognised: int


class Way(NamedTuple):
    """A way to read a body, with templates or without."""

    name: str
    read: Callable[[Reads, bool], Read]


def told(item: object) -> str:
    """An item in these terms."""
    if isinstance(item, BaseException):
        return f"{type(item).__name__}{item.args!r} {vars(item)!r} {item.__cause__!r}"
    return repr(item)


def all_told(items: Iterable[Any], told: Callable[[Any], str] = told) -> list[str]:
    """All items and errors, each told at once."""
    found: list[str] = []
    iterator = iter(items)
    while True:
        try:
            for item in iterator:
                found.append(told(item))  # noqa: PERF401 - an error must not lose what came before it
        except Exception as error:
            found.append(told(error))
        else:
            return found


async def all_told_async(items: AsyncIterator[Any]) -> list[str]:
    """The same of an asynchronous iterator."""
    found: list[str] = []
    while True:
        try:
            async for item in items:
                found.append(told(item))  # noqa: PERF401 - an error must not lose what came before it
        except Exception as error:
            found.append(told(error))
        else:
            return found


def facts(stream: Any) -> list[str]:
    """What a stream tells of itself. Of its times, whether there are any: how many texts came is not one."""
    stats = stream.stats
    any_times = {name: getattr(stats, name) is not None for name in TIMES}
    stats = msgspec.structs.replace(stats, **any_times)
    return list(map(repr, (stream.state, stream.usage, stream.finish_reasons, stream.last_event_id, stats)))


def _stream(take: Callable[[ChatStream[Any]], Iterable[Any]], **options: Any) -> Callable[[Reads, bool], Read]:
    """Let a ChatStream pull the reads, and take this of it."""

    def read(reads: Reads, accelerate: bool) -> Read:
        stream = ChatStream(iter(reads), accelerate=accelerate, **options)
        items = all_told(take(stream))
        told_at_end = facts(stream)
        if stream._follower.accumulator:
            told_at_end.append(repr(stream.completion()))
        return Read(Outcome(items, told_at_end), stream._decoder.chunks, stream._decoder.recognised)

    return read


def _step_by_step(stream: ChatStream[Any]) -> Iterator[Any]:
    """Each chunk, and what the stream tells at that moment."""

    class Step(NamedTuple):
        item: str
        facts: list[str]

    while True:
        try:
            chunk = next(stream, None)
        except Exception as error:
            chunk = error
        if chunk is None:
            return
        yield Step(told(chunk), facts(stream))


def _held(stream: ChatStream[Any]) -> Iterator[Any]:
    """Each chunk, told when the stream is over: none may have changed by then."""
    held: list[Any] = []
    while True:
        try:
            held.extend(stream)
        except Exception as error:
            held.append(error)
        else:
            yield from held
            return


def _in_turn(stream: ChatStream[Any]) -> Iterator[Any]:
    """Chunks, pairs, lists and payloads of one stream in turn."""
    views = [iter(stream), stream.iter_with_payload(), stream.iter_batches(3), stream.iter_text(), iter(stream)]
    views.append(stream.iter_payloads())
    # For longer in each view than it takes to learn something.
    lengths = (9, 5, 3, 7, 2, 1)
    while True:
        for view, length in zip(views, lengths, strict=True):
            for _ in range(length):
                try:
                    yield next(view)
                except StopIteration:
                    return
                except Exception as error:
                    yield error


def _collected(stream: ChatStream[Any]) -> Iterator[Any]:
    while True:
        try:
            yield stream.collect()
        except Exception as error:
            yield error
        else:
            return


def _collected_anew(stream: ChatStream[Any]) -> Iterator[Any]:
    """The answer as an accumulator of one's own merges it."""
    accumulator = ChatAccumulator()
    while True:
        try:
            for chunk in stream:
                accumulator.add(chunk)
        except Exception as error:
            yield error
        else:
            yield accumulator.completion()
            return


def _pushed(
    view: Callable[[Any], Iterable[Any]], *, detach_min: int | None = None, **options: Any
) -> Callable[[Reads, bool], Read]:
    """Push the reads into a ChunkDecoder, and take this of it behind each."""

    def read(reads: Reads, accelerate: bool) -> Read:
        decoder: Any
        if detach_min is None:
            decoder = ChunkDecoder(accelerate=accelerate, **options)
            follower = decoder._follower
        else:
            known = chunk_type(ChatCompletionChunk)
            follower, arguments = chat_decoder(known, require_done=False, on_decode_error="raise")
            limit = options.get("max_event_size", DEFAULT_MAX_EVENT_SIZE)
            decoder = _core.ChunkDecoder(*arguments, max_event_size=limit, accelerate=accelerate, detach_min=detach_min)
        items: list[str] = []
        for read in reads:
            decoder.feed(read)
            items += all_told(view(decoder))
        decoder.finish()
        items += all_told(view(decoder))
        told_at_end = [repr(follower.state), repr(decoder.usage), repr(decoder.finish_reasons), repr(decoder.retry)]
        told_at_end += [repr(getattr(stats_of(decoder, follower), name)) for name in ("events", "chunks", "text_gaps")]
        return Read(Outcome(items, told_at_end), decoder.chunks, decoder.recognised)

    return read


# One loop for all: to make one takes longer than to read a small body.
_RUNNER: Final = asyncio.Runner()


def _awaited(take: Callable[[AsyncChatStream[Any]], AsyncIterator[Any]], **options: Any) -> Callable[..., Read]:
    """Let an AsyncChatStream await the reads, and take this of it."""

    async def read(reads: Reads, accelerate: bool) -> Read:
        stream = AsyncChatStream(awaited(reads), accelerate=accelerate, **options)
        items = await all_told_async(take(stream))
        return Read(Outcome(items, facts(stream)), stream._decoder.chunks, stream._decoder.recognised)

    return lambda reads, accelerate: _RUNNER.run(read(reads, accelerate))


async def _collected_async(stream: AsyncChatStream[Any]) -> AsyncIterator[Any]:
    while True:
        try:
            yield await stream.collect()
        except Exception as error:
            yield error
        else:
            return


_LIMIT: Final = 700
"""A limit that some events of most bodies are beyond."""

WAYS: Final = (
    Way("chunks", _stream(iter)),
    Way("chunks, held", _stream(_held)),
    Way("text", _stream(lambda stream: stream.iter_text())),
    Way("pushed", _pushed(iter)),
    Way("chunks, small events", _stream(iter, max_event_size=_LIMIT)),
    Way("text of a choice", _stream(lambda stream: stream.iter_text(choice=0))),
    Way("pairs", _stream(lambda stream: stream.iter_with_payload())),
    Way("payloads", _stream(lambda stream: stream.iter_payloads())),
    Way("batches", _stream(lambda stream: stream.iter_batches())),
    Way("small batches", _stream(lambda stream: stream.iter_batches(3))),
    Way("bytes", _stream(lambda stream: stream.iter_bytes())),
    Way("bytes, merged", _stream(lambda stream: stream.iter_bytes(), accumulate=True)),
    Way("merged", _stream(iter, accumulate=True)),
    Way("merged text", _stream(lambda stream: stream.iter_text(), accumulate=True)),
    Way("merged payloads", _stream(lambda stream: stream.iter_payloads(), accumulate=True)),
    Way("merged batches", _stream(lambda stream: stream.iter_batches(), accumulate=True)),
    Way("collected", _stream(_collected)),
    Way("collected anew", _stream(_collected_anew)),
    Way("in turn", _stream(_in_turn)),
    Way("step by step", _stream(_step_by_step)),
    Way("skipping", _stream(iter, on_decode_error="skip", require_done=True)),
    Way("pushed, text", _pushed(lambda decoder: decoder.texts())),
    Way("pushed, pairs", _pushed(lambda decoder: decoder.pairs())),
    Way("pushed, batches", _pushed(lambda decoder: decoder.batches(4))),
    Way("pushed, small events", _pushed(iter, max_event_size=_LIMIT)),
    Way("pushed, framed ahead", _pushed(iter, detach_min=1)),
    Way("pushed, framed ahead at times", _pushed(iter, detach_min=600)),
    Way("text, framed ahead", _pushed(lambda decoder: decoder.texts(), detach_min=1)),
    Way("asynchronous", _awaited(aiter)),
    Way("asynchronous, text", _awaited(lambda stream: stream.iter_text())),
    Way("asynchronous, pairs", _awaited(lambda stream: stream.iter_with_payload())),
    Way("asynchronous, batches", _awaited(lambda stream: stream.iter_batches())),
    Way("asynchronous, merged", _awaited(aiter, accumulate=True)),
    Way("asynchronous, collected", _awaited(_collected_async)),
)
"""The usual ways first."""


class DifferenceError(AssertionError):
    """A body that reads differently with templates and without."""


def compare(way: Way, reads: Reads) -> Read:
    """Read a body with templates and without; give what came of it with them.

    Raises:
        DifferenceError: It is not the same.
    """
    right = way.read(reads, False)
    found = way.read(reads, True)
    if found.outcome != right.outcome or found.chunks != right.chunks:
        raise DifferenceError(f"{way.name}: {first_difference(found.outcome, right.outcome)}")
    assert right.recognised == 0
    return found


def first_difference(found: Outcome, right: Outcome) -> str:
    """Where two outcomes part, in words."""
    for place, (one, other) in enumerate(zip(found.items, right.items, strict=False)):
        if one != other:
            return f"item {place}: {one[:2000]}, but decoded {other[:2000]}"
    if len(found.items) != len(right.items):
        return f"{len(found.items)} items, but decoded {len(right.items)}"
    return f"{found.facts}, but decoded {right.facts}"
