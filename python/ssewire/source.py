"""Where the bytes come from: how to read, and how to close, what a user hands over.

A source is recognised by what it can do, never by its class, so no HTTP client is imported here. The order of `SYNC` and
`ASYNC` matters: a method that hands bytes out as they arrive comes before plain iteration, which in some clients waits to
fill a block.
"""

from __future__ import annotations

import io
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any, Generic, NoReturn, TypeVar

ReadsT = TypeVar("ReadsT")

# One read asks for at most so much: more than a socket holds as a rule, so it never limits what arrives at once.
_READ_SIZE = 65_536

_Close = Callable[[], Any]


class Source(Generic[ReadsT]):
    """The reads of a body, and what is known of its response.

    `reads` is an iterator of bytes-like objects; `status` and `headers` (names in lower case) are the response's, where it
    has them.
    """

    def __init__(self, owner: object, reads: ReadsT, close: _Close | None) -> None:
        self.name = type(owner).__name__
        self.reads = reads
        self.status = _status(owner)
        self.headers = _headers(owner)
        self._close = close
        self._async = isinstance(reads, AsyncIterator)

    @property
    def ok(self) -> bool:
        """Whether the status is a success; any 2xx is (Nscale documents 201 for a stream)."""
        return self.status is None or 200 <= self.status < 300

    @property
    def held(self) -> bool:
        """Whether something is open that waits to be closed."""
        return self._close is not None

    def release(self) -> None:
        """Close the response, once, at once. That of an asynchronous client is left for `arelease`."""
        if not self._async:
            close, self._close = self._close, None
            if close is not None:
                close()

    async def arelease(self, *, reading: bool = False) -> None:
        """Close the response, once; `reading` says that a read of it is under way in another task."""
        close, self._close = self._close, None
        if close is None:
            return
        # An asynchronous generator that is not closed would be finalised by the event loop, at some later time.
        if not reading and (stop := getattr(self.reads, "aclose", None)) is not None and stop != close:
            await stop()
        await close()

    def abandon(self) -> None:
        """Close what can be closed without an event loop; the collector's way."""
        self.release()
        self._close = None


def open_sync(source: Any) -> Source[Iterator[Any]]:
    """Find out how to read `source` synchronously; TypeError when it cannot be read so."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return Source(source, iter((source,)), None)
    _refuse_text(source)
    if _only_async(source):
        raise TypeError(f"{type(source).__name__} is asynchronous: use AsyncChatStream or AsyncEventStream with it")
    if callable(method := getattr(source, "iter_bytes", None)):
        return Source(source, iter(method()), _closer(source))
    raw = getattr(source, "raw", None)
    if raw is not None and hasattr(source, "iter_content") and hasattr(raw, "read1"):
        return Source(source, _read1(lambda: raw.read1(_READ_SIZE, decode_content=True)), _closer(source))
    if callable(method := getattr(source, "read1", None)):
        return Source(source, _read1(lambda: method(_READ_SIZE)), None if _is_file(source) else _closer(source))
    if isinstance(source, io.RawIOBase):
        return Source(source, _read1(lambda: source.read(_READ_SIZE)), None)
    if hasattr(source, "__iter__"):
        reads = iter(source)
        return Source(source, reads, getattr(reads, "close", None))
    _unknown(source, "iter_bytes(), read1() and iteration")


def open_async(source: Any) -> Source[AsyncIterator[Any]]:
    """Find out how to read `source` asynchronously; TypeError when it cannot be read so."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return Source(source, _at_once(source), None)
    _refuse_text(source)
    asynchronous = not _only_sync(source)
    if asynchronous and callable(method := getattr(source, "aiter_bytes", None)):
        return Source(source, aiter(method()), _closer(source, "aclose"))
    content = getattr(source, "content", None)
    if callable(method := getattr(content, "iter_any", None)):
        return Source(source, aiter(method()), _sync_closer(source))
    if callable(method := getattr(source, "iter_any", None)):
        return Source(source, aiter(method()), None)
    if asynchronous and hasattr(source, "__aiter__"):
        reads = aiter(source)
        return Source(source, reads, getattr(reads, "aclose", None))
    if any(hasattr(source, name) for name in ("iter_bytes", "read1", "__iter__")):
        raise TypeError(f"{type(source).__name__} is synchronous: use ChatStream or EventStream with it")
    _unknown(source, "aiter_bytes(), content.iter_any() and asynchronous iteration")


def _unknown(source: object, tried: str) -> NoReturn:
    raise TypeError(f"{type(source).__name__} cannot be read: tried {tried}; hand over anything that yields bytes")


def _refuse_text(source: object) -> None:
    if isinstance(source, str):
        raise TypeError("expected a source of bytes, got str: hand over the body undecoded, as bytes")
    if isinstance(source, io.TextIOBase):
        raise TypeError("expected a source of bytes, got a text file: open it with mode 'rb'")


def _only_async(source: Any) -> bool:
    """Whether a response can be read by a coroutine alone. httpx has one class for both; its stream tells."""
    stream = getattr(source, "stream", None)
    if hasattr(source, "aiter_bytes") and (hasattr(stream, "__aiter__") or hasattr(stream, "__iter__")):
        return not hasattr(stream, "__iter__") and not getattr(source, "is_stream_consumed", False)
    synchronous = any(hasattr(source, name) for name in ("iter_bytes", "read1", "__iter__", "iter_content"))
    return not synchronous and any(hasattr(source, name) for name in ("aiter_bytes", "__aiter__"))


def _only_sync(source: Any) -> bool:
    stream = getattr(source, "stream", None)
    return (
        hasattr(source, "aiter_bytes")
        and hasattr(stream, "__iter__")
        and not hasattr(stream, "__aiter__")
        and not getattr(source, "is_stream_consumed", False)
    )


def _is_file(source: object) -> bool:
    """Whether it is a file that the user opened, and will close; a response of http.client is a `BufferedIOBase` too."""
    return isinstance(source, io.IOBase) and not hasattr(source, "headers")


def _closer(source: Any, name: str = "close") -> _Close | None:
    close = getattr(source, name, None)
    return close if callable(close) else None


def _sync_closer(source: Any) -> _Close | None:
    """A synchronous close that asynchronous streams can await."""
    close = _closer(source)
    if close is None:
        return None

    async def aclose() -> None:
        close()

    return aclose


def _read1(read: Callable[[], bytes]) -> Iterator[bytes]:
    return iter(read, b"")


async def _at_once(data: Any) -> AsyncIterator[Any]:
    yield data


def _status(source: Any) -> int | None:
    for name in ("status_code", "status"):
        if isinstance(status := getattr(source, name, None), int):
            return status
    return None


def _headers(source: Any) -> Mapping[str, str]:
    headers = getattr(source, "headers", None)
    if not hasattr(headers, "items"):
        return {}
    return {str(name).lower(): str(value) for name, value in headers.items()}
