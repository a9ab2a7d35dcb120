"""What its reader holds of a recognised chunk, be it a part of it and by whatever way, stays as it was.

Chunks that nobody holds are filled anew with later ones, so a part that is held and not seen to be would change.
"""

from __future__ import annotations

import copy
import functools
import gc
import itertools
import pickle
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, Final

import pytest

from ssewire import AsyncChatStream, ChatStream, ChoiceDeltaToolCall, ChunkChoice, ChunkDecoder, SSEWireError
from tests.alike.sharing import EVENTS, KINDS, alike, are_recognised, mutable_parts, reads_of, written
from tests.conftest import Run
from tests.reading import awaited

each_kind = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture(autouse=True, scope="module")
def _collector_knows_little() -> Iterator[None]:
    """What was there before is not looked through each time that the collector is asked for what there is."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


def right(kind: str) -> list[str]:
    """All chunks, written."""
    return [written(chunk) for chunk in alike(kind, accelerate=False)]


def check(held: Iterable[tuple[Any, str]]) -> None:
    for part, then in held:
        assert written(part) == then


PARTS: Final[dict[str, Callable[[Any], Any]]] = {
    "chunk": lambda chunk: chunk,
    "choices": lambda chunk: chunk.choices,
    "choice": lambda chunk: chunk.choices[-1],
    "delta": lambda chunk: chunk.choices[0].delta,
    "content": lambda chunk: chunk.choices[0].delta.content,
    "calls": lambda chunk: chunk.choices[0].delta.tool_calls,
    "call": lambda chunk: (chunk.choices[0].delta.tool_calls or [None])[0],
    "function": lambda chunk: [call.function for call in chunk.choices[0].delta.tool_calls or []],
    "usage": lambda chunk: chunk.usage,
    "details": lambda chunk: chunk.usage and chunk.usage.prompt_tokens_details,
    "the innermost": lambda chunk: next(mutable_parts(chunk)),
    "all but the chunk": lambda chunk: list(mutable_parts(chunk))[:-1],
    "a copy": copy.copy,
    "a copy of a choice": lambda chunk: copy.copy(chunk.choices[0]),
    "a copy of the list": lambda chunk: chunk.choices.copy(),
    "a deep copy": copy.deepcopy,
    "a pickle": lambda chunk: pickle.loads(pickle.dumps(chunk)),
}


@each_kind
@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
@pytest.mark.parametrize("every", [1, 2])
def test_parts(kind: str, part: Callable[[Any], Any], every: int) -> None:
    stream = alike(kind)
    held: list[tuple[Any, str]] = []
    for number, chunk in enumerate(stream):
        if number % every == 0:
            found = part(chunk)
            held.append((found, written(found)))
        del chunk
    check(held)
    assert are_recognised(stream)


@each_kind
def test_iterators_over_the_choices(kind: str) -> None:
    stream = alike(kind)
    iterators = [(iter(chunk.choices), written(list(chunk.choices))) for chunk in stream]
    check((list(iterator), then) for iterator, then in iterators)
    assert are_recognised(stream)


@each_kind
def test_lists_that_the_collector_knows(kind: str) -> None:
    """Of a chunk that is dropped its lists can still be found, for the stream has it."""
    stream = alike(kind)
    held: list[tuple[Any, str]] = []
    mine = {id(held)}
    for chunk in stream:
        with_choice = [found for found in gc.get_referrers(chunk.choices[0]) if type(found) is list]
        held += [(found, written(found)) for found in with_choice if id(found) not in mine]
        del chunk, with_choice
        for found in gc.get_objects():
            if type(found) is list and found and type(found[0]) is ChunkChoice:
                held.append((found, written(found)))
    assert len({id(found) for found, _ in held}) >= EVENTS
    check(held)
    assert are_recognised(stream)


@each_kind
def test_another_thread(kind: str) -> None:
    stream = alike(kind, events=2000)
    handed_over: SimpleQueue[Any] = SimpleQueue()
    differ: list[str] = []

    def look() -> None:
        last: deque[tuple[Any, str]] = deque(maxlen=5)
        while (item := handed_over.get()) is not None:
            last.append(item)
            differ.extend(then for part, then in last if written(part) != then)

    thread = threading.Thread(target=look)
    thread.start()
    for chunk in stream:
        part = chunk.choices[0].delta
        handed_over.put((part, written(part)))
    handed_over.put(None)
    thread.join()
    assert not differ
    assert are_recognised(stream, events=2000)


def through_a_generator(stream: Any) -> Iterator[Any]:
    for chunk in stream:
        yield chunk
        # What the generator's frame holds is looked at behind the reader's own step.
        yield chunk


@each_kind
def test_a_generator_that_holds_it(kind: str) -> None:
    expected = [chunk for chunk in right(kind) for _ in range(2)]
    assert list(map(written, through_a_generator(alike(kind)))) == expected


TOOLS: Final[dict[str, Callable[[Any], Iterator[list[Any]]]]] = {
    "zip with itself": lambda stream: map(list, zip(stream, stream, strict=True)),
    "tee": lambda stream: ([one] for one, other in zip(*itertools.tee(stream), strict=True) if one is other),
    "deque": lambda stream: ([chunk] for chunk in [*deque(stream, maxlen=EVENTS)]),
    "list": lambda stream: ([chunk] for chunk in list(stream)),
    "star": lambda stream: iter([[*stream]]),
    "islice": lambda stream: iter(lambda: list(itertools.islice(stream, 4)), []),
    "reduce": lambda stream: iter([functools.reduce(lambda found, chunk: [*found, chunk], stream, [])]),
    "batches": lambda stream: stream.iter_batches(),
    "small batches": lambda stream: stream.iter_batches(3),
    "pairs": lambda stream: ([chunk] for _, chunk in stream.iter_with_payload()),
    "kept pairs": lambda stream: ([pair[1]] for pair in list(stream.iter_with_payload())),
    "enumerate": lambda stream: ([pair[1]] for pair in list(enumerate(stream))),
    "sorted": lambda stream: iter([sorted(stream, key=lambda _: 0)]),
}


@each_kind
@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
def test_tools(kind: str, tool: Callable[[Any], Iterator[list[Any]]]) -> None:
    stream = alike(kind)
    assert [written(chunk) for chunks in tool(stream) for chunk in chunks] == right(kind)
    assert are_recognised(stream)


@each_kind
def test_tools_that_look_back(kind: str) -> None:
    """Each chunk beside the one before it, as both are then."""
    expected = list(itertools.pairwise(right(kind)))
    assert [(written(one), written(two)) for one, two in itertools.pairwise(alike(kind))] == expected
    steps = alike(kind)
    last, found = next(steps), []
    for chunk in steps:
        found.append((written(last), written(chunk)))
        last = chunk
    assert found == expected


@each_kind
def test_exceptions_that_hold_frames(kind: str) -> None:
    def fail(chunk: Any) -> None:
        raise ValueError(written(chunk))

    stream, raised = alike(kind), []
    for chunk in stream:
        try:
            fail(chunk)
        except ValueError as error:
            raised.append(error)
        del chunk
    for found in raised:
        assert found.__traceback__ is not None
        assert found.__traceback__.tb_next is not None
        assert written(found.__traceback__.tb_next.tb_frame.f_locals["chunk"]) == str(found)
    assert are_recognised(stream)


@each_kind
def test_a_decoder_and_an_asynchronous_stream(kind: str, run: Run) -> None:
    decoder, held = ChunkDecoder(), []
    for read in reads_of(kind):
        held += [(chunk, written(chunk)) for chunk in decoder.feed(read)]
    check(held)

    async def read_on() -> list[tuple[Any, str]]:
        stream: AsyncChatStream[Any] = AsyncChatStream(awaited(reads_of(kind)))
        return [(chunk.choices[0], written(chunk.choices[0])) async for chunk in stream]

    check(run(read_on()))


STRUCTS: Final = (ChunkChoice, ChoiceDeltaToolCall)


class Last:
    """Does something when it is dropped: while the chunk that held it is filled anew, if the stream has it still."""

    dropped = 0

    def __init__(self, act: Callable[[], object]) -> None:
        self.act = act

    def __del__(self) -> None:
        type(self).dropped += 1
        self.act()


def acts(stream: ChatStream[Any]) -> Iterator[Callable[[], object]]:
    """What may be asked of a stream that is being read, and what must not be."""

    def read_on() -> None:
        with suppress(SSEWireError, StopIteration):
            next(iter(stream))

    def look() -> None:
        assert (stream.state, stream.finish_reasons) is not None
        assert (stream.stats, stream.usage) is not None

    def hold_lists() -> None:
        held.extend(found for found in gc.get_objects() if type(found) is list and found and type(found[0]) in STRUCTS)

    held: list[Any] = []
    yield read_on
    yield look
    yield gc.collect
    yield hold_lists


@each_kind
@pytest.mark.parametrize("number", range(4))
def test_what_is_done_while_a_chunk_is_dropped(kind: str, number: int) -> None:
    stream = alike(kind)
    act = list(acts(stream))[number]
    Last.dropped = 0
    found = []
    for chunk in stream:
        found.append(written(chunk))
        for part in list(mutable_parts(chunk)):
            if isinstance(part, list):
                part.append(Last(act))
            elif isinstance(part, dict):
                part["last"] = Last(act)
            else:
                setattr(part, part.__struct_fields__[-1], Last(act))
                setattr(part, part.__struct_fields__[0], Last(act))
        del chunk, part
    # Where it was dropped between two steps, reading on was allowed, and took a chunk.
    assert set(found) <= set(right(kind))
    assert number == 0 or found == right(kind)
    assert Last.dropped > EVENTS // 2


@each_kind
def test_a_stream_that_is_closed_while_a_chunk_is_dropped(kind: str) -> None:
    stream = alike(kind)
    for number, chunk in enumerate(itertools.islice(stream, EVENTS // 2)):
        if number == EVENTS // 2 - 4:
            chunk.choices[0].delta.content = Last(stream.close)
        del chunk
        if stream.state == "closed":
            break
    with suppress(SSEWireError):
        list(stream)
    assert stream.state == "closed"
