"""What asynchronous iterators give to be awaited: on event loops, and driven by hand as loops do it."""

from __future__ import annotations

import asyncio
import gc
import types
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Generator, Iterator
from contextlib import suppress
from typing import Any
from weakref import ref

import anyio
import anyio.lowlevel
import pytest

from ssewire import APIError, AsyncChatStream, AsyncEventStream, DecodeError, SSEWireError
from tests.unit.cases import ERROR
from tests.unit.making import DONE, AsyncReads, AsyncResponse, chunk, sse

TEXTS = ("a", "b", "c")

Way = Callable[[Any], AsyncIterator[Any]]

WAYS: dict[str, Way] = {
    "chunks": AsyncChatStream,
    "text": lambda reads: AsyncChatStream(reads).iter_text(),
    "text of a choice": lambda reads: AsyncChatStream(reads).iter_text(0),
    "payloads": lambda reads: AsyncChatStream(reads).iter_payloads(),
    "with payload": lambda reads: AsyncChatStream(reads).iter_with_payload(),
    "batches": lambda reads: AsyncChatStream(reads).iter_batches(),
    "events": AsyncEventStream,
}


def text_of(item: Any) -> str:
    """The text in an item, whichever way it came."""
    if isinstance(item, tuple):
        payload, item = item
        assert sse(payload) == chunk(item.text, item.choices[0].finish_reason)
    if isinstance(item, list):
        (item,) = item
    if isinstance(item, bytes):
        return next((text for text in TEXTS if sse(item) == chunk(text)), "")
    if hasattr(item, "data"):
        return text_of(item.payload)
    return item if isinstance(item, str) else item.text


@types.coroutine
def suspended(given: Any = None) -> Generator[Any, Any, Any]:
    """Suspend whoever drives this, giving it something; gives what it sends."""
    return (yield given)


async def suspending(reads: tuple[bytes, ...]) -> AsyncIterator[bytes]:
    for read in reads:
        await anyio.lowlevel.checkpoint()
        yield read


BODY = (*map(chunk, TEXTS), chunk("", "stop"))
"""It ends without a sentinel, which would be an event, too."""


async def rest(items: AsyncIterator[Any]) -> list[str]:
    """What is left of the texts, to the end."""
    return [text for text in [text_of(item) async for item in items] if text]


@pytest.mark.anyio
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("source", [suspending, lambda reads: AsyncReads(*reads)], ids=["suspending", "at once"])
async def test_each_way_gives_what_is_awaited(way: Way, source: Callable[[tuple[bytes, ...]], Any]) -> None:
    items = way(source(BODY))
    assert text_of(await anext(items)) == "a"
    assert await rest(items) == ["b", "c"]


# Awaitables that nobody awaits


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_one_that_is_never_awaited_takes_no_item(way: Way) -> None:
    items = way(AsyncReads(*BODY))
    dropped, thrown = items.__anext__(), items.__anext__()
    assert isinstance(dropped, Coroutine)
    assert isinstance(thrown, Coroutine)
    dropped.close()
    with pytest.raises(ZeroDivisionError):
        thrown.throw(ZeroDivisionError())
    assert asyncio.run(rest(items)) == [*TEXTS]


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_task_that_is_cancelled_before_it_ran_takes_no_item(way: Way) -> None:
    async def main() -> None:
        items = way(AsyncReads(*BODY))
        cancelled, run = asyncio.ensure_future(items.__anext__()), asyncio.ensure_future(items.__anext__())
        cancelled.cancel()
        assert text_of(await run) == "a"
        with pytest.raises(asyncio.CancelledError):
            await cancelled
        assert await rest(items) == ["b", "c"]

    asyncio.run(main())


# Cancelling


@pytest.mark.anyio
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
async def test_a_read_that_is_cancelled_closes_the_stream_whatever_is_read(way: Way) -> None:
    async def reads() -> AsyncIterator[bytes]:
        yield chunk("a")
        await anyio.sleep_forever()

    response = AsyncResponse()
    response.aiter_bytes = reads  # type: ignore[method-assign]
    items = way(response)
    assert text_of(await anext(items)) == "a"
    with anyio.move_on_after(0.01) as scope:
        await anext(items)
    assert scope.cancelled_caught
    assert response.closed == 1
    with pytest.raises(SSEWireError, match="closed"):
        await anext(items)


@pytest.mark.anyio
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
async def test_cancelling_between_two_items_leaves_the_stream_open(way: Way) -> None:
    items = way(suspending(BODY))
    with anyio.CancelScope() as scope:
        async for item in items:
            assert text_of(item) == "a"
            scope.cancel()
            await anyio.lowlevel.checkpoint()
    assert scope.cancelled_caught
    assert await rest(items) == ["b", "c"]


# Driven by hand


def test_what_the_read_gives_and_is_sent_passes_through() -> None:
    async def reads() -> AsyncIterator[bytes]:
        yield await suspended("first") + await suspended("second")
        yield DONE

    texts = AsyncChatStream(reads()).iter_text()
    coroutine = texts.__anext__()
    assert isinstance(coroutine, Coroutine)
    assert coroutine.send(None) == "first"
    assert coroutine.send(chunk("a")[:9]) == "second"
    with pytest.raises(StopIteration) as stopped:
        coroutine.send(chunk("a")[9:])
    assert stopped.value.value == "a"
    with pytest.raises(RuntimeError, match="cannot reuse"):
        coroutine.send(None)
    assert asyncio.run(rest(texts)) == []


def test_a_read_may_handle_what_is_thrown_into_it() -> None:
    async def reads() -> AsyncIterator[bytes]:
        try:
            await suspended()
        except ZeroDivisionError:
            await suspended("handled")
            yield chunk("a")
            yield DONE

    stream = AsyncChatStream(reads())
    coroutine = anext(stream)
    coroutine.send(None)
    assert coroutine.throw(ZeroDivisionError()) == "handled"
    with pytest.raises(StopIteration) as stopped:
        coroutine.send(None)
    assert stopped.value.value.text == "a"
    assert asyncio.run(rest(stream)) == []
    assert stream.state == "done"


def test_a_read_may_end_by_what_is_thrown_into_it() -> None:
    async def reads() -> AsyncIterator[bytes]:
        yield DONE[:4]
        try:
            await suspended()
        except ZeroDivisionError:
            yield DONE[4:]

    coroutine = anext(AsyncChatStream(reads()))
    coroutine.send(None)
    with pytest.raises(StopAsyncIteration):
        coroutine.throw(ZeroDivisionError())


@pytest.mark.parametrize(
    "thrown",
    [(OSError("reset"),), (OSError, "reset"), (OSError, OSError("reset"), None), (OSError,)],
    ids=["exception", "class and value", "class and exception", "class"],
)
@pytest.mark.filterwarnings("ignore:the \\(type, exc, tb\\) signature:DeprecationWarning")
def test_what_is_thrown_and_not_handled_ends_the_stream(thrown: tuple[Any, ...]) -> None:
    async def silent() -> bytes:
        await suspended()
        raise AssertionError("it goes on")

    response = AsyncResponse(chunk("a"), silent)
    stream = AsyncChatStream(response)
    with pytest.raises(StopIteration):
        anext(stream).send(None)
    coroutine = anext(stream)
    coroutine.send(None)
    with pytest.raises(OSError, match=r"reset|^\nssewire"):
        coroutine.throw(*thrown)
    assert (stream.state, response.closed, response.generator_closed) == ("incomplete", 1, True)


class Waiting(Awaitable[bytes], Iterator[None]):
    """It waits, and that is all it can do."""

    def __await__(self) -> Any:
        return self

    def __next__(self) -> None:
        return None


class Silent(AsyncIterator[bytes]):
    """A source that gives what only waits."""

    def __anext__(self) -> Awaitable[bytes]:
        return Waiting()


@pytest.mark.parametrize(
    ("end", "error", "state"),
    [
        (lambda coroutine: coroutine.throw(ZeroDivisionError), ZeroDivisionError, "incomplete"),
        (lambda coroutine: coroutine.throw(KeyboardInterrupt), KeyboardInterrupt, "closed"),
        (lambda coroutine: coroutine.throw(GeneratorExit), GeneratorExit, "closed"),
        (lambda coroutine: coroutine.send("sent"), AttributeError, "incomplete"),
    ],
    ids=["error", "interruption", "exit", "sent"],
)
def test_what_waits_needs_no_more_than_an_iterator_has(
    end: Callable[[Any], Any], error: type[BaseException], state: str
) -> None:
    stream = AsyncChatStream(Silent())
    coroutine = anext(stream)
    assert coroutine.send(None) is None
    with pytest.raises(error):
        end(coroutine)
    assert stream.state == state


def test_what_waits_and_cannot_be_closed_is_left() -> None:
    stream = AsyncChatStream(Silent())
    coroutine = anext(stream)
    coroutine.send(None)
    coroutine.close()
    assert stream.state == "closed"


def test_what_closing_the_read_raises_is_raised() -> None:
    async def silent() -> bytes:
        try:
            await suspended()
        finally:
            raise ZeroDivisionError

    stream = AsyncChatStream(AsyncReads(silent))
    coroutine = anext(stream)
    coroutine.send(None)
    with pytest.raises(ZeroDivisionError):
        coroutine.close()
    assert stream.state == "incomplete"


def test_a_read_that_goes_on_when_it_is_closed_is_told_of() -> None:
    async def stubborn() -> bytes:
        with suppress(GeneratorExit):
            await suspended()
        await suspended()
        return DONE

    stream = AsyncChatStream(AsyncReads(stubborn))
    coroutine = anext(stream)
    coroutine.send(None)
    with pytest.raises(RuntimeError, match="ignored GeneratorExit"):
        coroutine.close()
    assert stream.state == "incomplete"


def test_a_coroutine_that_is_collected_where_it_waits_closes_the_stream() -> None:
    async def silent() -> bytes:
        await suspended()
        raise AssertionError("it goes on")

    response = AsyncResponse(silent)
    stream = AsyncChatStream(response)

    class Cycle:
        pass

    cycle = Cycle()
    cycle.coroutine = anext(stream)  # type: ignore[attr-defined]
    cycle.coroutine.send(None)  # type: ignore[attr-defined]
    cycle.cycle = cycle  # type: ignore[attr-defined]
    gone = ref(cycle)
    del cycle
    gc.collect()
    assert gone() is None
    assert stream.state == "closed"
    with pytest.raises(SSEWireError, match="closed"):
        anext(stream).send(None)


class Holding(AsyncReads):
    """A source that holds what reads it."""

    held: Any = None


def test_a_stream_in_a_cycle_with_its_reads_is_collected() -> None:
    source = Holding(chunk("a"), chunk("b"))
    stream = AsyncChatStream(source)
    source.held = (stream, stream.iter_text(), anext(stream))
    with pytest.raises(StopIteration):
        source.held[2].send(None)
    gone = ref(source)
    del source, stream
    with pytest.warns(ResourceWarning, match="dropped before its end"):
        gc.collect()
    assert gone() is None


# What an interruption between two instructions leaves behind


def ready(reads: Any) -> tuple[AsyncChatStream[Any], Any]:
    """A stream, and what its coroutines take their items from."""
    stream = AsyncChatStream(reads)
    return stream, stream._ready


def test_a_read_that_was_begun_and_is_awaited_by_nobody_is_no_end() -> None:
    async def silent() -> bytes:
        await suspended()
        return chunk("b")

    stream, items = ready(AsyncReads(silent))
    assert next(items, None) is None
    with pytest.raises(SSEWireError, match="one task at a time"):
        next(stream.iter_text()._ready)  # type: ignore[attr-defined]
    del items
    waiting = stream._ready.__await__()
    assert next(waiting) is None
    del waiting
    with pytest.raises(SSEWireError, match="closed"):
        next(stream._ready)


def test_what_is_closed_before_it_was_awaited_has_closed_its_read() -> None:
    async def silent() -> bytes:
        await suspended()
        raise AssertionError("it goes on")

    response = AsyncResponse(silent)
    stream, items = ready(response)
    assert next(items, None) is None
    waiting = items.__await__()
    waiting.close()
    waiting.close()
    assert stream.state == "closed"
    for again in (waiting.send, waiting.throw):
        with pytest.raises(RuntimeError, match="cannot reuse"):
            again(ZeroDivisionError())


def test_nothing_is_awaited_where_nothing_was_begun() -> None:
    stream, items = ready(AsyncReads(*BODY))
    with pytest.raises(RuntimeError, match="cannot reuse"):
        items.__await__()
    assert asyncio.run(rest(stream)) == [*TEXTS]


# One reader at a time


def test_a_read_that_reads_the_stream_itself_is_a_clear_error() -> None:
    streams: list[AsyncChatStream[Any]] = []

    async def reads() -> AsyncIterator[bytes]:
        yield chunk((await anext(streams[0])).text)

    streams.append(AsyncChatStream(reads()))
    with pytest.raises(SSEWireError, match="one task at a time"):
        anext(streams[0]).send(None)
    assert streams.pop().state == "incomplete"


@pytest.mark.anyio
async def test_of_many_tasks_one_reads_and_the_others_are_told() -> None:
    stream = AsyncChatStream(suspending(BODY))
    found: list[Any] = []

    async def read() -> None:
        try:
            found.append((await anext(stream)).text)
        except SSEWireError as error:
            found.append("one task at a time" in str(error))

    async with anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(read)
    assert sorted(found, key=str) == [True, True, True, True, "a"]
    assert await rest(stream) == ["b", "c"]


# Sources that give other awaitables than coroutines


class Given(AsyncIterator[Any]):
    """Each read is what a function makes of it, to be awaited."""

    def __init__(self, give: Callable[[bytes], Any]) -> None:
        self._give = give
        self._reads = iter(BODY)

    def __anext__(self) -> Any:
        for read in self._reads:
            return self._give(read)
        raise StopAsyncIteration


class Custom:
    """An awaitable of its own kind."""

    def __init__(self, read: bytes) -> None:
        self._read = read

    def __await__(self) -> Generator[Any, Any, bytes]:
        yield from asyncio.sleep(0).__await__()
        return self._read


def future(read: bytes) -> asyncio.Future[bytes]:
    """A future that has its result a moment later."""
    found: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(found.set_result, read)
    return found


async def slept(read: bytes) -> bytes:
    await asyncio.sleep(0)
    return read


@types.coroutine
def generated(read: bytes) -> Generator[Any, Any, bytes]:
    yield
    return read


AWAITABLES: dict[str, Callable[[bytes], Any]] = {
    "future": future,
    "task": lambda read: asyncio.create_task(slept(read)),
    "custom": Custom,
    "generator": generated,
    "coroutine": slept,
}


@pytest.mark.parametrize("give", AWAITABLES.values(), ids=AWAITABLES)
def test_a_source_may_give_any_awaitable(give: Callable[[bytes], Any]) -> None:
    async def main() -> list[str]:
        return await rest(AsyncChatStream(Given(give)))

    assert asyncio.run(main()) == [*TEXTS]


def test_a_future_that_is_waited_for_is_cancelled_with_its_reader() -> None:
    async def main() -> None:
        futures: list[asyncio.Future[bytes]] = []

        def pending(_: bytes) -> asyncio.Future[bytes]:
            futures.append(asyncio.get_running_loop().create_future())
            return futures[-1]

        stream = AsyncChatStream(Given(pending))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(stream), 0.01)
        assert futures[0].cancelled()
        assert stream.state == "closed"

    asyncio.run(main())


class BadAwait:
    def __await__(self) -> Any:
        raise AttributeError("odd")


class NoIterator:
    def __await__(self) -> Any:
        return 7


@pytest.mark.parametrize(
    ("give", "error", "message"),
    [
        (lambda read: read, TypeError, "bytes"),
        (lambda _: NoIterator(), TypeError, "int"),
        (lambda _: BadAwait(), AttributeError, "odd"),
        (lambda _: 1 / 0, ZeroDivisionError, "division"),
    ],
    ids=["bytes", "no iterator", "raising", "raising at once"],
)
def test_what_cannot_be_awaited_is_an_error_of_the_source(
    give: Callable[[bytes], Any], error: type[Exception], message: str
) -> None:
    stream = AsyncChatStream(Given(give))
    with pytest.raises(error, match=message):
        anext(stream).send(None)
    assert stream.state == "incomplete"


@pytest.mark.parametrize("error", [StopIteration("s"), StopIteration()])
def test_an_end_of_another_kind_is_none(error: Exception) -> None:
    def give(_: bytes) -> Any:
        raise error

    stream = AsyncChatStream(Given(give))
    with pytest.raises(RuntimeError, match="StopIteration"):
        anext(stream).send(None)
    assert stream.state == "incomplete"


# Errors


@pytest.mark.anyio
async def test_an_error_behind_a_read_that_was_waited_for_stands_in_its_place() -> None:
    items = AsyncChatStream(suspending((sse(b"oops"), chunk("a"), ERROR, chunk("b"), DONE))).iter_with_payload()
    with pytest.raises(DecodeError):
        await anext(items)
    assert text_of(await anext(items)) == "a"
    with pytest.raises(APIError):
        await anext(items)
    assert text_of(await anext(items)) == "b"
    with pytest.raises(StopAsyncIteration):
        await anext(items)


@pytest.mark.anyio
async def test_an_error_of_a_read_that_was_waited_for_passes_through_and_is_held_by_nobody() -> None:
    class ResetError(OSError):
        pass

    async def reads() -> AsyncIterator[bytes]:
        yield chunk("a")
        await anyio.lowlevel.checkpoint()
        raise ResetError

    items = AsyncChatStream(reads()).iter_payloads()
    await anext(items)
    with pytest.raises(ResetError) as caught:
        await anext(items)
    gone = ref(caught.value)
    gc.collect()
    gc.disable()
    try:
        # No frame in its own traceback holds it.
        del caught
        assert gone() is None
    finally:
        gc.enable()


def test_many_reads_without_an_event_take_no_depth() -> None:
    stream = AsyncChatStream(AsyncReads(*[b": ping\n\n"] * 50_000, DONE))
    with pytest.raises(StopAsyncIteration):
        anext(stream).send(None)
    assert (stream.state, stream.stats.comments) == ("done", 50_000)
