"""Large reads are framed ahead, without the interpreter: nothing of that shows, after any item, error or read.

A decoder with a small `detach_min` does it with small reads. What is in force, the last event id and the retry, is
always that of the item which was handed out last, although the framer is further; once a read is used up, it is that of
all that was read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssewire import APIError, ChatCompletionChunk, SSEDecoder, SSEWireError, _core
from ssewire.chunk_types import chunk_type
from ssewire.decode import DEFAULT_MAX_EVENT_SIZE, chat_decoder
from tests import oracle
from tests.properties.streams import LINES, Parts, bodies, chats, joined, long_parts, places, well_formed
from tests.reading import cut, drain, framing_ahead, pieces, plain

# The items of each read, and of the end, each with what is told after it; the last of each read is no item.
Trace: TypeAlias = list[list[tuple[Any, ...]]]

detach_mins = st.sampled_from([1, 2, 7, 64])
any_body = bodies | well_formed | st.lists(st.sampled_from(LINES), max_size=30).map(b"".join)


def events_of(decoder: Any, reads: Iterable[bytes]) -> Trace:
    """Push the reads into a decoder of events."""

    def now() -> tuple[str, int | None]:
        return decoder.last_event_id, decoder.retry

    def of(items: Any) -> list[tuple[Any, ...]]:
        return [*((step, *now()) for step in drain(items)), ("read", *now())]

    return [*(of(decoder.feed(read)) for read in reads), of(decoder.finish())]


def items(trace: Trace) -> list[tuple[Any, ...]]:
    return [step for read in trace for step in read[:-1]]


@given(any_body, places, st.booleans(), detach_mins)
def test_events(body: bytes, places: list[int], ignored_lines: bool, detach_min: int) -> None:
    whole = oracle.decode(body)
    told = [(step, *in_force) for step, in_force in zip(whole.steps, whole.in_force, strict=True)]
    if not ignored_lines:
        told = [step for step in told if isinstance(step[0], oracle.Event)]
    for reads in ([body], cut(body, places)):
        trace = events_of(framing_ahead(detach_min, ignored_lines=ignored_lines), reads)
        assert items(trace) == told
        before = [oracle.decode(b"".join(reads[: count + 1])) for count in range(len(reads))]
        assert [read[-1] for read in trace[:-1]] == [("read", each.last_event_id, each.retry) for each in before]
        assert trace[-1] == [("read", whole.last_event_id, whole.retry)]
        assert trace == events_of(SSEDecoder(ignored_lines=ignored_lines), reads)


@given(any_body, places, st.booleans(), detach_mins)
def test_events_that_are_pulled(body: bytes, places: list[int], ignored_lines: bool, detach_min: int) -> None:
    whole = oracle.decode(body)
    for decoder in (SSEDecoder(ignored_lines=ignored_lines), framing_ahead(detach_min, ignored_lines=ignored_lines)):
        decoder.pull_from(iter(cut(body, places)))
        told = [(plain(item), (decoder.last_event_id, decoder.retry)) for item in decoder]
        steps = zip(whole.steps, whole.in_force, strict=True)
        assert told == [step for step in steps if ignored_lines or isinstance(step[0], oracle.Event)]
        assert (decoder.last_event_id, decoder.retry) == (whole.last_event_id, whole.retry)


@given(any_body, places, st.booleans(), st.integers(min_value=0, max_value=32), detach_mins)
def test_events_beyond_the_limit(
    body: bytes, places: list[int], ignored_lines: bool, limit: int, detach_min: int
) -> None:
    options: dict[str, Any] = {"max_event_size": limit, "ignored_lines": ignored_lines}
    byte_by_byte = events_of(SSEDecoder(**options), pieces(body, 1))
    for reads in ([body], cut(body, places)):
        trace = events_of(framing_ahead(detach_min, **options), reads)
        assert trace == events_of(SSEDecoder(**options), reads)
        assert items(trace) == items(byte_by_byte)


class Chunks:
    """A decoder of chunks, one of the ways to iterate over it, and all that it tells."""

    def __init__(self, view: str, detach_min: int | None, limit: int = DEFAULT_MAX_EVENT_SIZE) -> None:
        follower, arguments = chat_decoder(chunk_type(ChatCompletionChunk), require_done=False, on_decode_error="raise")
        self.decoder: Any = _core.ChunkDecoder(*arguments, facts=None, max_event_size=limit, detach_min=detach_min)
        self.follower = follower
        self.view = getattr(self.decoder, view)()

    def now(self) -> tuple[Any, ...]:
        told = self.decoder
        facts = (told.usage, told.finish_reasons, told.events, told.chunks, told.done, self.follower.state)
        return told.last_event_id, told.retry, *facts

    def give(self) -> Iterator[tuple[Any, ...]]:
        while True:
            try:
                for item in self.view:
                    yield item, *self.now()
                break
            except SSEWireError as error:
                yield type(error), str(error), *self.now()
        yield "read", *self.now()

    def trace(self, reads: Iterable[bytes]) -> Trace:
        trace = []
        for read in reads:
            self.decoder.feed(read)
            trace.append(list(self.give()))
        self.decoder.finish()
        return [*trace, list(self.give())]


views = st.sampled_from(["__iter__", "texts", "payloads", "pairs"])
errors = st.sampled_from(
    [b'data: {"error": {"message": "no"}}\n\n', b"data: oops\n\n", b"event: error\nid: 4\ndata: x\n\n"]
)
chat_bodies = chats().map(lambda chat: chat[0]) | st.lists(st.sampled_from(LINES) | errors, max_size=20).map(b"".join)


@given(chat_bodies | any_body, places, views, detach_mins)
def test_chunks(body: bytes, places: list[int], view: str, detach_min: int) -> None:
    byte_by_byte = Chunks(view, None).trace(pieces(body, 1))
    for reads in ([body], cut(body, places)):
        trace = Chunks(view, detach_min).trace(reads)
        assert trace == Chunks(view, None).trace(reads)
        assert items(trace) == items(byte_by_byte)


@given(chat_bodies | any_body, places, views, st.integers(min_value=0, max_value=64), detach_mins)
def test_chunks_beyond_the_limit(body: bytes, places: list[int], view: str, limit: int, detach_min: int) -> None:
    byte_by_byte = Chunks(view, None, limit).trace(pieces(body, 1))
    for reads in ([body], cut(body, places)):
        trace = Chunks(view, detach_min, limit).trace(reads)
        assert trace == Chunks(view, None, limit).trace(reads)
        assert items(trace) == items(byte_by_byte)


@given(chats(), places, detach_mins)
def test_payloads_and_what_is_in_force_at_each(chat: tuple[bytes, Any], places: list[int], detach_min: int) -> None:
    body = chat[0]
    whole = oracle.decode(body + oracle.END_OF_INPUT)
    found, done = oracle.payloads(body)
    steps = zip(whole.steps, whole.in_force, strict=True)
    events = [
        (step.data, *in_force) for step, in_force in steps if isinstance(step, oracle.Event) and step.event == "message"
    ]
    told = [event for event in events if event[0].strip() not in {b"", b"[DONE]"}]
    assert [payload for payload, *_ in told] == found
    for reads in ([body], cut(body, places)):
        chunks = Chunks("payloads", detach_min)
        trace = chunks.trace(reads)
        assert [step[:3] for step in items(trace) if isinstance(step[0], bytes)] == told
        assert chunks.decoder.done is done
        assert trace[-1][-1][1:3] == (whole.last_event_id, whole.retry)
        for count in range(len(reads)):
            before = oracle.decode(b"".join(reads[: count + 1]))
            if not trace[count][-1][7]:
                assert trace[count][-1][1:3] == (before.last_event_id, before.retry)


@given(long_parts, places, detach_mins)
def test_many_events(parts: Parts, places: list[int], detach_min: int) -> None:
    body = joined(parts)
    for reads in ([body], cut(body, places)):
        assert events_of(framing_ahead(detach_min), reads) == events_of(SSEDecoder(), reads)
        assert Chunks("payloads", detach_min).trace(reads) == Chunks("payloads", None).trace(reads)


@pytest.mark.parametrize("detach_min", [None, 1])
@pytest.mark.parametrize("behind", [b"", b"data: {}\n\n", b"data: [DONE]\n\n"])
def test_blocks_without_data_are_told_once_they_are_read(detach_min: int | None, behind: bytes) -> None:
    decoder: Any = Chunks("__iter__", detach_min).decoder
    chunks = decoder.feed(b"data: {}\n\nid: 1\nretry: 2\n\n" + behind)
    next(chunks)
    assert (decoder.last_event_id, decoder.retry) == ("", None)
    next(chunks, None)
    assert (decoder.last_event_id, decoder.retry) == ("1", 2)


@pytest.mark.parametrize("detach_min", [None, 1])
def test_at_an_error_in_force_is_what_was_sent_up_to_it(detach_min: int | None) -> None:
    decoder: Any = Chunks("__iter__", detach_min).decoder
    body = b'id: 1\nretry: 2\n\ndata: {"error": "no"}\n\nid: 3\nretry: 4\n\ndata: {}\n\n'
    with pytest.raises(APIError):
        next(decoder.feed(body))
    assert (decoder.last_event_id, decoder.retry) == ("1", 2)
    next(decoder)
    assert (decoder.last_event_id, decoder.retry) == ("3", 4)
