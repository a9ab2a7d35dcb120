"""Which objects can be read, and how: one row a kind of object, asked in this order.

An object is recognised by what it can do, and no client is imported. The order matters: a method that hands bytes out
as they arrive comes before one that may wait to fill a block. To add a client, add a row: what is looked for, in the
words of an error; what tells such an object from all others; and the function that makes its `Source`. `tests/clients`
has the same clients as their users open them.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import partial
from inspect import isasyncgenfunction, iscoroutinefunction
from typing import Any, Final, NamedTuple

from . import responses, urllib3_responses
from .responses import has
from .source import Source


class Way(NamedTuple):
    """One way to read."""

    told_by: str
    fits: Callable[[Any], object]
    open: Callable[[Any], Source[Any]]


def _below(response: Any, way: str) -> bool:
    """Whether the stream below a response is of this kind: in httpx one class serves both kinds of response."""
    stream = getattr(response, "stream", None)
    return has(stream, way) or not (has(stream, "__iter__") or has(stream, "__aiter__"))


def _awaited(source: Any, name: str) -> bool:
    """Whether it has a method of that name that is to be awaited."""
    return has(source, name) and iscoroutinefunction(getattr(source, name))


def _is_httpx(source: Any) -> bool:
    return has(source, "iter_bytes") and not _is_async_sdk(source) and _below(source, "__iter__")


def _is_async_httpx(source: Any) -> bool:
    return has(source, "aiter_bytes") and _below(source, "__aiter__")


def _is_async_sdk(source: Any) -> bool:
    return has(source, "iter_bytes") and isasyncgenfunction(source.iter_bytes)


def _response(source: Any) -> Any:
    """The response below a stream of chunks of an SDK, or below what its `with_raw_response` gives."""
    return getattr(source, "response", None) or getattr(source, "http_response", None)


def _has_content(source: Any) -> bool:
    return has(source, "iter_content") and not _awaited(source, "iter_content")


def _content(source: Any) -> Any:
    """The stream below a response of aiohttp. Where `content` is a property, asking for it would read the body."""
    return None if isinstance(getattr(type(source), "content", None), property) else getattr(source, "content", None)


def _is_curl(source: Any) -> bool:
    return has(source, "iter_content", "aiter_content")


def _is_pyreqwest(name: str, source: object) -> bool:
    return (type(source).__module__, type(source).__name__) == ("pyreqwest.response", name)


def _is_wreq_stream(source: Any) -> bool:
    return has(source, "__next__", "__anext__", "__enter__", "__aenter__")


def _is_wreq(enter: str, source: Any) -> bool:
    return has(source, "stream", "raise_for_status", enter) or _is_wreq_stream(source)


SYNC: Final = (
    # httpx, httpx2; responses of the SDKs of OpenAI, Anthropic and Groq, and their streams of chunks
    Way("iter_bytes()", _is_httpx, responses.open_httpx),
    Way("response.iter_bytes()", lambda s: _is_httpx(_response(s)), lambda s: responses.open_httpx(_response(s))),
    Way("body_reader.read_chunk()", partial(_is_pyreqwest, "SyncResponse"), responses.open_pyreqwest),
    Way("stream()", partial(_is_wreq, "__enter__"), responses.open_wreq),
    # curl_cffi, niquests, requests
    Way("iter_content()", lambda s: _is_curl(s) and s.astream_task is None, responses.open_curl),
    Way("iter_raw()", lambda s: has(s, "iter_raw") and _has_content(s), urllib3_responses.open_niquests),
    Way("raw.read1()", lambda s: hasattr(s, "raw") and _has_content(s), urllib3_responses.open_requests),
    # urllib3, boto3
    Way("read_chunked()", lambda s: has(s, "read_chunked", "release_conn"), urllib3_responses.open_urllib3),
    Way("iter_chunks()", lambda s: has(s, "iter_chunks", "set_socket_timeout"), urllib3_responses.open_boto3),
    # http.client, urllib.request, files
    Way("read1()", lambda s: has(s, "read1") and not _awaited(s, "read1"), responses.open_file),
    Way("read()", lambda s: isinstance(s, io.IOBase) and has(s, "read"), responses.open_raw_file),
)

ASYNC: Final = (
    # httpx, httpx2; responses of the SDKs, and their streams of chunks
    Way("aiter_bytes()", _is_async_httpx, responses.open_async_httpx),
    Way("an asynchronous iter_bytes()", _is_async_sdk, responses.open_async_sdk),
    Way(
        "response.aiter_bytes()",
        lambda s: _is_async_httpx(_response(s)),
        lambda s: responses.open_async_httpx(_response(s)),
    ),
    Way("body_reader.read_chunk()", partial(_is_pyreqwest, "Response"), responses.open_async_pyreqwest),
    Way("stream()", partial(_is_wreq, "__aenter__"), responses.open_async_wreq),
    # curl_cffi, niquests
    Way("aiter_content()", lambda s: _is_curl(s) and s.stream_task is None, responses.open_async_curl),
    Way("an asynchronous iter_content()", lambda s: _awaited(s, "iter_content"), urllib3_responses.open_async_niquests),
    # aiohttp, the body of its response, asyncio, files of anyio and trio, requests of Starlette
    Way("content.iter_any()", lambda s: has(_content(s), "iter_any"), responses.open_aiohttp),
    Way("iter_any()", lambda s: has(s, "iter_any"), lambda s: Source(s, aiter(s.iter_any()))),
    Way("readuntil()", lambda s: has(s, "readuntil") and _awaited(s, "read"), responses.open_reader),
    Way("an asynchronous read1()", lambda s: _awaited(s, "read1"), responses.open_async_file),
    Way("receive() and stream()", lambda s: has(s, "receive", "stream"), lambda s: Source(s, aiter(s.stream()))),
)
