"""How to read what each HTTP client hands out: one row a kind of object, asked in the order of the tables at the end.

An object is recognised by what it can do, and no client is imported here. The order matters: a method that hands bytes
out as they arrive comes before plain iteration, which in some clients waits to fill a block. To add a client, add a
row: what tells its objects, and a function that makes their `Source`. `tests/clients` has the same clients as their
users open them.
"""

from __future__ import annotations

import io
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing
from functools import partial
from inspect import isasyncgenfunction, iscoroutinefunction
from typing import Any, Final, NamedTuple

from .errors import SSEWireError
from .source import Once, Reads, Source
from .waking import of_curl, of_httpx, of_niquests, of_raw, shut_down

# One read asks for at most so much: more than a socket holds as a rule, so it never limits what arrives at once.
_SIZE: Final = 65_536


class Way(NamedTuple):
    """One way to read."""

    told_by: str
    """What is looked for, in the words of the error about an object that has nothing of the kind."""
    fits: Callable[[Any], object]
    open: Callable[[Any], Source[Any]]


def _has(source: Any, *names: str) -> bool:
    return all(callable(getattr(source, name, None)) for name in names)


def _method(source: Any, name: str) -> Any:
    method: Any = getattr(source, name, None)
    return method if callable(method) else None


def _nothing_left(source: object) -> SSEWireError:
    return SSEWireError(
        f"nothing can be read from this {type(source).__name__}: its body was read before and is not kept, or it was "
        "closed; hand over an unread response"
    )


def _refuse_spent(response: Any) -> None:
    """Refuse a response that is over before it is read; an empty one is that, too, and the stream will say so."""
    if response.headers.get("content-length") != "0":
        raise _nothing_left(response)


# httpx, httpx2, and the SDKs of OpenAI, Anthropic and Groq, which are built on them


def _below(response: Any, way: str) -> bool:
    """Whether the stream below a response is of this kind: in httpx one class serves both kinds of response."""
    stream = getattr(response, "stream", None)
    return _has(stream, way) or not (_has(stream, "__iter__") or _has(stream, "__aiter__"))


def _is_httpx(source: Any) -> bool:
    return _has(source, "iter_bytes") and not isasyncgenfunction(source.iter_bytes) and _below(source, "__iter__")


def _httpx(response: Any) -> Source[Any]:
    return Source(response, iter(response.iter_bytes()), _method(response, "close"), fileno=partial(of_httpx, response))


def _is_async_httpx(source: Any) -> bool:
    return _has(source, "aiter_bytes") and _below(source, "__aiter__")


def _async_httpx(response: Any) -> Source[Any]:
    return Source(response, aiter(response.aiter_bytes()), _method(response, "aclose"))


def _is_async_sdk(source: Any) -> bool:
    return isasyncgenfunction(getattr(source, "iter_bytes", None))


def _async_sdk(response: Any) -> Source[Any]:
    return Source(response, aiter(response.iter_bytes()), _method(response, "close"))


def _response(stream: Any) -> Any:
    """The response below a stream of chunks of an SDK."""
    return getattr(stream, "response", None)


# urllib3, and requests, niquests and boto3, which are built on it


def _urllib3(response: Any) -> Source[Any]:
    if not response.closed:
        read = partial(_read1(response), _SIZE, decode_content=True)
        return Source(response, iter(read, b""), response.close, fileno=response.fileno)
    if not (body := response.data):
        _refuse_spent(response)
    return Source(response, iter((body,)))


def _read1(response: Any) -> Any:
    """The only method that is at once for every kind of body; urllib3 has it since 2.2."""
    if _has(response, "read1"):
        return response.read1
    raise TypeError(f"{type(response).__name__} has no read1(): update urllib3 to 2.2 or later")


def _requests(response: Any) -> Source[Any]:
    if getattr(response, "_content_consumed", False):
        return Source(response, _kept(response))
    if getattr(response.raw, "closed", False):
        _refuse_spent(response)
    read = partial(_read1(response.raw), _SIZE)
    if _has(response.raw, "stream"):  # what some adapters put there has none, and decompresses nothing
        read = partial(read, decode_content=True)
    reads = _failing_as_requests(iter(read, b""))
    return Source(response, reads, _method(response, "close"), fileno=partial(of_raw, response))


def _kept(response: Any) -> Iterator[Any]:
    """From memory, if the client has kept the body."""
    try:
        return iter(response.iter_content(_SIZE))
    except TypeError as error:  # StreamConsumedError, whose message is empty
        raise _nothing_left(response) from error


def _failing_as_requests(reads: Iterator[Any]) -> Iterator[Any]:
    """Raise what `iter_content` raises, which cannot be used itself: it holds back what comes without chunks."""
    above, below = sys.modules.get("requests.exceptions"), sys.modules.get("urllib3.exceptions")
    if above is None or below is None:
        yield from reads
        return
    try:
        yield from reads
    except below.ProtocolError as error:
        raise above.ChunkedEncodingError(error) from error
    except below.DecodeError as error:
        raise above.ContentDecodingError(error) from error
    except below.ReadTimeoutError as error:
        raise above.ConnectionError(error) from error
    except below.SSLError as error:
        raise above.SSLError(error) from error


def _niquests(response: Any) -> Source[Any]:
    if getattr(response, "_content_consumed", False):
        return Source(response, _kept(response))
    return Source(response, iter(response.iter_content(-1)), response.close, fileno=partial(of_niquests, response))


def _has_content(source: Any) -> bool:
    return _has(source, "iter_content") and not _is_async_niquests(source)


def _is_async_niquests(source: Any) -> bool:
    return iscoroutinefunction(getattr(source, "iter_content", None))


def _async_niquests(response: Any) -> Source[Any]:
    async def reads() -> AsyncIterator[Any]:
        async with aclosing(await response.iter_content(-1)) as body:
            async for read in body:
                yield read

    return Source(response, reads(), response.close)


def _boto3(body: Any) -> Source[Any]:
    # Its own methods fill blocks, or give a byte at a time; what lies below is a response of urllib3.
    raw: Any = getattr(body, "_raw_stream", None)
    return _urllib3(raw) if _has(raw, "read1") else Source(body, iter(body.iter_chunks(1)), body.close)


# http.client, urllib.request, files


def _is_file(source: Any) -> bool:
    return _has(source, "read1") and not iscoroutinefunction(source.read1)


def _file(file: Any) -> Source[Any]:
    reads = iter(partial(file.read1, _SIZE), b"")
    if not hasattr(file, "headers"):
        return Source(file, reads)  # its user will close it
    if _has(file, "isclosed") and file.isclosed():
        _refuse_spent(file)
    return Source(file, reads, _method(file, "close"), fileno=_method(file, "fileno"))


def _raw_file(file: Any) -> Source[Any]:
    return Source(file, iter(partial(file.read, _SIZE), b""))


def _is_async_file(source: Any) -> bool:
    """Whether it is a file of anyio or trio, whose own iteration gives lines."""
    return iscoroutinefunction(getattr(source, "read1", None))


# aiohttp, asyncio, Starlette


def _content(source: Any) -> Any:
    """The stream below a response of aiohttp. Where `content` is a property, asking for it would read the body."""
    return None if isinstance(getattr(type(source), "content", None), property) else getattr(source, "content", None)


def _aiohttp(response: Any) -> Source[Any]:
    async def kept() -> AsyncIterator[Any]:
        if not (body := await response.read()) and response.content.total_bytes:
            raise _nothing_left(response)
        yield body

    async def close() -> None:
        response.close()

    is_read = _has(response, "read") and response.content.at_eof()
    reads = kept() if is_read else aiter(response.content.iter_any())
    return Source(response, reads, close if _has(response, "close") else None)


# curl_cffi, where one class serves both kinds of response, and those that are in memory


def _is_curl(source: Any) -> bool:
    return _has(source, "iter_content", "aiter_content")


def _refuse_spent_curl(response: Any, task: Any) -> None:
    """Reading once more would wait for ever."""
    if task is None or (task.done() and response.queue.empty()):
        raise _nothing_left(response)


def _curl(response: Any) -> Source[Any]:
    if response.queue is None:
        return Source(response, iter((response.content,)))
    _refuse_spent_curl(response, response.stream_task)
    fileno = of_curl(response)

    def close() -> None:
        # By itself it waits until the server sends something.
        shut_down(fileno)
        response.close()

    return Source(response, iter(response.iter_content()), close, fileno=fileno)


def _async_curl(response: Any) -> Source[Any]:
    if response.queue is None:
        return Source(response, Once(response.content))
    _refuse_spent_curl(response, response.astream_task)

    async def close() -> None:
        # By itself it waits until the server is done; and awaiting a cancelled task again would raise that.
        task, response.astream_task = response.astream_task, None
        task.cancel()
        await sys.modules["asyncio"].wait((task,))

    return Source(response, aiter(response.aiter_content()), close)


# pyreqwest, where only the class tells whether a method is to be awaited


def _is_pyreqwest(name: str, source: object) -> bool:
    return (type(source).__module__, type(source).__name__) == ("pyreqwest.response", name)


def _pyreqwest(response: Any) -> Source[Any]:
    def reads() -> Iterator[Any]:
        # The second is for a body that has been read, and is kept.
        yield response.body_reader.read_chunk() or response.bytes()
        yield from iter(response.body_reader.read_chunk, None)

    return Source(response, reads())


def _async_pyreqwest(response: Any) -> Source[Any]:
    async def reads() -> AsyncIterator[Any]:
        yield await response.body_reader.read_chunk() or await response.bytes()
        while (read := await response.body_reader.read_chunk()) is not None:
            yield read

    return Source(response, reads())


# wreq, where trailers come as an item that is no bytes


def _wreq(response: Any) -> Source[Any]:
    stream = _wreq_stream(response)

    def close() -> None:
        stream.__exit__(None, None, None)

    # Closing it ends a read that waits.
    return Source(response, (read for read in stream if not _is_trailers(read)), close, wake=close)


def _async_wreq(response: Any) -> Source[Any]:
    stream = _wreq_stream(response)

    async def close() -> None:
        await stream.__aexit__(None, None, None)

    return Source(response, (read async for read in stream if not _is_trailers(read)), close)


def _is_wreq_stream(source: Any) -> bool:
    return _has(source, "__next__", "__anext__", "__enter__", "__aenter__")


def _wreq_stream(response: Any) -> Any:
    if _is_wreq_stream(response):
        return response
    try:
        return response.stream()
    except RuntimeError as error:
        raise _nothing_left(response) from error


def _is_trailers(read: Any) -> bool:
    return hasattr(read, "keys")


SYNC: Final = (
    Way("iter_bytes()", _is_httpx, _httpx),
    Way("response.iter_bytes()", lambda s: _is_httpx(_response(s)), lambda s: _httpx(s.response)),
    Way("body_reader.read_chunk()", partial(_is_pyreqwest, "SyncResponse"), _pyreqwest),
    Way("stream()", lambda s: _has(s, "stream", "raise_for_status", "__enter__") or _is_wreq_stream(s), _wreq),
    Way("iter_content()", lambda s: _is_curl(s) and s.astream_task is None, _curl),
    Way("iter_raw()", lambda s: _has(s, "iter_raw") and _has_content(s), _niquests),
    Way("raw.read1()", lambda s: hasattr(s, "raw") and _has_content(s), _requests),
    Way("read_chunked()", lambda s: _has(s, "read_chunked", "release_conn"), _urllib3),
    Way("iter_chunks()", lambda s: _has(s, "iter_chunks", "set_socket_timeout"), _boto3),
    Way("read1()", _is_file, _file),
    Way("read()", lambda s: isinstance(s, io.RawIOBase), _raw_file),
)

ASYNC: Final = (
    Way("aiter_bytes()", _is_async_httpx, _async_httpx),
    Way("an asynchronous iter_bytes()", _is_async_sdk, _async_sdk),
    Way("response.aiter_bytes()", lambda s: _is_async_httpx(_response(s)), lambda s: _async_httpx(s.response)),
    Way("body_reader.read_chunk()", partial(_is_pyreqwest, "Response"), _async_pyreqwest),
    Way("stream()", lambda s: _has(s, "stream", "raise_for_status", "__aenter__") or _is_wreq_stream(s), _async_wreq),
    Way("aiter_content()", lambda s: _is_curl(s) and s.stream_task is None, _async_curl),
    Way("an asynchronous iter_content()", _is_async_niquests, _async_niquests),
    Way("content.iter_any()", lambda s: _has(_content(s), "iter_any"), _aiohttp),
    Way("iter_any()", lambda s: _has(s, "iter_any"), lambda s: Source(s, aiter(s.iter_any()))),
    Way("readuntil()", lambda s: _has(s, "readuntil", "read"), lambda s: Source(s, Reads(partial(s.read, _SIZE)))),
    Way("an asynchronous read1()", _is_async_file, lambda s: Source(s, Reads(partial(s.read1, _SIZE)))),
    Way("receive() and stream()", lambda s: _has(s, "receive", "stream"), lambda s: Source(s, aiter(s.stream()))),
)
