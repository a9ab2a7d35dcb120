"""How responses of urllib3 are read and closed, and those of requests, niquests and boto3, which are built on it.

niquests puts urllib3-future in the place of urllib3, for all of them.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Generator, Iterator
from contextlib import aclosing, contextmanager
from functools import partial
from typing import Any

from .responses import SIZE, has, method, nothing_left, refuse_spent
from .source import Once, Source
from .waking import of_raw, of_urllib3, shut_down


def open_urllib3(response: Any) -> Source[Any]:
    """A response of urllib3."""

    def close() -> None:
        response.close()
        # Closing alone would keep its place in a pool that blocks.
        response.release_conn()

    if not response.closed:
        return Source(response, _reads(response), close, fileno=partial(of_urllib3, response))
    if not (body := response.data):
        refuse_spent(response)
    return Source(response, iter((body,)))


def _reads(response: Any) -> Iterator[Any]:
    """What a response of urllib3 reads, by the only method that is at once for every kind of body."""
    if hasattr(response, "is_from_promise"):  # urllib3-future, whose read1() gives nothing until something unpacks
        return iter(response.stream(-1, decode_content=True))
    if not has(response, "read1"):
        raise TypeError(f"{type(response).__name__} has no read1(): update urllib3 to 2.2 or later")
    read = partial(response.read1, SIZE)
    if has(response, "read_chunked"):  # others, which adapters and doubles of requests use, decompress nothing
        read = partial(read, decode_content=True)
    return iter(read, b"")


def open_requests(response: Any) -> Source[Any]:
    """A response of requests, asked for with `stream=True`."""
    if getattr(response, "_content_consumed", False):
        return Source(response, _kept(response))
    if response.raw is None:  # made by hand
        return Source(response, iter((response.content or b"",)))
    if getattr(response.raw, "closed", False):
        refuse_spent(response)
    # Not those of `iter_content`, which holds back what comes without chunks.
    reads = _failing_as_requests(_reads(response.raw))
    return Source(response, reads, method(response, "close"), fileno=partial(of_raw, response))


def _failing_as_requests(reads: Iterator[Any]) -> Iterator[Any]:
    with _failing_as("requests"):
        yield from reads


def _kept(response: Any) -> Iterator[Any]:
    """From memory, if the client has kept the body."""
    try:
        return iter(response.iter_content(SIZE))
    except TypeError as error:  # StreamConsumedError, whose message is empty
        raise nothing_left(response) from error


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
        refuse_spent(response)
    return Source(response, iter(response.iter_content(-1)), response.close, fileno=partial(of_raw, response))


def open_async_niquests(response: Any) -> Source[Any]:
    """An asynchronous response of niquests."""
    if getattr(response, "_content_consumed", False):
        # What it has is to be awaited otherwise.
        if not isinstance(body := getattr(response, "_content", None), bytes):
            raise nothing_left(response)
        return Source(response, Once(body))
    if getattr(response.raw, "closed", False):
        refuse_spent(response)

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
