"""`drain=True`: what is read behind the sentinel, its bounds, and who may interrupt it (clients: tests/clients)."""

from __future__ import annotations

import contextlib
import itertools
import socket
import threading
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import anyio
import pytest

from ssewire import AsyncChatStream, ChatStream, drain
from ssewire.opening import open_sync
from tests.unit.making import DONE, AsyncReads, AsyncResponse, Response, chunk

HELLO = chunk("Hello")
BOUND = 65_536
KIB = b"x" * 1024

# A test that waits so many seconds has failed.
TIMEOUT = 10.0


class Connected(Response):
    """A response with a connection of its own, which a wait for it can be interrupted by."""

    def __init__(self, *reads: Any) -> None:
        super().__init__(*reads)
        self.socket, self.server = socket.socketpair()
        self.socket.settimeout(TIMEOUT)

    def fileno(self) -> int:
        return self.socket.fileno()

    def close(self) -> None:
        super().close()
        self.socket.close()
        self.server.close()


def read(response: Any, **options: Any) -> ChatStream[Any]:
    stream = ChatStream(response, **options)
    assert [item.text for item in stream] == ["Hello"]
    assert stream.state == "done"
    return stream


async def read_async(response: Any, **options: Any) -> AsyncChatStream[Any]:
    stream = AsyncChatStream(response, **options)
    assert [item.text async for item in stream] == ["Hello"]
    assert stream.state == "done"
    return stream


def test_the_rest_of_the_body_is_read_to_its_end_and_not_looked_at() -> None:
    response = Connected(HELLO + DONE, HELLO, b"data: oops\n\n", b"")
    stream = read(response, drain=True)
    assert (response.reads.asked, response.closed, response.generator_closed) == (5, 1, True)
    assert (stream.stats.chunks, stream.error) == (1, None)


def test_without_it_nothing_more_is_read() -> None:
    response = Connected(HELLO + DONE, HELLO)
    read(response)
    assert (response.reads.asked, response.closed) == (1, 1)


def test_a_source_that_cannot_be_interrupted_is_not_asked_once_more() -> None:
    response = Response(HELLO + DONE, HELLO)
    read(response, drain=True)
    assert (response.reads.asked, response.closed) == (1, 1)


def test_no_more_than_so_many_bytes_are_read() -> None:
    response = Connected(HELLO + DONE, *[KIB] * 1000)
    read(response, drain=True)
    assert (response.reads.asked, response.closed) == (1 + BOUND // 1024 + 1, 1)


def test_no_longer_than_half_a_second_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0

    class Slowly(Connected):
        def iter_bytes(self) -> Iterator[Any]:
            nonlocal now
            for read in super().iter_bytes():
                now += 0.2
                yield read

    monkeypatch.setattr(drain, "monotonic", lambda: now)
    response = Slowly(HELLO + DONE, *[b": keep-alive\n\n"] * 9)
    read(response, drain=True)
    assert (response.reads.asked, response.closed) == (1 + 3, 1)


@pytest.mark.parametrize("wrong", [OSError("reset"), TimeoutError("late"), ValueError("v"), None, 7])
def test_what_goes_wrong_behind_the_sentinel_is_no_error(wrong: Any) -> None:
    response = Connected(HELLO + DONE, wrong)
    read(response, drain=True)
    assert (response.reads.asked, response.closed) == (2, 1)


def test_an_interruption_passes_through_and_the_response_is_closed() -> None:
    response = Connected(HELLO + DONE, KeyboardInterrupt())
    stream = ChatStream(response, drain=True)
    next(stream)
    with pytest.raises(KeyboardInterrupt):
        next(stream)
    assert (response.closed, response.generator_closed) == (1, True)


def test_an_unfinished_stream_is_not_read_to_its_end() -> None:
    response = Connected(HELLO, HELLO, DONE)
    with ChatStream(response, drain=True) as stream:
        next(stream)
    assert (stream.state, response.reads.asked, response.closed) == ("closed", 1, 1)


def test_limits_on_idleness_do_not_count_behind_the_sentinel() -> None:
    response = Connected(HELLO + DONE, *[b": keep-alive\n\n"] * 3)
    read(response, drain=True, idle_timeout=1e-9, first_event_timeout=60)
    assert (response.reads.asked, response.closed) == (5, 1)


def test_bytes_are_read_to_the_end_anyway() -> None:
    response = Connected(HELLO + DONE, KIB)
    stream = ChatStream(response, drain=True)
    assert list(stream.iter_bytes()) == [HELLO + DONE, KIB]
    assert (stream.state, response.reads.asked, response.closed) == ("done", 3, 1)


class Slow(Connected):
    """A response whose connection is silent behind the sentinel, with a reader that can tell of having been there."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting = threading.Event()
        self.readers = 0

    def iter_bytes(self) -> Iterator[Any]:
        yield HELLO + DONE
        yield from iter(self._receive, b"")

    def _receive(self) -> bytes:
        self.readers += 1
        self.waiting.set()
        return self.socket.recv(1024)


class SlowFile(Slow):
    """The same for a response that is read like a file, so that another thread may ask it as well."""

    iter_bytes = None  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__()
        self.given = iter((HELLO + DONE,))

    def read1(self, _size: int) -> bytes:
        return next(self.given, b"") or self._receive()


def test_time_ends_a_silent_read() -> None:
    response = Slow()
    start = time.monotonic()
    read(response, drain=True)
    assert time.monotonic() - start < TIMEOUT
    assert (response.readers, response.closed) == (1, 1)


@pytest.mark.parametrize("kind", [Slow, SlowFile])
def test_another_thread_may_close_meanwhile_and_waits_for_nothing(kind: type[Slow]) -> None:
    response = kind()
    stream = ChatStream(response, drain=True)
    reader = threading.Thread(target=lambda: list(stream))
    reader.start()
    assert response.waiting.wait(TIMEOUT)
    stream.close()
    assert response.readers == 1, "closing must not read"
    assert response.closed == 1, "closing must not wait"
    reader.join(TIMEOUT)
    assert (stream.state, response.closed) == ("done", 1)


# Asynchronously


@pytest.mark.anyio
async def test_the_rest_is_awaited() -> None:
    response = AsyncResponse(HELLO + DONE, HELLO, b"")
    await read_async(response, drain=True)
    assert (response.reads.asked, response.closed, response.generator_closed) == (4, 1, True)


@pytest.mark.anyio
async def test_no_more_than_so_many_bytes_are_awaited() -> None:
    response = AsyncResponse(HELLO + DONE, *[KIB] * 1000)
    await read_async(response, drain=True)
    assert (response.reads.asked, response.closed) == (1 + BOUND // 1024 + 1, 1)


@pytest.mark.anyio
@pytest.mark.parametrize("empty", [b"", b"x"])
async def test_small_reads_without_end_from_a_source_that_never_waits_have_an_end(empty: bytes) -> None:
    response = AsyncResponse(HELLO + DONE, *itertools.repeat(empty, 1_000_000))
    await read_async(response, drain=True)
    # No clock can interrupt such a source.
    assert response.reads.asked < 1_000_000
    assert response.closed == 1


@pytest.mark.anyio
@pytest.mark.parametrize("wrong", [OSError("reset"), TimeoutError("late"), None, 7])
async def test_what_goes_wrong_behind_the_sentinel_is_no_error_here_either(wrong: Any) -> None:
    response = AsyncResponse(HELLO + DONE, wrong)
    await read_async(response, drain=True)
    assert (response.reads.asked, response.closed) == (2, 1)


@pytest.mark.anyio
async def test_time_ends_a_silent_read_that_is_awaited() -> None:
    response = AsyncResponse(HELLO + DONE, anyio.sleep_forever)
    with anyio.fail_after(TIMEOUT):
        await read_async(response, drain=True)
    assert (response.reads.asked, response.closed, response.generator_closed) == (2, 1, True)


@pytest.mark.anyio
async def test_cancelling_meanwhile_is_cancelling_and_closes_the_response() -> None:
    response = AsyncResponse(HELLO + DONE, anyio.sleep_forever)
    stream = AsyncChatStream(response, drain=True)
    with anyio.move_on_after(0.03) as scope:
        async for _ in stream:
            pass
    assert scope.cancelled_caught
    assert (stream.state, response.closed, response.generator_closed) == ("done", 1, True)
    assert [item async for item in stream] == []


@pytest.mark.anyio
async def test_another_task_may_close_meanwhile_and_waits_for_nothing() -> None:
    go_on = anyio.Event()
    response = AsyncResponse()

    async def reads() -> AsyncIterator[bytes]:
        yield HELLO + DONE
        await go_on.wait()

    response.aiter_bytes = reads  # type: ignore[method-assign]
    stream = AsyncChatStream(response, drain=True)
    texts: list[str] = []

    async def reader() -> None:
        texts.extend([item.text async for item in stream])

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(reader)
        await anyio.wait_all_tasks_blocked()
        await stream.aclose()
        assert response.closed == 1
        go_on.set()
    assert (texts, stream.state) == (["Hello"], "done")


def test_without_an_event_loop_the_bytes_are_bounded_alone() -> None:
    reads = AsyncReads(HELLO + DONE, *[KIB] * 1000)
    with pytest.raises(StopIteration):
        read_async(reads, drain=True).send(None)
    assert (reads.asked, reads.closed) == (1 + BOUND // 1024 + 1, 1)


class Moving:
    """A response whose connection is given to another request while somebody asks for its socket."""

    def __init__(self, *numbers: int) -> None:
        self._numbers = iter(numbers)
        self.headers: dict[str, str] = {}

    def iter_bytes(self) -> list[bytes]:
        return []

    def close(self) -> None:
        pass

    def fileno(self) -> int:
        return next(self._numbers)


@pytest.mark.parametrize(("moves", "left"), [(False, b""), (True, b"for the other")])
def test_only_a_socket_that_is_still_the_responses_is_shut_down(moves: bool, left: bytes) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        number = ours.fileno()
        source = open_sync(Moving(number, number + 1 if moves else number))
        source.interrupt()
        with contextlib.suppress(BrokenPipeError):
            theirs.sendall(b"for the other")
        assert ours.recv(100) == left
