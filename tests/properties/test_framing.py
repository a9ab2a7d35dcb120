"""Whatever the bytes and however they are cut: the decoders give what the slow oracle gives."""

from __future__ import annotations

import array
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssewire import AsyncEventStream, EventStream, SSEDecoder
from tests import oracle
from tests.conftest import Run
from tests.properties.streams import Parts, bodies, joined, long_parts, places, well_formed
from tests.reading import (
    Outcome,
    TooLarge,
    all_of,
    awaited,
    cut,
    drain,
    pieces,
    with_async_stream,
    with_decoder,
    with_stream,
)


def expected(body: bytes, *, ignored_lines: bool) -> Outcome:
    decoded = oracle.decode(body)
    steps = decoded.steps if ignored_lines else decoded.events
    return Outcome(list(steps), decoded.last_event_id, decoded.retry)


@given(bodies | well_formed, places, st.booleans())
def test_decoder(body: bytes, places: list[int], ignored_lines: bool) -> None:
    right = expected(body, ignored_lines=ignored_lines)
    assert with_decoder([body], ignored_lines=ignored_lines) == right
    assert with_decoder(pieces(body, 1), ignored_lines=ignored_lines) == right
    assert with_decoder(cut(body, places), ignored_lines=ignored_lines) == right


@given(long_parts, places, st.booleans(), st.sampled_from([None, 1, 64, 10_000]))
def test_large_reads(parts: Parts, places: list[int], ignored_lines: bool, detach_min: int | None) -> None:
    body = joined(parts)
    right = expected(body, ignored_lines=ignored_lines)
    assert with_decoder([body], ignored_lines=ignored_lines, detach_min=detach_min) == right
    assert with_decoder(cut(body, places), ignored_lines=ignored_lines, detach_min=detach_min) == right
    assert with_decoder(cut(body, places), ignored_lines=ignored_lines) == right
    assert with_stream(cut(body, places), ignored_lines=ignored_lines) == right


@pytest.mark.parametrize("ignored_lines", [False, True])
def test_no_slice_of_a_huge_read_shows(ignored_lines: bool) -> None:
    """A read is framed a mebibyte at a time: whatever stands at the edge comes out as elsewhere."""
    block = b"data: a\n\nid: 1\r\nevent: e\r\nretry: 5\r\ndata: b\r\ndata: c\r\n\r\n: d\n\ndata: e\n\n"
    right = expected(block, ignored_lines=ignored_lines)
    for before in range(len(block)):
        assert with_decoder([b"\n" * (2**20 - before) + block], ignored_lines=ignored_lines) == right


@given(bodies | well_formed, places, st.booleans())
def test_stream(body: bytes, places: list[int], ignored_lines: bool) -> None:
    right = expected(body, ignored_lines=ignored_lines)
    assert with_stream([body], ignored_lines=ignored_lines) == right
    assert with_stream(pieces(body, 1), ignored_lines=ignored_lines) == right
    assert with_stream(cut(body, places), ignored_lines=ignored_lines) == right


@given(body=bodies | well_formed, places=places, ignored_lines=st.booleans())
def test_async_stream(run: Run, body: bytes, places: list[int], ignored_lines: bool) -> None:
    right = expected(body, ignored_lines=ignored_lines)
    for reads in ([body], pieces(body, 1), cut(body, places)):
        assert run(with_async_stream(reads, ignored_lines=ignored_lines)) == right


@given(bodies, places)
def test_events_come_with_the_read_that_completes_them(body: bytes, places: list[int]) -> None:
    decoder = SSEDecoder()
    read_so_far = b""
    steps: list[Any] = []
    for read in cut(body, places):
        read_so_far += read
        steps += drain(decoder.feed(read))
        # All that follows the last line end is pending, and so is the block that it stands in.
        assert Outcome(steps, decoder.last_event_id, decoder.retry) == expected(read_so_far, ignored_lines=False)


@given(bodies, places)
def test_reads_may_wait_in_the_decoder(body: bytes, places: list[int]) -> None:
    """Feeding again before the events were taken loses none of them."""
    decoder = SSEDecoder()
    for read in cut(body, places):
        decoder.feed(read)
    assert list(drain(decoder.finish())) == expected(body, ignored_lines=False).steps


@given(bodies, bodies)
def test_reset_starts_anew(body: bytes, other: bytes) -> None:
    decoder = SSEDecoder()
    list(drain(decoder.feed(other)))
    decoder.reset()
    steps = [*drain(decoder.feed(body)), *drain(decoder.finish())]
    assert Outcome(steps, decoder.last_event_id, decoder.retry) == expected(body, ignored_lines=False)


@given(bodies, places, st.integers(min_value=0, max_value=64), st.booleans())
def test_errors_do_not_depend_on_the_cuts(body: bytes, places: list[int], limit: int, ignored_lines: bool) -> None:
    whole = with_decoder([body], max_event_size=limit, ignored_lines=ignored_lines)
    for reads in (pieces(body, 1), cut(body, places)):
        assert with_decoder(reads, max_event_size=limit, ignored_lines=ignored_lines) == whole
    assert all(step.limit == limit for step in whole.steps if isinstance(step, TooLarge))
    events = (step for step in whole.steps if isinstance(step, oracle.Event))
    assert all(len(event.data) <= limit for event in events)


@given(bodies)
def test_finish_can_deliver_the_last_event(body: bytes) -> None:
    decoder = SSEDecoder()
    steps = [*drain(decoder.feed(body)), *drain(decoder.finish(deliver=True))]
    assert steps == oracle.decode(body + oracle.END_OF_INPUT).events


BUFFERS = (bytearray, memoryview, lambda read: memoryview(bytearray(read)), lambda read: array.array("B", read))


@pytest.mark.parametrize("buffer", BUFFERS, ids=["bytearray", "memoryview", "memoryview-of-bytearray", "array"])
@given(body=bodies | well_formed, places=places)
def test_any_buffer(run: Run, buffer: Any, body: bytes, places: list[int]) -> None:
    right = expected(body, ignored_lines=False)
    reads = cut(body, places)
    assert with_decoder(map(buffer, reads)) == right
    assert with_stream(map(buffer, reads)) == right
    assert run(with_async_stream(map(buffer, reads))) == right


@given(bodies)
def test_a_buffer_with_steps(body: bytes) -> None:
    """A view of every other byte is read as what it shows."""
    doubled = bytes(byte for pair in zip(body, body, strict=True) for byte in pair)
    assert with_decoder([memoryview(doubled)[::2]]) == expected(body, ignored_lines=False)


def test_a_buffer_may_change_after_it_was_fed() -> None:
    buffer = bytearray(b"data: first\n\ndata: sec")
    decoder = SSEDecoder().feed(buffer)
    buffer[:] = b"data: OTHER\n\ndata: OTH"
    assert [event.data for event in decoder] == ["first"]
    assert [event.data for event in decoder.feed(b"ond\n\n")] == ["second"]


@pytest.mark.parametrize("wrong", ["data: x\n\n", None, 7, ["data"], object()], ids=lambda wrong: type(wrong).__name__)
def test_what_holds_no_bytes_is_refused(run: Run, wrong: Any) -> None:
    reads = [b"data: x\n\n", wrong]
    with pytest.raises(TypeError, match="expected bytes"):
        SSEDecoder().feed(wrong)

    stream = EventStream(reads)
    with pytest.raises(TypeError, match="expected bytes"):
        list(stream)
    assert stream.state == "incomplete"

    awaiting = AsyncEventStream(awaited(reads))
    with pytest.raises(TypeError, match="expected bytes"):
        run(all_of(aiter(awaiting)))
    assert awaiting.state == "incomplete"


def test_text_is_refused_with_advice() -> None:
    with pytest.raises(TypeError, match="iter_bytes"):
        SSEDecoder().feed("data: x\n\n")  # type: ignore[arg-type]
