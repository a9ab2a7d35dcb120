"""Where the bytes come from: how to read, and how to close, what a user hands over.

A source is recognised by what it can do, never by its class, so no HTTP client is imported here. The order of the
questions matters: a method that hands bytes out as they arrive comes before plain iteration, which in some clients
waits to fill a block.
"""

from __future__ import annotations

import inspect
import io
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from types import AsyncGeneratorType, GeneratorType
from typing import Any, Final, Generic, NoReturn, TypeVar, cast

ReadsT = TypeVar("ReadsT")

# One read asks for at most so much: more than a socket holds as a rule, so it never limits what arrives at once.
_READ_SIZE = 65_536

_Close = Callable[[], Any]

# Shutting down is the same for every family.
_ANY_SOCKET = (socket.AF_INET, socket.SOCK_STREAM)


class Source(Generic[ReadsT]):
    """The reads of a body, and what is known of its response; `bare` ones have none.

    `reads` is an iterator of bytes-like objects: asynchronous where `is_async` says so, over what is there already
    where `in_memory` does. `status` and `headers` (names in lower case) are the response's, where it has them.
    """

    def __init__(self, owner: object, reads: ReadsT, close: _Close | None = None, *, bare: bool = False) -> None:
        self.name = _name(owner)
        self.reads = reads
        self.status = None if bare else _status(owner)
        self.headers = {} if bare else _headers(owner)
        self.is_async = isinstance(reads, AsyncIterator)
        self.in_memory = isinstance(reads, (*_ITERATORS, _Once))
        self._owner = owner if close else None
        self._close = close
        self._stop = _method(reads, "aclose" if self.is_async else "close")

    @property
    def ok(self) -> bool:
        """Whether the status is a success; any 2xx is (Nscale documents 201 for a stream)."""
        return self.status is None or 200 <= self.status < 300

    @property
    def held(self) -> bool:
        """Whether something is open that waits to be closed."""
        return self._close is not None or self._stop is not None

    @property
    def can_interrupt(self) -> bool:
        """Whether `interrupt` would wake a thread that waits for a read."""
        if self._owner is None or self.is_async:
            return False
        try:
            return _fileno(self._owner) >= 0
        except Exception:  # whatever a client raises where there is no socket, or none of its own
            return False

    def interrupt(self) -> None:
        """Wake a thread that waits for a read, so that closing neither waits for it nor leaves it waiting."""
        if self._owner is None or self.is_async:
            return
        # A response that has no socket, or has given it back, has nobody waiting.
        with suppress(Exception), socket.fromfd(number := _fileno(self._owner), *_ANY_SOCKET) as below:
            # Asked once more, at once before: the other thread may have met the end of the body meanwhile, and the
            # client given the connection to another request.
            if _fileno(self._owner) == number:
                below.shutdown(socket.SHUT_RDWR)

    def release(self) -> None:
        """Close the response, and the reads taken from it, once, at once. Asynchronous ones are left to `arelease`."""
        if self.is_async:
            return
        stop, self._stop = self._stop, None
        try:
            if stop is not None:
                stop()
        except ValueError:
            if not self._running:
                raise
            self._stop = stop
        finally:
            if (close := self._take_close()) is not None:
                close()

    async def arelease(self) -> None:
        """Close the response, and the reads taken from it, once, at once."""
        stop = None
        if not self._running:
            stop, self._stop = self._stop, None
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
        close, self._close, self._owner = self._close, None, None
        return close

    @property
    def _running(self) -> bool:
        """Whether the reads are a generator that another thread or task waits for; it can be closed only afterwards."""
        return getattr(self.reads, "gi_running", False) or getattr(self.reads, "ag_running", False)

    def abandon(self) -> None:
        """Close what can be closed without an event loop: for the collector, or in a coroutine that is closed."""
        self.release()
        self._close = self._stop = None


def open_sync(source: Any) -> Source[Iterator[Any]]:
    """Find out how to read `source` synchronously; TypeError when it cannot be read so."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return Source(cast(object, source), iter((source,)))
    if isinstance(source, (list, tuple, GeneratorType)):
        # Known at once: asking for all that a response may have takes longer than many a stream.
        return Source(source, iter(source), bare=True)
    _refuse(source)
    if _only_async(source):
        raise TypeError(f"{_name(source)} is asynchronous: use AsyncChatStream or AsyncEventStream with it")
    if iter_bytes := _method(source, "iter_bytes"):
        return Source(source, iter(iter_bytes()), _method(source, "close"))
    if _method(source, "iter_content") and (read1 := _method(getattr(source, "raw", None), "read1")):
        reads = iter(partial(read1, _READ_SIZE, decode_content=True), b"")
        return Source(source, reads, _method(source, "close"))
    if read1 := _method(source, "read1"):
        close = None if _is_file(source) else _method(source, "close")
        return Source(source, iter(partial(read1, _READ_SIZE), b""), close)
    if isinstance(source, io.RawIOBase):
        return Source(source, iter(partial(source.read, _READ_SIZE), b""))
    if _method(source, "__iter__"):
        return Source(source, iter(source))
    return _unknown(source, "iter_bytes(), read1() and iteration")


def open_async(source: Any) -> Source[AsyncIterator[Any]]:
    """Find out how to read `source` asynchronously; TypeError when it cannot be read so."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return Source(cast(object, source), _Once(source))
    if isinstance(source, AsyncGeneratorType):
        return Source(source, source, bare=True)
    _refuse(source)
    if _only_sync(source):
        raise TypeError(f"{_name(source)} is synchronous: use ChatStream or EventStream with it")
    if aiter_bytes := _method(source, "aiter_bytes"):
        return Source(source, aiter(aiter_bytes()), _method(source, "aclose"))
    if iter_bytes := _async_iter_bytes(source):
        return Source(source, aiter(iter_bytes()), _method(source, "close"))
    if iter_any := _method(_content(source), "iter_any"):
        return Source(source, aiter(iter_any()), _awaitable(_method(source, "close")))
    if iter_any := _method(source, "iter_any"):
        return Source(source, aiter(iter_any()))
    if _method(source, "readuntil") and (read := _method(source, "read")):
        return Source(source, _Read(read))
    if _method(source, "__aiter__"):
        return Source(source, aiter(source))
    return _unknown(source, "aiter_bytes(), content.iter_any() and asynchronous iteration")


def _method(source: Any, name: str) -> Callable[..., Any] | None:
    method: Any = getattr(source, name, None)
    return method if callable(method) else None


def _name(source: object) -> str:
    return type(source).__name__


def _unknown(source: object, tried: str) -> NoReturn:
    raise TypeError(f"{_name(source)} cannot be read: tried {tried}; hand over anything that yields bytes")


def _refuse(source: object) -> None:
    """Refuse what looks like a source and is none."""
    if isinstance(source, type):
        raise TypeError(f"expected a source of bytes, got the class {source.__name__}: hand over an object")
    if isinstance(source, str):
        raise TypeError("expected a source of bytes, got str: hand over the body undecoded, as bytes")
    if isinstance(source, io.TextIOBase):
        raise TypeError("expected a source of bytes, got a text file: open it with mode 'rb'")


_SYNC = ("iter_bytes", "iter_content", "read1", "__iter__")
_ASYNC = ("aiter_bytes", "__aiter__")


def _only_async(source: Any) -> bool:
    """Whether only a coroutine can read it."""
    ways = _ways_of_stream(source)
    return "async" in ways and "sync" not in ways


def _only_sync(source: Any) -> bool:
    """Whether no coroutine can read it without blocking its event loop."""
    ways = _ways_of_stream(source)
    return "sync" in ways and "async" not in ways


def _ways_of_stream(source: Any) -> set[str]:
    """How it can be read. One class serves both kinds of response in httpx: there the stream below it tells."""
    if _async_iter_bytes(source) or _method(_content(source), "iter_any"):
        return {"async"}
    stream: Any = getattr(source, "stream", None)
    if all(_method(source, name) for name in ("iter_bytes", "aiter_bytes")) and not _method(source, "__iter__"):
        below = {way for way, name in (("sync", "__iter__"), ("async", "__aiter__")) if _method(stream, name)}
        if below:
            return below
    sync, asynchronous = (any(_method(source, name) for name in names) for names in (_SYNC, _ASYNC))
    return {way for way, can in (("sync", sync), ("async", asynchronous)) if can}


def _async_iter_bytes(source: Any) -> Callable[..., Any] | None:
    """The OpenAI SDK's asynchronous response has an `iter_bytes` that is asynchronous."""
    iter_bytes = _method(source, "iter_bytes")
    return iter_bytes if inspect.isasyncgenfunction(iter_bytes) else None


def _content(source: Any) -> Any:
    """The stream below a response of aiohttp. Where `content` is a property, asking for it would read the body."""
    return None if isinstance(getattr(type(source), "content", None), property) else getattr(source, "content", None)


def _is_file(source: object) -> bool:
    """Whether it is a file, which its user will close. What has headers is a response; that of http.client is both."""
    return not hasattr(source, "headers")


def _fileno(response: Any) -> int:
    """The socket below a response, as long as it is the response's alone.

    Over HTTP/2 it serves others too. In httpx a response still names it when the body has been read, and the connection
    has gone back to the pool, where it may serve another request by now: only `is_closed` tells.
    """
    response = getattr(response, "http_response", response)  # below that of the OpenAI SDK
    if getattr(response, "is_closed", False):
        raise ValueError("the response has given its connection back")
    extensions: Any = getattr(response, "extensions", None)  # httpx
    if extensions is not None and extensions["http_version"] in {b"HTTP/1.0", b"HTTP/1.1"}:
        return cast(int, extensions["network_stream"].get_extra_info("socket").fileno())
    return cast(int, getattr(response, "raw", response).fileno())


def _awaitable(close: Callable[[], Any] | None) -> _Close | None:
    """A close that blocks for nothing, for those who await one."""
    if close is None:
        return None

    async def aclose() -> None:
        close()

    return aclose


# Of a list and of a tuple.
_ITERATORS: Final[tuple[type, ...]] = (type(iter([])), type(iter(())))


class _Once(AsyncIterator[Any]):
    """One read that is there already. No generator, which would have to be closed."""

    def __init__(self, read: Any) -> None:
        self._left = iter((read,))

    async def __anext__(self) -> Any:
        for read in self._left:
            return read
        raise StopAsyncIteration


class _Read(AsyncIterator[Any]):
    """The reads of an `asyncio.StreamReader`, whose own iteration gives lines, and none beyond its limit."""

    def __init__(self, read: Callable[[int], Any]) -> None:
        self._read = read

    async def __anext__(self) -> Any:
        if read := await self._read(_READ_SIZE):
            return read
        raise StopAsyncIteration


def _status(source: Any) -> int | None:
    for name in ("status_code", "status"):
        # A flag is no status.
        if isinstance(status := getattr(source, name, None), int) and not isinstance(status, bool):
            return status
    return None


def _headers(source: Any) -> Mapping[str, str]:
    headers: Any = getattr(source, "headers", None)
    if not hasattr(headers, "items"):
        return {}
    return {str(name).lower(): str(value) for name, value in headers.items()}
