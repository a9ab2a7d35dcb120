"""AsyncChatStream: the same bodies with the same outcome, on asyncio and on trio; cancelling, and closing it."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any

import anyio
import anyio.lowlevel
import msgspec
import pytest

from ssewire import APIError, AsyncChatStream, ChatCompletionChunk, DecodeError, NotAStreamError, SSEWireError
from tests.reading import pieces
from tests.unit.cases import CASES, ERROR, HELLO, LIMIT, STOP, Case
from tests.unit.making import DONE, AsyncReads, AsyncResponse, chunk, sse

pytestmark = pytest.mark.anyio


async def outcome(stream: AsyncChatStream[ChatCompletionChunk]) -> list[str | type[Exception]]:
    """The text of each chunk and each error in its place, going on behind every error."""
    found: list[str | type[Exception]] = []
    for _ in range(20):
        try:
            async for item in stream:
                found.append(item.text)  # noqa: PERF401 - an error must not lose what came before it
        except SSEWireError as error:
            found.append(type(error))
        else:
            return found
    raise AssertionError("no end of errors")


CUTS: dict[str, Callable[[bytes], list[bytes]]] = {
    "whole": lambda body: [body],
    "byte by byte": lambda body: pieces(body, 1),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.parametrize("reads", CUTS.values(), ids=CUTS)
async def test_outcome_and_state(case: Case, reads: Callable[[bytes], list[bytes]]) -> None:
    source = AsyncReads(*reads(case.body))
    stream = AsyncChatStream(source, require_done=case.require_done, max_event_size=LIMIT)
    assert stream.state == "open"
    assert await outcome(stream) == case.outcome
    assert (stream.state, source.closed) == (case.state, 1)
    assert await outcome(stream) == []
    await stream.aclose()
    assert await outcome(stream) == []
    assert (stream.state, source.closed) == (case.state, 1)


async def test_behind_the_sentinel_the_source_is_not_asked_once_more_and_closed() -> None:
    source = AsyncReads(HELLO, DONE, HELLO)
    assert [item.text async for item in AsyncChatStream(source)] == ["Hello"]
    assert (source.asked, source.closed) == (2, 1)


@pytest.mark.parametrize(
    ("reads", "state"),
    [
        ([HELLO, DONE, HELLO], "done"),
        ([HELLO, STOP], "finished"),
        ([HELLO], "incomplete"),
        ([HELLO, OSError("reset")], "incomplete"),
        ([HELLO, "text"], "incomplete"),
        ([b"<html>"], "error"),
        ([b"data: " + b"x" * 500], "error"),
    ],
)
async def test_at_the_end_the_response_and_the_reads_are_closed_at_once(reads: list[Any], state: str) -> None:
    response = AsyncResponse(*reads)
    stream = AsyncChatStream(response, max_event_size=LIMIT)
    with suppress(SSEWireError, OSError, TypeError):
        async for _ in stream:
            pass
    assert stream.state == state
    assert (response.closed, response.generator_closed) == (1, True)


async def test_leaving_the_block_closes_once_and_keeps_the_error() -> None:
    response = AsyncResponse(HELLO, HELLO)
    with pytest.raises(ZeroDivisionError):
        async with AsyncChatStream(response) as stream:
            assert 1 / len((await anext(stream)).reasoning)
    await stream.aclose()
    assert stream.state == "closed"
    assert (response.closed, response.generator_closed) == (1, True)


async def test_break_leaves_the_stream_open_and_a_second_loop_goes_on() -> None:
    source = AsyncReads(chunk("a") + chunk("b"), chunk("c"), DONE)
    stream = AsyncChatStream(source)
    async for item in stream:
        assert item.text == "a"
        break
    assert (stream.state, source.closed) == ("open", 0)
    assert [item.text async for item in stream] == ["b", "c"]


@pytest.mark.parametrize("type", [ChatCompletionChunk, dict[str, Any]])
async def test_all_ways_to_iterate_share_one_position_and_leave_no_generator_behind(type: type[Any]) -> None:
    stream = AsyncChatStream(AsyncReads(*(chunk(text) for text in "abcdef"), DONE), type=type)
    async for _ in stream:
        break
    async for text in stream.iter_text():
        assert text == "b"
        break
    async for payload in stream.iter_payloads():
        assert sse(payload) == chunk("c")
        break
    async for payload, _ in stream.iter_with_payload():
        assert sse(payload) == chunk("d")
        break
    # A generator that is left unfinished would be told of by trio.
    gc.collect()
    assert [text async for text in stream.iter_text()] == ["e", "f"]
    assert stream.state == "done"


@pytest.mark.parametrize("type", [ChatCompletionChunk, dict[str, Any]])
async def test_the_text_goes_on_behind_an_error(type: type[Any]) -> None:
    stream = AsyncChatStream(AsyncReads(chunk("a") + sse(b"oops") + chunk("") + chunk("b") + ERROR, DONE), type=type)
    texts = stream.iter_text()
    assert await anext(texts) == "a"
    with pytest.raises(DecodeError):
        await anext(texts)
    assert await anext(texts) == "b"
    with pytest.raises(APIError):
        await anext(texts)
    assert [text async for text in texts] == []


async def test_usage_finish_reasons_and_last_event_id_are_followed() -> None:
    usage = {"total_tokens": 3}
    body = b"id: 7\n" + HELLO + chunk("", "stop") + sse({"choices": [], "usage": usage}) + DONE
    stream = AsyncChatStream(AsyncReads(*pieces(body, 11)), type=dict[str, Any])
    assert len([item async for item in stream]) == 3
    assert (msgspec.to_builtins(stream.usage), stream.finish_reasons) == (usage, {0: "stop"})
    assert stream.last_event_id == "7"


async def test_bytes_are_a_source() -> None:
    stream = AsyncChatStream(memoryview(HELLO + DONE))
    assert [item.text async for item in stream] == ["Hello"]


async def test_a_bad_status_is_an_error_with_the_start_of_the_body() -> None:
    response = AsyncResponse(*[b"x" * 1000] * 1000, status=503, headers={"Retry-After": "1"})
    stream = AsyncChatStream(response)
    with pytest.raises(NotAStreamError) as caught:
        await anext(stream)
    error = caught.value
    assert (error.status, error.headers, len(error.body)) == (503, {"retry-after": "1"}, 65_536)
    assert response.reads.asked == 1001
    assert (stream.state, response.closed, response.generator_closed) == ("error", 1, True)


# What the source raises


@pytest.mark.parametrize("error", [OSError("reset"), ValueError("v"), RecursionError("r")])
async def test_an_error_of_the_source_passes_through_as_it_is(error: Exception) -> None:
    source = AsyncReads(HELLO, error, HELLO)
    stream = AsyncChatStream(source)
    await anext(stream)
    with pytest.raises(type(error)) as caught:
        await anext(stream)
    assert caught.value is error
    assert (stream.state, source.closed) == ("incomplete", 1)
    assert [item async for item in stream] == []
    assert source.asked == 2


async def test_an_interrupted_read_leaves_the_stream_closed() -> None:
    class Interruption(BaseException):
        pass

    interruption = Interruption()
    source = AsyncReads(HELLO, interruption, HELLO)
    stream = AsyncChatStream(source)
    await anext(stream)
    with pytest.raises(Interruption) as caught:
        await anext(stream)
    assert caught.value is interruption
    assert (stream.state, source.closed) == ("closed", 1)
    with pytest.raises(SSEWireError, match="closed"):
        await anext(stream)


@pytest.mark.parametrize("read", ["data: x\n\n", None, 7])
async def test_a_read_that_is_no_bytes_is_a_type_error(read: Any) -> None:
    source = AsyncReads(HELLO, read, HELLO)
    stream = AsyncChatStream(source)
    await anext(stream)
    with pytest.raises(TypeError, match="iter_bytes" if isinstance(read, str) else "expected bytes"):
        await anext(stream)
    assert (stream.state, source.closed) == ("incomplete", 1)
    assert [item async for item in stream] == []


# Cancelling and closing


class Silent:
    """A source that gives one read, and then nothing until it is told to go on."""

    def __init__(self, *behind: bytes) -> None:
        self.go_on = anyio.Event()
        self.behind = behind
        self.ended = False

    async def generator(self) -> AsyncIterator[bytes]:
        try:
            yield HELLO
            await self.go_on.wait()
            for read in self.behind:
                yield read
        finally:
            self.ended = True


async def test_a_cancelled_read_leaves_the_stream_closed() -> None:
    source = Silent(HELLO, DONE)
    stream = AsyncChatStream(source.generator())
    await anext(stream)
    with anyio.CancelScope() as scope:
        scope.cancel()
        await anext(stream)
    assert scope.cancelled_caught
    assert stream.state == "closed"
    assert source.ended
    for reader in (stream, stream.iter_text(), stream.iter_payloads()):
        with pytest.raises(SSEWireError, match="closed"):
            await anext(reader)
    await stream.aclose()


async def test_a_cancelled_read_behind_an_error_inside_the_stream_is_no_end_either() -> None:
    source = Silent()

    async def reads() -> AsyncIterator[bytes]:
        yield ERROR
        async for read in source.generator():
            yield read

    stream = AsyncChatStream(reads())
    with pytest.raises(APIError):
        await anext(stream)
    await anext(stream)
    with anyio.CancelScope() as scope:
        scope.cancel()
        await anext(stream)
    assert scope.cancelled_caught
    with pytest.raises(SSEWireError, match="closed"):
        await anext(stream)
    assert stream.state == "error"


async def read_into(stream: AsyncChatStream[ChatCompletionChunk], results: list[Any]) -> None:
    """Read one chunk, and note what came of it."""
    try:
        results.append(await anext(stream))
    except Exception as error:
        results.append(error)
    except BaseException as error:
        results.append(error)
        raise


@pytest.mark.parametrize("behind", [(HELLO, DONE), (), (b"data: [DONE]\n\n",)], ids=["chunk", "end", "sentinel"])
async def test_closing_from_another_task_does_not_wait_and_never_looks_like_an_end(behind: tuple[bytes, ...]) -> None:
    source = Silent(*behind)
    stream = AsyncChatStream(source.generator())
    await anext(stream)
    results: list[Any] = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read_into, stream, results)
        await anyio.wait_all_tasks_blocked()
        await stream.aclose()
        assert stream.state == "closed"
        assert results == []
        source.go_on.set()
    (error,) = results
    assert isinstance(error, SSEWireError)
    assert "closed" in str(error)
    assert source.ended
    with pytest.raises(SSEWireError, match="closed"):
        await anext(stream)


async def test_closing_from_another_task_closes_the_response_at_once() -> None:
    source = Silent(HELLO)
    response = AsyncResponse()
    response.aiter_bytes = source.generator  # type: ignore[method-assign]
    stream = AsyncChatStream(response)
    await anext(stream)
    results: list[Any] = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read_into, stream, results)
        await anyio.wait_all_tasks_blocked()
        await stream.aclose()
        assert response.closed == 1
        source.go_on.set()
    assert isinstance(results[0], SSEWireError)
    assert (response.closed, source.ended) == (1, True)


async def test_a_task_that_is_cancelled_after_another_has_closed_the_stream_is_cancelled() -> None:
    source = Silent()
    stream = AsyncChatStream(source.generator())
    await anext(stream)
    results: list[Any] = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read_into, stream, results)
        await anyio.wait_all_tasks_blocked()
        await stream.aclose()
        tasks.cancel_scope.cancel()
    assert isinstance(results[0], anyio.get_cancelled_exc_class())
    assert stream.state == "closed"


async def test_two_tasks_at_once_are_a_clear_error_and_nothing_is_lost() -> None:
    source = Silent(chunk("b") + chunk("c"), DONE)
    stream = AsyncChatStream(source.generator())
    await anext(stream)
    results: list[Any] = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read_into, stream, results)
        await anyio.wait_all_tasks_blocked()
        for reader in (stream, stream.iter_text()):
            with pytest.raises(SSEWireError, match="one task at a time"):
                await anext(reader)
        source.go_on.set()
    assert [item.text for item in results] == ["b"]
    assert [item.text async for item in stream] == ["c"]
    assert stream.state == "done"


async def test_an_abandoned_stream_is_told_of_and_closes_nothing_behind_the_loops_back() -> None:
    response = AsyncResponse()
    source = AsyncReads(HELLO, HELLO)
    response.aiter_bytes = lambda: source  # type: ignore[method-assign]
    streams = [AsyncChatStream(response)]
    await anext(streams[0])
    with pytest.warns(ResourceWarning, match="AsyncResponse was dropped before its end"):
        streams.clear()
    await anyio.lowlevel.checkpoint()
    assert (source.closed, response.closed) == (0, 0)


async def test_a_loop_over_a_stream_that_nobody_else_holds_goes_to_its_end() -> None:
    source = AsyncReads(HELLO, HELLO, DONE)
    count = 0
    async for _ in AsyncChatStream(source):
        gc.collect()
        count += 1
    assert (count, source.closed) == (2, 1)


def test_a_stream_left_open_by_one_event_loop_is_no_error_in_the_next() -> None:
    streams: list[AsyncChatStream[ChatCompletionChunk]] = []

    async def first() -> None:
        streams.append(AsyncChatStream(AsyncResponse(HELLO, HELLO)))
        await anext(streams[0])

    async def second() -> None:
        with pytest.warns(ResourceWarning, match="dropped before its end"):
            streams.clear()
        gc.collect()
        await anyio.lowlevel.checkpoint()

    anyio.run(first)
    anyio.run(second)
