"""How each kind of response is read at once, decompressed where its client does that, and closed.

`clients.py` has the table that leads here, and says how to add a client.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Awaitable, Generator, Iterator
from contextlib import aclosing, contextmanager
from functools import partial
from typing import Any, Final

from .errors import SSEWireError
from .source import Once, Reads, Source
from .waking import of_aiohttp, of_curl, of_httpx, of_raw, of_urllib3, shut_down

# One read asks for at most so much: more than a socket holds as a rule, so it never limits what arrives at once.
_SIZE: Final = 65_536


def has(source: Any, *names: str) -> bool:
    """Whether it has all these methods."""
    for name in names:  # noqa: SIM110 - an `all` takes twice as long, and this is asked two dozen times
        if not callable(getattr(source, name, None)):
            return False
    return True


def _method(source: Any, name: str) -> Any:
    return getattr(source, name) if has(source, name) else None


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


def open_httpx(response: Any) -> Source[Any]:
    """A response of httpx or httpx2, or of an SDK that is built on one of them."""
    return Source(response, iter(response.iter_bytes()), _method(response, "close"), fileno=partial(of_httpx, response))


def open_async_httpx(response: Any) -> Source[Any]:
    """An asynchronous response of httpx or httpx2."""
    close = _method(response, "aclose")
    return Source(response, aiter(response.aiter_bytes()), close, fileno=partial(of_httpx, response))


def open_async_sdk(response: Any) -> Source[Any]:
    """An SDK's asynchronous response, whose `iter_bytes` is asynchronous, too."""
    close = _method(response, "close")
    return Source(response, aiter(response.iter_bytes()), close, fileno=partial(of_httpx, response))


# urllib3, and requests, niquests and boto3, which are built on it


def open_urllib3(response: Any) -> Source[Any]:
    """A response of urllib3."""

    def close() -> None:
        response.close()
        # Closing alone would keep its place in a pool that blocks.
        response.release_conn()

    if not response.closed:
        return Source(response, _reads(response), close, fileno=partial(of_urllib3, response))
    if not (body := response.data):
        _refuse_spent(response)
    return Source(response, iter((body,)))


def _reads(response: Any) -> Iterator[Any]:
    """What a response of urllib3 reads, by the only method that is at once for every kind of body."""
    if hasattr(response, "is_from_promise"):  # urllib3-future, whose read1() gives nothing until something unpacks
        return iter(response.stream(-1, decode_content=True))
    if not has(response, "read1"):
        raise TypeError(f"{type(response).__name__} has no read1(): update urllib3 to 2.2 or later")
    read = partial(response.read1, _SIZE)
    if has(response, "stream"):  # what some adapters of requests use has none, and decompresses nothing
        read = partial(read, decode_content=True)
    return iter(read, b"")


def open_requests(response: Any) -> Source[Any]:
    """A response of requests, asked for with `stream=True`."""
    if getattr(response, "_content_consumed", False):
        return Source(response, _kept(response))
    if getattr(response.raw, "closed", False):
        _refuse_spent(response)
    # Not those of `iter_content`, which holds back what comes without chunks.
    reads = _failing_as_requests(_reads(response.raw))
    return Source(response, reads, _method(response, "close"), fileno=partial(of_raw, response))


def _failing_as_requests(reads: Iterator[Any]) -> Iterator[Any]:
    with _failing_as("requests"):
        yield from reads


def _kept(response: Any) -> Iterator[Any]:
    """From memory, if the client has kept the body."""
    try:
        return iter(response.iter_content(_SIZE))
    except TypeError as error:  # StreamConsumedError, whose message is empty
        raise _nothing_left(response) from error


@contextmanager
def _failing_as(package: str) -> Generator[None]:
    """Raise what the `iter_content` of `package` raises where urllib3 fails, by the names that stand beside it."""
    names: Any = sys.modules.get(f"{package}.models")
    if names is None:  # something else with the same methods
        yield
        return
    try:
        yield
    except names.ProtocolError as error:
        raise names.ChunkedEncodingError(error) from error
    except names.DecodeError as error:
        raise names.ContentDecodingError(error) from error
    except names.ReadTimeoutError as error:
        raise names.ConnectionError(error) from error
    except names.SSLError as error:
        raise names.RequestsSSLError(error) from error


def open_niquests(response: Any) -> Source[Any]:
    """A response of niquests, asked for with `stream=True`."""
    if getattr(response, "_content_consumed", False):
        return Source(response, _kept(response))
    if getattr(response.raw, "closed", False):
        _refuse_spent(response)
    return Source(response, iter(response.iter_content(-1)), response.close, fileno=partial(of_raw, response))


def open_async_niquests(response: Any) -> Source[Any]:
    """An asynchronous response of niquests."""
    if getattr(response, "_content_consumed", False):
        # What it has is to be awaited otherwise.
        if not isinstance(body := getattr(response, "_content", None), bytes):
            raise _nothing_left(response)
        return Source(response, Once(body))
    if getattr(response.raw, "closed", False):
        _refuse_spent(response)

    async def reads() -> AsyncIterator[Any]:
        # Not `iter_content`, which holds small events back where they are compressed.
        with _failing_as("niquests"):
            async with aclosing(response.raw.stream(-1, decode_content=True)) as body:
                async for read in body:
                    yield read

    fileno = partial(of_raw, response)

    async def close() -> None:
        # By itself it waits for the task that reads.
        shut_down(fileno)
        await response.close()

    return Source(response, reads(), close, fileno=fileno)


def open_boto3(body: Any) -> Source[Any]:
    """A `StreamingBody` of boto3."""
    # Its own methods fill blocks, or give a byte at a time; what lies below is a response of urllib3.
    raw: Any = getattr(body, "_raw_stream", None)
    return open_urllib3(raw) if has(raw, "read1") else Source(body, iter(body.iter_chunks(1)), body.close)


# http.client, urllib.request, files


def open_file(file: Any) -> Source[Any]:
    """A response of http.client or urllib.request; a binary file."""
    reads = iter(partial(file.read1, _SIZE), b"")
    if not hasattr(file, "headers"):
        return Source(file, reads)  # its user will close it
    if has(file, "isclosed") and file.isclosed():
        _refuse_spent(file)
    return Source(file, reads, _method(file, "close"), fileno=_method(file, "fileno"))


def open_reader(reader: Any) -> Source[Any]:
    """A reader of asyncio: its own iteration gives lines, and none beyond its limit."""
    return Source(reader, Reads(partial(reader.read, _SIZE)))


def open_async_file(file: Any) -> Source[Any]:
    """A file of anyio or trio, whose own iteration gives lines."""
    return Source(file, Reads(partial(file.read1, _SIZE)))


def open_raw_file(file: Any) -> Source[Any]:
    """A binary file without a buffer."""
    return Source(file, iter(partial(file.read, _SIZE), b""))


# aiohttp, asyncio, Starlette


def open_aiohttp(response: Any) -> Source[Any]:
    """A response of aiohttp."""

    async def kept() -> AsyncIterator[Any]:
        if not (body := await response.read()) and response.content.total_bytes:
            raise _nothing_left(response)
        yield body

    async def close() -> None:
        response.close()

    def end() -> None:
        shut_down(partial(of_aiohttp, response))
        if (loop := getattr(response, "_loop", None)) and loop.is_closed():
            # Nothing can be closed there; but it is remembered, and aiohttp does not try to when the response is freed.
            response.close()

    is_read = has(response, "read") and response.content.at_eof()
    reads = kept() if is_read else aiter(response.content.iter_any())
    return Source(response, reads, close if has(response, "close") else None, wake=end)


# curl_cffi, where one class serves both kinds of response, and those that are in memory


def _refuse_spent_curl(response: Any, task: Any) -> None:
    """Reading once more would wait for ever."""
    if task is None or (task.done() and response.queue.empty()):
        raise _nothing_left(response)


def open_curl(response: Any) -> Source[Any]:
    """A response of curl_cffi."""
    if response.queue is None:
        return Source(response, iter((response.content,)))
    _refuse_spent_curl(response, response.stream_task)
    fileno = of_curl(response)

    def close() -> None:
        # By itself it waits until the server sends something.
        shut_down(fileno)
        response.close()

    return Source(response, iter(response.iter_content()), close, fileno=fileno)


def open_async_curl(response: Any) -> Source[Any]:
    """An asynchronous response of curl_cffi."""
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


def open_pyreqwest(response: Any) -> Source[Any]:
    """A response of pyreqwest; its block alone closes it."""

    def reads() -> Iterator[Any]:
        # The second is for a body that has been read, and is kept.
        yield response.body_reader.read_chunk() or response.bytes()
        yield from iter(response.body_reader.read_chunk, None)

    return Source(response, reads())


def open_async_pyreqwest(response: Any) -> Source[Any]:
    """An asynchronous response of pyreqwest; its block alone closes it."""

    async def reads() -> AsyncIterator[Any]:
        yield await _uncancelled(response.body_reader.read_chunk()) or await response.bytes()
        while (read := await _uncancelled(response.body_reader.read_chunk())) is not None:
            yield read

    return Source(response, reads())


async def _uncancelled(read: Awaitable[Any]) -> Any:
    """What a read gives; a cancellation that meets it is lost in pyreqwest, and found here."""
    asyncio = sys.modules["asyncio"]
    task = asyncio.current_task()
    before = task.cancelling()
    given = await read
    if task.cancelling() > before:
        raise asyncio.CancelledError
    return given


# wreq, where trailers come as an item that is no bytes


def open_wreq(response: Any) -> Source[Any]:
    """A response of wreq, or its stream."""
    stream = _wreq_stream(response)

    def close() -> None:
        stream.__exit__(None, None, None)

    # Closing it ends a read that waits.
    return Source(response, (read for read in stream if not _is_trailers(read)), close, wake=close)


def open_async_wreq(response: Any) -> Source[Any]:
    """An asynchronous response of wreq, or its stream."""
    stream = _wreq_stream(response)

    async def close() -> None:
        await stream.__aexit__(None, None, None)

    return Source(response, (read async for read in stream if not _is_trailers(read)), close)


def _wreq_stream(response: Any) -> Any:
    if not has(response, "stream"):
        return response  # it is one
    try:
        return response.stream()
    except RuntimeError as error:
        raise _nothing_left(response) from error


def _is_trailers(read: Any) -> bool:
    return hasattr(read, "keys")
