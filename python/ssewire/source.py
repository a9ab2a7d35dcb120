"""The reads of a body, and the response they come from, which is closed with them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, Final, Generic, TypeVar

from .waking import Fileno, has_socket, shut_down

ReadsT = TypeVar("ReadsT")

_Close = Callable[[], Any]

# Of a list and of a tuple.
_ITERATORS: Final[tuple[type, ...]] = (type(iter([])), type(iter(())))


class Once(AsyncIterator[Any]):
    """One read that is there already. No generator, which would have to be closed."""

    def __init__(self, read: Any) -> None:
        self._left = iter((read,))

    async def __anext__(self) -> Any:
        for read in self._left:
            return read
        raise StopAsyncIteration


class Reads(AsyncIterator[Any]):
    """What a method gives, time after time, until it gives nothing."""

    def __init__(self, read: Callable[[], Awaitable[Any]]) -> None:
        self._read = read

    async def __anext__(self) -> Any:
        if read := await self._read():
            return read
        raise StopAsyncIteration


class Source(Generic[ReadsT]):
    """The reads of a body, and what is known of its response; `bare` ones have none.

    `reads` is an iterator of bytes-like objects: asynchronous where `is_async` says so, over what is there already
    where `in_memory` does. `status` and `headers` (names in lower case) are the response's, where it has them. `close`
    closes it, asynchronously where the reads are so. `wake`, which may be called from any thread, ends a read that
    waits; without it, shutting down the socket does, with the number that `fileno` gives.
    """

    def __init__(
        self,
        owner: object,
        reads: ReadsT,
        close: _Close | None = None,
        *,
        bare: bool = False,
        fileno: Fileno | None = None,
        wake: _Close | None = None,
    ) -> None:
        self.name = type(owner).__name__
        self.reads = reads
        self.status = None if bare else _status(owner)
        self.headers = {} if bare else _headers(owner)
        self.is_async = hasattr(type(reads), "__anext__")
        self.in_memory = isinstance(reads, (*_ITERATORS, Once))
        self._fileno = fileno
        self._wake = wake
        # Lists, since of several threads that close it only one can take what a list has.
        self._closes = [close] if close is not None else []
        stop = getattr(reads, "aclose" if self.is_async else "close", None)
        self._stops: list[_Close] = [stop] if stop is not None else []

    @property
    def ok(self) -> bool:
        """Whether the status is a success; any 2xx is (Nscale documents 201 for a stream)."""
        return self.status is None or 200 <= self.status < 300

    @property
    def held(self) -> bool:
        """Whether something is open that waits to be closed."""
        return bool(self._closes or self._stops)

    @property
    def can_interrupt(self) -> bool:
        """Whether `interrupt` would wake a thread that waits for a read."""
        fileno = self._fileno
        return self._wake is not None or (not self.is_async and fileno is not None and has_socket(fileno))

    def interrupt(self) -> bool:
        """Wake a thread that waits for a read, so that closing neither waits for it nor leaves it waiting.

        Gives whether the connection was ended for it.
        """
        return not self.is_async and self._end_connection()

    def _end_connection(self) -> bool:
        # Another thread may let go of both at any moment.
        wake, fileno = self._wake, self._fileno
        if wake is not None:
            wake()
        elif fileno is not None:
            shut_down(fileno)
        return wake is not None or fileno is not None

    def release(self) -> None:
        """Close the response, and the reads taken from it, once, at once. Asynchronous ones are left to `arelease`."""
        if self.is_async:
            return
        try:
            if (stop := _take(self._stops)) is not None:
                self._stop_reads(stop)
        finally:
            if (close := self._take_close()) is not None:
                close()

    def _stop_reads(self, stop: _Close) -> None:
        # CPython 3.12 crashes where a generator that delegates is closed while another thread is in it.
        if getattr(self.reads, "gi_running", False):
            self._stops.append(stop)
            return
        try:
            stop()
        except ValueError as error:
            # Another thread is in it, and it can be closed only afterwards.
            if str(error) != "generator already executing":
                raise
            self._stops.append(stop)

    async def arelease(self) -> None:
        """Close the response, and the reads taken from it, once, at once."""
        # What another task waits for can be closed only afterwards.
        stop = None if getattr(self.reads, "ag_running", False) else _take(self._stops)
        try:
            # An asynchronous generator that is not closed would be finalised by the event loop, at some later time.
            if stop is not None:
                await stop()
        except GeneratorExit:
            self.abandon()
            raise
        finally:
            if (close := self._take_close()) is not None:
                await close()

    def _take_close(self) -> _Close | None:
        self._fileno = self._wake = None
        return _take(self._closes)

    def abandon(self) -> None:
        """Close what can be closed without an event loop: for the collector, or in a coroutine that is closed."""
        if self.is_async:
            # The server shall see its reader go; the client finds the end of its connection when it looks next.
            self._end_connection()
        self.release()
        self._fileno = self._wake = None
        self._closes.clear()
        self._stops.clear()


def _take(calls: list[_Close]) -> _Close | None:
    # Most have none; of those that have one another thread may take it at this moment.
    if not calls:
        return None
    try:
        return calls.pop()
    except IndexError:
        return None


def _status(source: Any) -> int | None:
    for name in ("status_code", "status"):
        status: Any = getattr(source, name, None)
        if hasattr(status, "as_int"):  # wreq
            status = status.as_int()
        # Something else may have the name.
        if isinstance(status, int) and 100 <= status < 600:
            return status
    return None


def _headers(source: Any) -> Mapping[str, str]:
    headers: Any = getattr(source, "headers", None)
    if headers is None:
        return {}
    # Those of wreq are iterated over as pairs.
    pairs = headers.items() if hasattr(headers, "items") else headers
    try:
        return {_text(name).lower(): _text(value) for name, value in pairs}
    except (TypeError, ValueError):  # something else that has this name
        return {}


def _text(value: Any) -> str:
    return value.tobytes().decode("latin-1") if isinstance(value, memoryview) else str(value)
