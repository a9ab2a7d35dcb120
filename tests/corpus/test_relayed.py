"""`iter_bytes` over every body there is: the same reads, whatever is in them, and what plain iteration says of them.

Recorded streams, every recording of `tests.dialects`, every reported fault, and bytes at random, however they are cut.
"""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ssewire import AsyncChatStream, ChatStream
from tests.cases.outcome import plain
from tests.cases.test_reported_faults import FAULTS
from tests.conftest import Run
from tests.dialects import Recording, generate
from tests.properties.streams import bodies, chats, places
from tests.reading import awaited, cut, every_cut, pieces, with_errors
from tests.recorded import recorded
from tests.unit.making import DONE, chunk, sse

TIMES: Final = ("time_to_first_byte", "time_to_first_text", "text_gaps", "mean_text_gap", "longest_text_gap")

Stream = ChatStream[Any] | AsyncChatStream[Any]


def facts(stream: Stream) -> dict[str, Any]:
    """All that a stream tells of what was in its bytes, but for times and the number of bytes."""
    stats: dict[str, Any] = msgspec.to_builtins(stream.stats)
    return {
        "state": stream.state,
        "usage": stream.usage,
        "finish_reasons": stream.finish_reasons,
        "last_event_id": stream.last_event_id,
        "stats": {name: count for name, count in stats.items() if name not in (*TIMES, "bytes")},
        "completion": stream.completion(),
    }


def told(error: Exception | None) -> Any:
    """An error in plain terms: exceptions are equal to themselves alone."""
    terms = plain(error)
    return error and (type(error), str(error), None if terms is error else terms)


def with_plain_iteration(body: bytes, **options: Any) -> tuple[dict[str, Any], Any]:
    """The facts of a body, and the last error in it."""
    stream = ChatStream([body], accumulate=True, **options)
    errors = [item for item in with_errors(stream) if isinstance(item, Exception)]
    return facts(stream), told(errors[-1] if errors else None)


async def relayed(items: AsyncIterator[bytes]) -> list[bytes]:
    return [item async for item in items]


def check(body: bytes, reads: Sequence[bytes], right: tuple[dict[str, Any], Any], run: Run, **options: Any) -> None:
    """Both kinds of stream give the reads as they are, and know all that there is to know of them."""
    stream = ChatStream(iter(reads), accumulate=True, **options)
    assert list(stream.iter_bytes()) == reads
    asynchronous = AsyncChatStream(awaited(reads), accumulate=True, **options)
    assert run(relayed(asynchronous.iter_bytes())) == reads
    for one in (stream, asynchronous):
        assert one.stats.bytes == len(body)
        assert (facts(one), told(one.error)) == right


def cuts(body: bytes) -> Iterator[Sequence[bytes]]:
    """Whole, in small pieces, and at a few random places with empty reads among them, the same for the same body."""
    yield [body]
    yield pieces(body, 7)
    places = random.Random(len(body)).choices(range(len(body) + 1), k=4)
    yield cut(body, [*places, *places])


# Recorded streams


@pytest.mark.parametrize("path", recorded())
def test_recorded(path: Path, run: Run) -> None:
    body = path.read_bytes()
    right = with_plain_iteration(body)
    for reads in (
        [body],
        pieces(body, 4096),
        pieces(body, 100),
        cut(body, random.Random(path.name).choices(range(len(body)), k=40)),
    ):
        check(body, reads, right, run)


# Generated ones


each_recording = pytest.mark.parametrize(
    "recording", [pytest.param(recording, id=recording.name) for recording in generate(20260505)]
)


@each_recording
def test_recording(recording: Recording, run: Run) -> None:
    right = with_plain_iteration(recording.body)
    assert right[0]["state"] == recording.expected.state
    for reads in cuts(recording.body):
        check(recording.body, reads, right, run)


@each_recording
@pytest.mark.parametrize(
    "options",
    [{"type": dict}, {"require_done": True, "on_decode_error": "skip"}, {"max_event_size": 300}],
    ids=["dicts", "the sentinel required", "a low limit"],
)
def test_recording_with_options(recording: Recording, options: dict[str, Any], run: Run) -> None:
    right = with_plain_iteration(recording.body, **options)
    check(recording.body, pieces(recording.body, 50), right, run, **options)


# Reported faults


@pytest.mark.parametrize("number", FAULTS, ids=[f"{number} {fault.kind}" for number, fault in FAULTS.items()])
def test_fault(number: int, run: Run) -> None:
    _, body, reads = FAULTS[number]
    right = with_plain_iteration(body)
    small = len(body) < 300
    for some in (reads, *(every_cut(body) if small else cuts(body))):
        check(body, some, right, run)


# Anything at all


@given(bodies, places)
@example(b"", [0])
@example(bytes(range(256)), [])
@example(b"data: [DONE]\n\n\xff\0" + DONE, [3, 15])
def test_any_bytes(run: Run, body: bytes, places: list[int]) -> None:
    check(body, cut(body, places), with_plain_iteration(body), run)


@given(st.binary(max_size=300), places)
def test_random_bytes(run: Run, body: bytes, places: list[int]) -> None:
    check(body, cut(body, places), with_plain_iteration(body), run)


# What a chat stream is made of, whole and broken.
_PARTS: Final = (
    chunk("a"),
    chunk("b", "stop", index=1),
    chunk(None, "length", usage={"total_tokens": 3}),
    sse({"error": {"message": "busy", "code": 503}}),
    sse(b"oops"),
    sse(b'{"choices":3}'),
    chunk("c")[:-1],
    chunk("d")[:-9],
    b"event: ping\ndata: {}\n\n",
    b"event: error\ndata: lost\n\n",
    b"error: broken\n",
    b": hi\n\n",
    b"id: 7\n",
    b"<html>",
    DONE,
)


@given(st.lists(st.sampled_from(_PARTS), max_size=12).map(b"".join), places)
def test_parts_in_any_order(run: Run, body: bytes, places: list[int]) -> None:
    check(body, cut(body, places), with_plain_iteration(body), run)


@settings(max_examples=50)
@given(chats(), places)
def test_well_formed_chats(run: Run, chat: tuple[bytes, list[dict[str, Any]]], places: list[int]) -> None:
    body, _ = chat
    check(body, cut(body, places), with_plain_iteration(body), run)
