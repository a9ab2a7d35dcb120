"""How a decoder gets its reads: a synchronous one asks the source itself, an asynchronous one is fed by `AsyncPull`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
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
    """Awaits the reads of a source and feeds them to a decoder.

    Between two steps nothing is held: no task, no lock, no context, so the stream may be closed from any task.
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
        self._reads = reads if source.ok else _Refused(reads, refusal)
        self._state = state
        self._reading = False
        self._over = False
        decoder.take_turns()

    async def next(self, view: Iterator[T]) -> T:
        """Give the next item of `view`, an iterator over the decoder; StopAsyncIteration at the end of the stream."""
        if self._reading:
            raise _being_read()
        while True:
            try:
                item: T = next(view, _NOTHING)
            except BaseException:
                # What is left to hand out needs no more reads.
                if not self._state.relaying and (self._decoder.over or self._state.over):
                    await self.release()
                raise
            if item is not _NOTHING:
                return item
            if self._over or self._decoder.over:
                await self.release()
                raise StopAsyncIteration
            await self._read()

    def begin(self) -> None:
        """Refuse to begin another way of reading while somebody reads."""
        if self._reading:
            raise _being_read()

    def over(self, view: Iterator[T]) -> AsyncView[T]:
        """Iterate over another view of the decoder."""
        return AsyncView(self, view)

    async def _read(self) -> None:
        # The same as `alone`, in one coroutine: this is what every read costs.
        if self._reading:
            raise _being_read()
        self._reading = True
        try:
            if self._decoder.pausing():
                await turn()
            else:
                self._decoder.feed(await anext(self._reads))
        except StopAsyncIteration:
            self._decoder.finish()
        except BaseException as error:
            await self._fail(error)
            raise
        finally:
            self._reading = False

    async def alone(self, step: Callable[[], Awaitable[T]]) -> T:
        """Take a step while nobody else reads; what it raises ends the stream."""
        self.begin()
        self._reading = True
        try:
            return await step()
        except StopAsyncIteration:
            raise
        except BaseException as error:
            await self._fail(error)
            raise
        finally:
            self._reading = False

    async def _fail(self, error: BaseException) -> None:
        self._over = True
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
        if self._state.close():
            self._decoder.close()
        await self._source.arelease()


def _being_read() -> SSEWireError:
    return SSEWireError("this stream is being read already: a stream belongs to one task at a time")


class AsyncView(Generic[T]):
    """One way to iterate over the decoder of an asynchronous stream."""

    def __init__(self, pull: AsyncPull, view: Iterator[T]) -> None:
        self._pull = pull
        self._view = view

    def __aiter__(self) -> AsyncView[T]:
        """Give the items; a further iterator goes on where the last one stopped."""
        return self

    async def __anext__(self) -> T:
        """Give the next item."""
        return await self._pull.next(self._view)
