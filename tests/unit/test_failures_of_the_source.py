"""What reading the source raises passes through, with a note on how much had come before it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from ssewire import AsyncChatStream, AsyncEventStream, ChatStream, EventStream, NotAStreamError, SSEWireError
from tests.unit.making import Response, chunk

CHUNK = chunk("x")

WAYS: dict[str, Callable[[Any], Any]] = {
    "chunks": iter,
    "text": lambda stream: stream.iter_text(),
    "payloads": lambda stream: stream.iter_payloads(),
    "pairs": lambda stream: stream.iter_with_payload(),
    "batches": lambda stream: stream.iter_batches(),
    "bytes": lambda stream: stream.iter_bytes(),
}


class Lost(Exception):  # noqa: N818 - the name of a client's own exception
    """What a client raises."""


def reads(count: int, error: BaseException) -> Iterator[bytes]:
    # The last event is not whole, so it has not come.
    yield CHUNK * count + CHUNK[:9]
    raise error


async def reads_async(count: int, error: BaseException) -> AsyncIterator[bytes]:
    for read in reads(count, error):
        yield read


def notes(error: BaseException) -> list[str]:
    return getattr(error, "__notes__", [])


@pytest.mark.parametrize(("count", "words"), [(0, "no chunks"), (1, "1 chunk"), (3, "3 chunks")])
@pytest.mark.parametrize("way", WAYS)
def test_the_note_says_how_many_chunks_had_come(way: str, count: int, words: str) -> None:
    error = Lost("connection lost")
    stream = ChatStream(reads(count, error))
    with pytest.raises(Lost) as caught:
        list(WAYS[way](stream))
    assert caught.value is error
    assert notes(error) == [f"ssewire: {words} had come before this"]
    assert (stream.state, stream.stats.chunks) == ("incomplete", count)


@pytest.mark.parametrize("way", WAYS)
def test_it_does_so_asynchronously(way: str) -> None:
    async def main() -> None:
        stream = AsyncChatStream(reads_async(2, Lost()))
        with pytest.raises(Lost) as caught:
            async for _ in aiter(stream) if way == "chunks" else WAYS[way](stream):
                pass
        assert notes(caught.value) == ["ssewire: 2 chunks had come before this"]

    asyncio.run(main())


def test_a_stream_of_events_counts_events() -> None:
    with pytest.raises(Lost) as caught:
        list(EventStream(reads(2, Lost())))
    assert notes(caught.value) == ["ssewire: 2 events had come before this"]

    async def main() -> None:
        with pytest.raises(Lost) as caught:
            async for _ in AsyncEventStream(reads_async(1, Lost())):
                pass
        assert notes(caught.value) == ["ssewire: 1 event had come before this"]

    asyncio.run(main())


def test_an_exception_that_a_client_raises_again_has_one_note_of_ours() -> None:
    error = Lost()
    error.add_note("its own")
    for count in (1, 2):
        with pytest.raises(Lost):
            list(ChatStream(reads(count, error)))
    assert notes(error) == ["its own", "ssewire: 2 chunks had come before this"]


def test_what_had_come_can_be_asked_for_behind_it() -> None:
    stream = ChatStream(reads(3, Lost()), accumulate=True)
    with pytest.raises(Lost):
        list(stream)
    assert stream.completion().choices[0].message.content == "xxx"


def test_interruptions_and_errors_of_our_own_have_no_note() -> None:
    with pytest.raises(KeyboardInterrupt) as interrupted:
        list(ChatStream(reads(1, KeyboardInterrupt())))
    with pytest.raises(NotAStreamError) as refused:
        list(ChatStream(Response(b"no", status=500)))
    with pytest.raises(SSEWireError) as own:
        list(ChatStream(reads(1, SSEWireError("own"))))
    assert [notes(caught.value) for caught in (interrupted, refused, own)] == [[], [], []]
