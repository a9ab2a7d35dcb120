"""Threads, re-entry, abandoned streams and the collector: what goes on around a loop over a stream."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import pytest

from ssewire import APIError, ChatCompletionChunk, ChatStream, EventStream, SSEWireError
from tests.unit.cases import HELLO
from tests.unit.making import DONE, Reads, Response, chunk

# A thread that waits so many seconds for the other has failed; one that works never gets near it.
TIMEOUT = 10.0


class Blocking:
    """Reads that wait for `go_on` after the first; `waiting` is set when they do."""

    def __init__(self, *behind: Any) -> None:
        self.behind = behind
        self.waiting = threading.Event()
        self.go_on = threading.Event()
        self.ended = False

    def generator(self) -> Iterator[Any]:
        try:
            yield HELLO
            self.waiting.set()
            assert self.go_on.wait(TIMEOUT)
            for read in self.behind:
                if isinstance(read, Exception):
                    raise read
                yield read
        finally:
            self.ended = True


class Reader(threading.Thread):
    """A thread that takes the next item of a stream."""

    def __init__(self, stream: Iterator[Any]) -> None:
        super().__init__()
        self._stream = stream
        self.result: Any = None

    def run(self) -> None:
        try:
            self.result = next(self._stream)
        except Exception as error:
            self.result = error

    def outcome(self) -> Any:
        self.join(TIMEOUT)
        assert not self.is_alive()
        return self.result


def blocked(source: Blocking, stream: Iterator[Any]) -> Reader:
    """A thread that waits inside a read of the source, behind its first item."""
    next(stream)
    reader = Reader(stream)
    reader.start()
    assert source.waiting.wait(TIMEOUT)
    return reader


# Threads


def test_a_second_thread_gets_a_clear_error_and_nothing_is_lost() -> None:
    source = Blocking(chunk("b") + chunk("c"), DONE)
    stream = ChatStream(source.generator())
    reader = blocked(source, stream)
    for second in (stream, stream.iter_text(), stream.iter_payloads(), stream.iter_with_payload()):
        with pytest.raises(SSEWireError, match="one thread or task at a time"):
            next(second)
    assert (stream.state, stream.usage, stream.finish_reasons, stream.last_event_id) == ("open", None, {}, "")
    source.go_on.set()
    assert reader.outcome().text == "b"
    assert [item.text for item in stream] == ["c"]
    assert stream.state == "done"


def test_many_threads_that_pull_at_once_lose_and_double_nothing() -> None:
    texts = [str(number) for number in range(3000)]
    found: list[str] = []
    refused: list[str] = []

    def reads() -> Iterator[bytes]:
        for text in texts:
            yield chunk(text)
        yield DONE

    stream = ChatStream(reads())

    def pull() -> None:
        while True:
            try:
                found.append(next(stream).text)
            except StopIteration:
                return
            except SSEWireError as error:
                refused.append(str(error))

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=pull) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(TIMEOUT)
    finally:
        sys.setswitchinterval(interval)
    assert sorted(found, key=int) == texts
    assert all("one thread or task at a time" in message for message in refused)
    assert stream.state == "done"


@pytest.mark.parametrize(
    "behind", [(HELLO, DONE), (), (DONE,), (OSError("reset"),)], ids=["chunk", "end", "sentinel", "error"]
)
@pytest.mark.parametrize("kind", [ChatStream, EventStream])
def test_closing_from_another_thread_does_not_wait_and_never_looks_like_an_end(
    kind: type[Any], behind: tuple[Any, ...]
) -> None:
    source = Blocking(*behind)
    stream = kind(source.generator())
    reader = blocked(source, stream)
    stream.close()
    assert stream.state == "closed"
    source.go_on.set()
    outcome = reader.outcome()
    assert isinstance(outcome, SSEWireError)
    assert "closed" in str(outcome)
    with pytest.raises(SSEWireError, match="closed"):
        next(stream)
    assert stream.state == "closed"
    # Without a warning, since the stream has been closed.
    del stream, reader, outcome
    gc.collect()
    assert source.ended


@pytest.mark.parametrize("read", [b":\n\n", b"", b": ping\n\n" * 100_000], ids=["small", "empty", "large"])
@pytest.mark.parametrize("kind", [ChatStream, EventStream])
def test_a_reader_that_finds_nothing_in_its_reads_hears_of_closing(kind: type[Any], read: bytes) -> None:
    begun = threading.Event()

    def first(read: bytes) -> bytes:
        begun.set()
        return read

    # Behind the first read none of it is Python code.
    stream = kind(chain(map(first, [read]), repeat(read)))
    reader = Reader(stream)
    reader.start()
    assert begun.wait(TIMEOUT)
    stream.close()
    outcome = reader.outcome()
    assert isinstance(outcome, SSEWireError)
    assert "closed" in str(outcome)
    assert stream.state == "closed"


def test_a_stream_that_is_closed_behind_an_error_has_no_end() -> None:
    source = Blocking()
    stream = ChatStream(chain([b'data: {"error": {"message": "slow down"}}\n\n'], source.generator()))
    with pytest.raises(APIError):
        next(stream)
    reader = blocked(source, stream)
    stream.close()
    source.go_on.set()
    assert "closed" in str(reader.outcome())
    assert stream.state == "error"


def test_closing_from_another_thread_closes_the_response_at_once() -> None:
    source = Blocking(HELLO)
    response = Response()
    response.iter_bytes = source.generator  # type: ignore[method-assign]
    stream = ChatStream(response)
    reader = blocked(source, stream)
    stream.close()
    assert response.closed == 1
    source.go_on.set()
    reader.outcome()
    stream.close()
    assert (response.closed, source.ended) == (1, True)


class EndedByClosing(Iterator[bytes]):
    """Reads that wait until somebody closes them, and fail then; closing them waits for `seen`."""

    def __init__(self) -> None:
        self.closing = threading.Event()
        self.seen = threading.Event()

    def __next__(self) -> bytes:
        assert self.closing.wait(TIMEOUT)
        raise OSError("closed")

    def close(self) -> None:
        self.closing.set()
        assert self.seen.wait(TIMEOUT)


@pytest.mark.parametrize("kind", [ChatStream, EventStream])
def test_what_closing_does_to_a_read_is_no_end_for_the_next(kind: type[Any]) -> None:
    source = EndedByClosing()
    stream = kind(source)
    closer = threading.Thread(target=stream.close)
    closer.start()
    # Both of them before `close` returns.
    for _ in range(2):
        with pytest.raises(SSEWireError, match="closed"):
            next(stream)
    source.seen.set()
    closer.join(TIMEOUT)
    assert stream.state == "closed"


def test_streams_in_many_threads_are_independent() -> None:
    body = b"".join(chunk(str(number)) for number in range(500)) + DONE
    results: list[str] = []

    def read() -> None:
        for size in (1, 7, 1000, len(body)):
            reads = (body[at : at + size] for at in range(0, len(body), size))
            results.append("".join(ChatStream(reads).iter_text()))

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(TIMEOUT)
    assert results == ["".join(map(str, range(500)))] * 16


# Re-entry


class Reentrant:
    """Reads that use the stream which is asking for them."""

    def __init__(self, use: str) -> None:
        self._use = use
        self.stream: ChatStream[ChatCompletionChunk] | None = None

    def __iter__(self) -> Iterator[bytes]:
        yield HELLO
        assert self.stream is not None
        if self._use == "close":
            self.stream.close()
        elif self._use == "next":
            next(self.stream)
        else:
            assert (self.stream.state, self.stream.finish_reasons, self.stream.usage) == ("open", {}, None)
        yield HELLO + DONE


def test_a_source_that_reads_its_own_stream_gets_a_clear_error() -> None:
    source = Reentrant("next")
    source.stream = stream = ChatStream(source)
    next(stream)
    with pytest.raises(SSEWireError, match="one thread or task at a time"):
        next(stream)
    assert stream.state == "incomplete"
    assert list(stream) == []


def test_a_source_may_look_at_its_stream() -> None:
    source = Reentrant("look")
    source.stream = stream = ChatStream(source)
    assert [item.text for item in stream] == ["Hello", "Hello"]


def test_a_source_that_closes_its_own_stream_closes_it() -> None:
    source = Reentrant("close")
    source.stream = stream = ChatStream(source)
    next(stream)
    with pytest.raises(SSEWireError, match="closed"):
        list(stream)
    assert stream.state == "closed"


# Abandoned streams and the collector


def test_a_loop_over_a_stream_that_nobody_else_holds_keeps_the_response_open() -> None:
    response = Response(HELLO, HELLO, DONE)
    for _ in ChatStream(response):
        gc.collect()
        assert response.closed == 0
    assert response.closed == 1


@pytest.mark.parametrize("views", ["iter_text", "iter_payloads", "iter_with_payload", "__iter__"])
def test_any_iterator_keeps_the_stream(views: str) -> None:
    response = Response(HELLO, HELLO, DONE)
    items = getattr(ChatStream(response), views)()
    gc.collect()
    assert (len(list(items)), response.closed) == (2, 1)


@pytest.mark.parametrize("kind", [ChatStream, EventStream])
def test_an_abandoned_stream_is_told_of_and_its_response_closed(kind: type[Any]) -> None:
    response = Response(HELLO, HELLO)
    streams = [kind(response)]
    next(streams[0])
    with pytest.warns(ResourceWarning, match="over Response was dropped before its end: use it in a with block"):
        streams.clear()
    assert (response.closed, response.generator_closed) == (1, True)


def test_where_warnings_are_errors_an_abandoned_response_is_closed_all_the_same() -> None:
    program = """
from ssewire import ChatStream
from tests.unit.making import Response
response = Response(b"data: {}\\n\\n")
next(ChatStream(response))
print(response.closed)
"""
    command = [sys.executable, "-W", "error", "-c", program]
    result = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True)
    assert result.stdout == "1\n"
    assert "ResourceWarning" in result.stderr


@pytest.mark.parametrize("ending", [DONE, b"", OSError("reset"), None])
def test_a_stream_that_has_ended_or_was_closed_is_dropped_in_silence(ending: Any) -> None:
    response = Response(HELLO, *([] if ending is None else [ending]))
    with ChatStream(response) as stream:
        next(stream)
        if ending is not None:
            with suppress(OSError, SSEWireError):
                next(stream, None)
    del stream
    gc.collect()
    assert response.closed == 1


class Cycle:
    """An endless source without a close, which holds the stream that reads it."""

    stream: Any = None

    def __iter__(self) -> Cycle:
        return self

    def __next__(self) -> bytes:
        return HELLO * 2


@pytest.mark.parametrize("kind", [ChatStream, EventStream])
@pytest.mark.parametrize("through", ["stream", "iterator"])
def test_a_cycle_through_the_source_is_collected(kind: type[Any], through: str) -> None:
    source = Cycle()
    stream = kind(source)
    source.stream = stream if through == "stream" else iter(stream)
    next(stream)
    seen = weakref.ref(source)
    del source, stream
    gc.collect()
    assert seen() is None


def test_a_cycle_through_the_type_of_a_chunk_is_collected() -> None:
    class Chunk(dict[str, Any]):
        stream: Any = None

    stream = ChatStream([HELLO], type=dict)
    holder = Chunk(next(stream))
    holder.stream = (stream, stream.iter_payloads(), holder)
    seen = weakref.ref(holder)
    del holder, stream
    gc.collect()
    assert seen() is None


def test_what_was_read_and_handed_out_is_held_by_nobody() -> None:
    reads = [chunk("a"), chunk("b", "stop", usage={"total_tokens": 1}), DONE]
    before = [sys.getrefcount(read) for read in reads]
    stream = ChatStream(Reads(*reads))
    payloads = [payload for payload, _ in stream.iter_with_payload()]
    assert stream.state == "done"
    assert [sys.getrefcount(payload) for payload in payloads] == [3, 3]
    del stream
    assert [sys.getrefcount(read) for read in reads] == before
