"""How a decoder gets its reads: a synchronous one asks the source itself, for an asynchronous one they are awaited."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import suppress
from typing import Any, Final, Generic, Self, TypeAlias, TypeVar

from . import _core
from .drain import drained
from .errors import SSEWireError, StreamIdleError
from .loops import turn
from .source import Source
from .state import StreamState

T = TypeVar("T")

REFUSAL_SIZE: Final = 1024 * 1024
"""So many bytes of the body of a refused request are read, to say in the error what the server said. Servers that
validate requests send back what was wrong in them, so a long prompt may be part of it."""

_NOTHING: Final[Any] = object()

_Refusal = Callable[[bytes], Exception]


_Decoder: TypeAlias = _core.SSEDecoder[Any] | _core.ChunkDecoder[Any]


def pull_from(decoder: _Decoder, source: Source[Any], reads: Iterator[Any], refusal: _Refusal) -> None:
    """Let `decoder` take its reads from those of `source`; the first raises where the status is no success."""
    decoder.pull_from(reads if source.ok else _Refused(reads, refusal))


class _Refused:
    """The reads of a response whose status is no success: the start of its body, and then the error."""

    def __init__(self, reads: Any, refusal: _Refusal) -> None:
        self._reads = reads
        self._refusal = refusal
        self._body = bytearray()
        self._wrong: Any = _NOTHING

    def _enough(self, read: Any) -> bool:
        try:
            self._body += memoryview(read).tobytes()
        except TypeError:
            self._wrong = read
            return True
        return len(self._body) >= REFUSAL_SIZE

    def _outcome(self) -> Any:
        """Raise the refusal; a read that is no bytes is handed on to the decoder, which says so in its own words."""
        if self._wrong is not _NOTHING:
            return self._wrong
        raise self._refusal(bytes(self._body[:REFUSAL_SIZE]))

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        # What was said up to then is better than that no more came in time.
        with suppress(StreamIdleError):
            for read in self._reads:
                if self._enough(read):
                    break
        return self._outcome()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        with suppress(StreamIdleError):
            async for read in self._reads:
                if self._enough(read):
                    break
                # Nothing counts what is only kept.
                await turn()
        return self._outcome()


class AsyncPull:
    """What the views of an asynchronous stream have in common: its reads, and what ends it.

    The compiled `ReadyItems` awaits the reads and feeds them to the decoder. Between two steps nothing is held: no
    task, no lock, no context, so the stream may be closed from any task.
    """

    def __init__(
        self,
        decoder: _Decoder,
        source: Source[AsyncIterator[Any]],
        reads: AsyncIterator[Any],
        state: StreamState,
        refusal: _Refusal,
    ) -> None:
        self._decoder = decoder
        self._source = source
        self.reads = reads
        """The reads as they come, whatever the status is."""
        self._awaited = _core.AwaitedReads(decoder, reads if source.ok else _Refused(reads, refusal), _awaited)
        self._state = state
        decoder.take_turns()

    def ready(self, view: Iterator[T]) -> _core.ReadyItems[T]:
        """The items of a view of the decoder, to be iterated over and awaited."""
        return _core.ReadyItems(self._awaited, view, self)

    def over(self, view: Iterator[T]) -> AsyncItems[T]:
        """Iterate asynchronously over a view of the decoder."""
        return AsyncItems(self.ready(view))

    def begin(self) -> None:
        """Refuse to begin another way of reading while somebody reads."""
        if self._awaited.reading:
            raise SSEWireError("this stream is being read already: a stream belongs to one task at a time")

    # These are awaited by the compiled items, where there is more to do than to hand on an item or a read.

    def turn(self) -> Coroutine[Any, Any, None]:
        """The decoder pauses: let the other tasks run."""
        self._decoder.pausing()
        return turn()

    async def ended(self, error: BaseException) -> None:
        """Raise what a view has raised, StopAsyncIteration at its end."""
        try:
            raise error  # noqa: TRY301 - what closing raises shall tell of it
        except BaseException:
            # What is left to hand out needs no more reads.
            if not self._state.relaying and (self._decoder.over or self._state.over):
                await self.release()
            raise
        finally:
            # The exception's traceback has this frame.
            del error

    async def failed(self, error: BaseException) -> None:
        """Raise what a read has raised, which ends the stream."""
        try:
            raise error  # noqa: TRY301 - as above
        except BaseException:
            await self._fail(error)
            raise
        finally:
            self._awaited.reading = False
            del error

    async def alone(self, step: Callable[[], Awaitable[T]]) -> T:
        """Take a step while nobody else reads; what it raises ends the stream."""
        self.begin()
        self._awaited.reading = True
        try:
            return await step()
        except StopAsyncIteration:
            raise
        except BaseException as error:
            await self._fail(error)
            raise
        finally:
            self._awaited.reading = False

    async def _fail(self, error: BaseException) -> None:
        self._awaited.stop()
        instead = self._state.failed(error)
        if self._state.has_left:
            self._decoder.close()
        if isinstance(error, GeneratorExit):
            # The coroutine that reads is being closed: it can await nothing more, a client's close included.
            self._source.abandon()
            return
        await self._source.arelease()
        if instead is not None:
            raise instead from error

    async def release(self) -> None:
        """The stream has ended: close the response at once, or when the rest of its body was read."""
        try:
            if self._state.drains:
                self._state.drain = False
                await drained(self._source)
        finally:
            await self._source.arelease()

    async def aclose(self) -> None:
        """End the stream from any task; one that is reading it is not waited for."""
        self._state.close(self._decoder.close)
        await self._source.arelease()


async def _awaited(awaitable: Awaitable[T]) -> T:
    return await awaitable


class AsyncItems(Generic[T]):
    """One way to iterate over an asynchronous stream."""

    def __init__(self, ready: _core.ReadyItems[T]) -> None:
        self._ready = ready

    def __aiter__(self) -> AsyncIterator[T]:
        """Give the items; a further iterator goes on where the last one stopped."""
        return self

    async def __anext__(self) -> T:
        """Give the next item."""
        # What comes without waiting costs no second coroutine.
        for item in self._ready:
            return item
        return await self._ready
