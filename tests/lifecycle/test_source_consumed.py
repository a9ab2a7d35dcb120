"""Kind 140, source-consumed: a body that somebody has read before is parsed from memory, or refused in clear words.

It is never an empty success, and nobody waits for what does not come any more.
"""

from __future__ import annotations

import http.client
import io
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final, TypeAlias

import curl_cffi
import httpx
import httpx2
import openai
import pytest
import requests
import urllib3
import wreq
import wreq.blocking
from botocore.response import StreamingBody  # type: ignore[import-untyped]
from pyreqwest.client import SyncClientBuilder

from ssewire import ChatStream, SSEWireError
from tests.clients.adapters_sdks import HI
from tests.clients.bodies import EVENTS, TEXTS, WHOLE
from tests.clients.reading import Setup
from tests.clients.served import Server, Stream
from tests.lifecycle.leaving import SYNC

Open: TypeAlias = Callable[[Stream], AbstractContextManager[Any]]


@contextmanager
def httpx_whole(stream: Stream) -> Iterator[Any]:
    yield httpx.get(stream.address)


@contextmanager
def httpx_read(stream: Stream) -> Iterator[Any]:
    with httpx.stream("GET", stream.address) as response:
        response.read()
        yield response


@contextmanager
def httpx_iterated(stream: Stream) -> Iterator[Any]:
    with httpx.stream("GET", stream.address) as response:
        b"".join(response.iter_bytes())
        yield response


@contextmanager
def httpx_left(stream: Stream) -> Iterator[Any]:
    with httpx.stream("GET", stream.address) as response:
        pass
    yield response


@contextmanager
def httpx2_whole(stream: Stream) -> Iterator[Any]:
    yield httpx2.get(stream.address)


@contextmanager
def httpx2_iterated(stream: Stream) -> Iterator[Any]:
    with httpx2.stream("GET", stream.address) as response:
        b"".join(response.iter_bytes())
        yield response


@contextmanager
def requests_whole(stream: Stream) -> Iterator[Any]:
    yield requests.get(stream.address, timeout=stream.timeout)


@contextmanager
def requests_iterated(stream: Stream) -> Iterator[Any]:
    with requests.get(stream.address, stream=True, timeout=stream.timeout) as response:
        b"".join(response.iter_content(9))
        yield response


@contextmanager
def requests_closed(stream: Stream) -> Iterator[Any]:
    with requests.get(stream.address, stream=True, timeout=stream.timeout) as response:
        pass
    yield response


@contextmanager
def urllib3_whole(stream: Stream) -> Iterator[Any]:
    with urllib3.PoolManager() as pool:
        yield pool.request("GET", stream.address)


@contextmanager
def urllib3_read(stream: Stream) -> Iterator[Any]:
    with urllib3.PoolManager() as pool:
        response = pool.request("GET", stream.address, preload_content=False)
        response.read()
        yield response


@contextmanager
def urllib3_closed(stream: Stream) -> Iterator[Any]:
    with urllib3.PoolManager() as pool:
        response = pool.request("GET", stream.address, preload_content=False)
        response.close()
        yield response


@contextmanager
def http_client_read(stream: Stream) -> Iterator[Any]:
    connection = http.client.HTTPConnection("127.0.0.1", stream.port)
    connection.request("GET", stream.path)
    response = connection.getresponse()
    response.read()
    yield response
    connection.close()


@contextmanager
def urllib_request_read(stream: Stream) -> Iterator[Any]:
    with urllib.request.urlopen(stream.address) as response:
        response.read()
        yield response


@contextmanager
def curl_cffi_whole(stream: Stream) -> Iterator[Any]:
    yield curl_cffi.get(stream.address)


@contextmanager
def curl_cffi_iterated(stream: Stream) -> Iterator[Any]:
    with curl_cffi.Session() as session, session.stream("GET", stream.address) as response:
        b"".join(response.iter_content())
        yield response


@contextmanager
def pyreqwest_whole(stream: Stream) -> Iterator[Any]:
    with SyncClientBuilder().build() as client:
        yield client.get(stream.address).build().send()


@contextmanager
def pyreqwest_read(stream: Stream) -> Iterator[Any]:
    with SyncClientBuilder().build() as client, client.get(stream.address).build_streamed() as response:
        response.bytes()
        yield response


@contextmanager
def pyreqwest_iterated(stream: Stream) -> Iterator[Any]:
    with SyncClientBuilder().build() as client, client.get(stream.address).build_streamed() as response:
        while response.body_reader.read_chunk() is not None:
            pass
        yield response


@contextmanager
def wreq_read(stream: Stream) -> Iterator[Any]:
    with wreq.blocking.Client().get(stream.address) as response:
        response.bytes()
        yield response


@contextmanager
def boto3_read(stream: Stream) -> Iterator[Any]:
    with urllib3.PoolManager() as pool:
        body = StreamingBody(pool.request("GET", stream.address, preload_content=False), None)
        body.read()
        yield body


@contextmanager
def openai_read(stream: Stream) -> Iterator[Any]:
    with openai.OpenAI(base_url=stream.url, api_key="none") as client:
        create = client.chat.completions.with_streaming_response.create
        with create(model="m", messages=HI, stream=True) as response:
            response.read()
            yield response


@contextmanager
def file_read(_: Stream) -> Iterator[Any]:
    file = io.BytesIO(WHOLE)
    file.read()
    yield file


IN_MEMORY: Final[dict[str, Open]] = {
    "httpx, whole": httpx_whole,
    "httpx, read()": httpx_read,
    "httpx2, whole": httpx2_whole,
    "requests, whole": requests_whole,
    "urllib3, whole": urllib3_whole,
    "curl_cffi, whole": curl_cffi_whole,
    "pyreqwest, whole": pyreqwest_whole,
    "pyreqwest, bytes()": pyreqwest_read,
    "OpenAI SDK, read()": openai_read,
}
GONE: Final[dict[str, tuple[Open, type[Exception] | tuple[type[Exception], ...]]]] = {
    "httpx, iterated": (httpx_iterated, httpx.StreamConsumed),
    "httpx, left": (httpx_left, httpx.StreamClosed),
    "httpx2, iterated": (httpx2_iterated, httpx2.StreamConsumed),
    "requests, iterated": (requests_iterated, SSEWireError),
    "requests, closed": (requests_closed, SSEWireError),
    "urllib3, read()": (urllib3_read, SSEWireError),
    "urllib3, closed": (urllib3_closed, SSEWireError),
    "http.client, read()": (http_client_read, SSEWireError),
    "urllib.request, read()": (urllib_request_read, SSEWireError),
    "curl_cffi, iterated": (curl_cffi_iterated, SSEWireError),
    "pyreqwest, iterated": (pyreqwest_iterated, RuntimeError),
    "wreq, bytes()": (wreq_read, SSEWireError),
    "boto3 StreamingBody, read()": (boto3_read, SSEWireError),
    "a file, read()": (file_read, SSEWireError),
}


def read(response: Any) -> None:
    stream = ChatStream(response)
    assert "".join(stream.iter_text()) == "".join(TEXTS)
    assert stream.state == "done"


@pytest.mark.parametrize("name", IN_MEMORY)
def test_source_consumed_but_kept(name: str, server: Server) -> None:
    with IN_MEMORY[name](server.stream("whole")) as response:
        read(response)


@pytest.mark.parametrize("name", GONE)
def test_source_consumed_and_gone(name: str, server: Server) -> None:
    open_stream, error = GONE[name]
    with open_stream(server.stream("whole")) as response, pytest.raises(error, match=r"\w"):
        read(response)


@pytest.mark.parametrize("setup", SYNC, ids=str)
def test_source_consumed_by_a_first_loop(setup: Setup, server: Server) -> None:
    """A second loop over a stream that is over gives nothing new, and its state says how it ended."""
    with setup.client.open(server.stream("whole")) as response:
        stream = ChatStream(response)
        assert len(list(stream)) == len(EVENTS)
        assert (list(stream), list(stream.iter_text()), stream.state) == ([], [], "done")
