"""`iter_bytes` among threads: who reads as well, who closes the stream, who drops it."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Final

import pytest

from ssewire import ChatStream, SSEWireError
from ssewire.relay import Following
from tests.unit.cases import HELLO
from tests.unit.making import DONE, Response, chunk, sse
from tests.unit.relaying import Relayer, switching_often
from tests.unit.test_lifecycle import TIMEOUT, Blocking, blocked

B = chunk("b")


def over(source: Blocking) -> Response:
    """A response that waits for `go_on` behind its first read."""
    response = Response()
    response.iter_bytes = source.generator  # type: ignore[method-assign]
    return response


# Another thread reads


def as_bytes(stream: ChatStream[Any]) -> Iterator[Any]:
    return stream.iter_bytes()


PULLS: Final[dict[str, tuple[Callable[[Any], Iterator[Any]], Callable[[Any], Iterator[Any]], str]]] = {
    "bytes and bytes": (as_bytes, as_bytes, "one thread"),
    "bytes and chunks": (as_bytes, iter, "hands out its bytes"),
    "bytes and texts": (as_bytes, lambda stream: stream.iter_text(), "hands out its bytes"),
    "bytes and batches": (as_bytes, lambda stream: stream.iter_batches(), "hands out its bytes"),
    "chunks and bytes": (iter, as_bytes, "one thread"),
    "batches and bytes": (lambda stream: stream.iter_batches(), as_bytes, "one thread"),
}


@pytest.mark.parametrize(("first", "second", "message"), PULLS.values(), ids=PULLS)
def test_a_second_thread_gets_a_clear_error_and_nothing_is_lost(
    first: Callable[[Any], Iterator[Any]], second: Callable[[Any], Iterator[Any]], message: str
) -> None:
    source = Blocking(B, DONE)
    stream = ChatStream(over(source), accumulate=True)
    reading = first(stream)
    reader = blocked(source, reading)
    for _ in range(2):
        with pytest.raises(SSEWireError, match=message):
            next(second(stream))
    assert (stream.state, stream.error, stream.completion().text) == ("open", None, "Hello")
    source.go_on.set()
    found = reader.outcome()
    item = found[0] if isinstance(found, list) else found
    assert (item if isinstance(item, bytes) else item.text) in (B, "b")
    assert list(reading) == ([DONE] if isinstance(found, bytes) else [])
    assert (stream.state, stream.error, stream.completion().text) == ("done", None, "Hellob")


def test_the_same_iterator_in_two_threads() -> None:
    source = Blocking(B, DONE)
    stream = ChatStream(over(source))
    relay = stream.iter_bytes()
    reader = blocked(source, relay)
    with pytest.raises(SSEWireError, match="one thread"):
        next(relay)
    source.go_on.set()
    assert reader.outcome() == B
    assert list(relay) == [DONE]


def test_many_threads_that_relay_at_once_lose_and_double_nothing() -> None:
    reads = [chunk(str(number)) for number in range(2000)]
    stream = ChatStream(read for read in reads)
    found: list[bytes] = []
    refused: list[str] = []

    def pull() -> None:
        relay = stream.iter_bytes()
        while True:
            try:
                found.append(next(relay))
            except StopIteration:
                return
            except SSEWireError as error:
                refused.append(str(error))

    with switching_often():
        threads = [threading.Thread(target=pull) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(TIMEOUT)
    assert sorted(found, key=reads.index) == reads
    assert all("one thread" in message for message in refused)
    assert (stream.state, stream.stats.chunks) == ("incomplete", 2000)


def test_threads_that_begin_at_once_get_the_same_relay(monkeypatch: pytest.MonkeyPatch) -> None:
    both = threading.Barrier(2)

    def meeting(*arguments: Any) -> Following:
        with suppress(threading.BrokenBarrierError):
            both.wait(0.1)
        return Following(*arguments)

    monkeypatch.setattr("ssewire.stream.Following", meeting)
    stream = ChatStream(Response(HELLO, DONE))
    relays: list[Iterator[bytes]] = []
    threads = [threading.Thread(target=lambda: relays.append(stream.iter_bytes())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(TIMEOUT)
    assert relays == [stream.iter_bytes()] * 2
    assert list(relays[0]) == [HELLO, DONE]


# Closed by another thread


@pytest.mark.parametrize("behind", [(B,), (), (DONE,), (OSError("reset"),)], ids=["read", "end", "sentinel", "error"])
def test_closing_from_another_thread_never_looks_like_an_end(behind: tuple[Any, ...]) -> None:
    source = Blocking(*behind)
    response = over(source)
    stream = ChatStream(response)
    relay = stream.iter_bytes()
    reader = blocked(source, relay)
    stream.close()
    assert (stream.state, response.closed) == ("closed", 1)
    source.go_on.set()
    outcome = reader.outcome()
    # What the read under way brought may still be handed out.
    if not (behind and outcome == behind[0]):
        assert isinstance(outcome, SSEWireError)
        assert "closed" in str(outcome)
    with pytest.raises(SSEWireError, match="closed"):
        next(relay)
    assert stream.state == "closed"
    del stream, relay, reader, outcome
    gc.collect()
    assert (response.closed, source.ended) == (1, True)


# Dropped


@pytest.mark.parametrize("first", [HELLO, sse(b"oops"), DONE, b"<html>", b""])
@pytest.mark.parametrize("asks", [True, False])
def test_an_abandoned_relay_is_told_of_and_its_response_closed(first: bytes, asks: bool) -> None:
    response = Response(first, HELLO, HELLO)
    stream = ChatStream(response)
    relays = [stream.iter_bytes()]
    assert [next(relays[0]), next(relays[0])] == [first, HELLO]
    if asks:
        assert stream.state in ("open", "done")
    del stream
    assert response.closed == 0
    with pytest.warns(ResourceWarning, match="over Response was dropped before its end: use it in a with block"):
        relays.clear()
    assert (response.closed, response.generator_closed) == (1, True)


def test_who_was_refused_chunks_has_not_read_it() -> None:
    stream = ChatStream(Response(HELLO, HELLO))
    relays = [stream.iter_bytes()]
    assert next(relays[0]) == HELLO
    with pytest.raises(SSEWireError, match="hands out its bytes"):
        next(stream)
    del stream
    with pytest.warns(ResourceWarning, match="over Response was dropped before its end"):
        relays.clear()


def test_a_loop_over_the_bytes_of_a_stream_that_nobody_else_holds_keeps_the_response_open() -> None:
    response = Response(HELLO, HELLO, DONE, HELLO)
    for _ in ChatStream(response).iter_bytes():
        gc.collect()
        assert response.closed == 0
    assert response.closed == 1


def test_what_was_given_is_held_by_nobody_when_it_was_looked_at() -> None:
    reads = [chunk("a"), chunk("b", "stop", usage={"total_tokens": 1}), DONE, chunk("c")]
    before = [sys.getrefcount(read) for read in reads]
    stream = ChatStream(iter(list(reads)))
    assert [read[:0] for read in stream.iter_bytes()] == [b""] * 4
    assert stream.state == "done"
    assert [sys.getrefcount(read) for read in reads] == before


def test_streams_in_many_threads_are_independent() -> None:
    bodies = [[chunk(f"{name}{number}") for number in range(500)] + [DONE] for name in "abcd"]
    threads = [Relayer(ChatStream(iter(reads))) for reads in bodies]
    for thread in threads:
        thread.start()
    for thread, reads in zip(threads, bodies, strict=True):
        thread.join(TIMEOUT)
        assert (thread.found, thread.raised) == (reads, None)
