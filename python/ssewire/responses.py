"""How each kind of response is read at once, decompressed where its client does that, and closed.

`clients.py` has the table that leads here, and says how to add a client. What is built on urllib3 stands in
`urllib3_responses.py`.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Awaitable, Iterator
from functools import partial
from typing import Any, Final

from .errors import SSEWireError
from .source import Once, Reads, Source
from .waking import of_aiohttp, of_curl, of_httpx, shut_down

# One read asks for at most so much: more than a socket holds as a rule, so it never limits what arrives at once.
SIZE: Final = 65_536


def has(source: Any, *names: str) -> bool:
    """Whether it has all these methods."""
    for name in names:  # noqa: SIM110 - an `all` takes twice as long, and this is asked two dozen times
        if not callable(getattr(source, name, None)):
            return False
    return True


def method(source: Any, name: str) -> Any:
    """The method of that name, or None."""
    return getattr(source, name) if has(source, name) else None


def nothing_left(source: object) -> SSEWireError:
    """The error about a response that cannot be read any more."""
    return SSEWireError(
        f"nothing can be read from this {type(source).__name__}: its body was read before and is not kept, or it was "
        "closed; hand over an unread response"
    )


def refuse_spent(response: Any) -> None:
    """Refuse a response that is over before it is read; an empty one is that, too, and the stream will say so."""
    if response.headers.get("content-length") != "0":
        raise nothing_left(response)


# httpx, httpx2, and the SDKs of OpenAI, Anthropic and Groq, which are built on them


def open_httpx(response: Any) -> Source[Any]:
    """A response of httpx or httpx2, or of an SDK that is built on one of them."""
    return Source(response, iter(response.iter_bytes()), method(response, "close"), fileno=partial(of_httpx, response))


def open_async_httpx(response: Any) -> Source[Any]:
    """An asynchronous response of httpx or httpx2."""
    close = method(response, "aclose")
    return Source(response, aiter(response.aiter_bytes()), close, fileno=partial(of_httpx, response))


def open_async_sdk(response: Any) -> Source[Any]:
    """An SDK's asynchronous response, whose `iter_bytes` is asynchronous, too."""
    close = method(response, "close")
    return Source(response, aiter(response.iter_bytes()), close, fileno=partial(of_httpx, response))


# http.client, urllib.request, files


def open_file(file: Any) -> Source[Any]:
    """A response of http.client or urllib.request; a binary file."""
    reads = iter(partial(file.read1, SIZE), b"")
    if not hasattr(file, "headers"):
        return Source(file, reads)  # its user will close it
    if has(file, "isclosed") and file.isclosed():
        refuse_spent(file)
    return Source(file, reads, method(file, "close"), fileno=method(file, "fileno"))


def open_reader(reader: Any) -> Source[Any]:
    """A reader of asyncio: its own iteration gives lines, and none beyond its limit."""
    return Source(reader, Reads(partial(reader.read, SIZE)))


def open_async_file(file: Any) -> Source[Any]:
    """A file of anyio or trio, whose own iteration gives lines."""
    return Source(file, Reads(partial(file.read1, SIZE)))


def open_raw_file(file: Any) -> Source[Any]:
    """A binary file that has no `read1`."""
    return Source(file, iter(partial(file.read, SIZE), b""))


# aiohttp, asyncio, Starlette


def open_aiohttp(response: Any) -> Source[Any]:
    """A response of aiohttp."""

    async def kept() -> AsyncIterator[Any]:
        if not (body := await response.read()) and response.content.total_bytes:
            raise nothing_left(response)
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


# As curl numbers the versions: 1.0 and 1.1.
_CURL_HTTP_1: Final = (1, 2)


def _refuse_spent_curl(response: Any, task: Any) -> None:
    """Reading once more would wait for ever."""
    if task is None or (task.done() and response.queue.empty()):
        raise nothing_left(response)


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

    # Over HTTP/2 and 3 the connection may serve other responses, too.
    fileno = of_curl(response) if response.http_version in _CURL_HTTP_1 else None
    return Source(response, aiter(response.aiter_content()), close, fileno=fileno)


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
        raise nothing_left(response) from error


def _is_trailers(read: Any) -> bool:
    return hasattr(read, "keys")
