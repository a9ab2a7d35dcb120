"""urllib3 and requests, the standard library, and aiohttp."""

from __future__ import annotations

import http.client
import json
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import Any
from urllib.error import HTTPError

import aiohttp
import requests
import urllib3

from tests.clients.client import ASYNCIO, Client
from tests.clients.served import HOST, Stream


@contextmanager
def with_requests(stream: Stream) -> Iterator[Any]:
    with requests.Session() as session:
        tells: dict[str, Any] = {"json": stream.body, "timeout": stream.timeout, "verify": stream.authority}
        with session.post(stream.address, stream=True, **tells) as response:
            yield response


@contextmanager
def with_urllib3(stream: Stream) -> Iterator[Any]:
    with urllib3.PoolManager(timeout=stream.timeout, ssl_context=stream.context) as pool:
        yield pool.request("POST", stream.address, json=stream.body, preload_content=False)


@contextmanager
def with_http_client(stream: Stream) -> Iterator[Any]:
    connection = http.client.HTTPConnection(HOST, stream.port, timeout=stream.timeout)
    if stream.tls:
        connection = http.client.HTTPSConnection(HOST, stream.port, timeout=stream.timeout, context=stream.context)
    try:
        connection.request("POST", stream.path + stream.query, json.dumps(stream.body))
        yield connection.getresponse()
    finally:
        connection.close()


@contextmanager
def with_urllib_request(stream: Stream) -> Iterator[Any]:
    request = urllib.request.Request(stream.address, json.dumps(stream.body).encode())
    try:
        response = urllib.request.urlopen(request, timeout=stream.timeout, context=stream.context)
    except HTTPError as refusal:
        response = refusal  # a response like any other, which urllib raises
    with response:
        yield response


@asynccontextmanager
async def with_async_aiohttp(stream: Stream) -> AsyncIterator[Any]:
    # aiohttp's default cuts any answer off after five minutes in all; what counts for a stream is the silence.
    timeout = aiohttp.ClientTimeout(total=None, sock_read=stream.timeout)
    async with (
        aiohttp.ClientSession(timeout=timeout) as session,
        session.post(stream.address, json=stream.body, ssl=stream.context) as response,
    ):
        yield response


CLIENTS = [
    Client(
        name="requests",
        open=with_requests,
        bare=lambda response: iter(partial(response.raw.read1, decode_content=True), b""),
        use="`ChatStream(session.post(..., stream=True))`",
        example="""
            import requests, ssewire

            request = ssewire.Provider("https://host/v1").request(model="m", messages=[])
            with requests.request(**request, stream=True, timeout=60) as response:
                for text in ssewire.ChatStream(response).iter_text():
                    print(text, end="")
        """,
        limits=("It waits for ever unless it is told a `timeout`. It needs urllib3 2.2 or later.",),
        broken="requests.exceptions.ChunkedEncodingError",
        reset="requests.exceptions.ChunkedEncodingError",
        timeout="requests.exceptions.ConnectionError",
    ),
    Client(
        name="urllib3",
        open=with_urllib3,
        bare=lambda response: iter(partial(response.read1, decode_content=True), b""),
        use="`ChatStream(urllib3.request(..., preload_content=False))`",
        example="""
            import ssewire, urllib3

            request = ssewire.Provider("https://host/v1").request(model="m", messages=[])
            response = urllib3.request(**request, preload_content=False, timeout=60)
            for text in ssewire.ChatStream(response).iter_text():
                print(text, end="")
        """,
        limits=("It needs to be 2.2 or later: older ones have no read that is at once for every kind of body.",),
        broken="urllib3.exceptions.ProtocolError",
        reset="urllib3.exceptions.ProtocolError",
        timeout="urllib3.exceptions.ReadTimeoutError",
    ),
    Client(
        name="http.client",
        open=with_http_client,
        bare=lambda response: iter(response.read1, b""),
        use="`ChatStream(connection.getresponse())`",
        example="""
            import http.client, json, ssewire
            from urllib.parse import urlsplit

            request = ssewire.Provider("https://host/v1").request(model="m", messages=[])
            url = urlsplit(request["url"])
            kind = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
            connection = kind(url.netloc, timeout=60)
            target = url._replace(scheme="", netloc="").geturl()
            connection.request("POST", target, json.dumps(request["json"]), request["headers"])
            for text in ssewire.ChatStream(connection.getresponse()).iter_text():
                print(text, end="")
            connection.close()
        """,
        broken="http.client.IncompleteRead",
        short="ssewire.IncompleteStreamError",
        reset=("builtins.ConnectionResetError", "http.client.IncompleteRead"),
        timeout="builtins.TimeoutError",
        encodings=(),
        follows=False,
        lets_go=False,
    ),
    Client(
        name="urllib.request",
        open=with_urllib_request,
        bare=lambda response: iter(response.read1, b""),
        use="`ChatStream(urlopen(...))`",
        example="""
            import json, ssewire
            from urllib.request import Request, urlopen

            request = ssewire.Provider("https://host/v1").request(model="m", messages=[])
            headers = request["headers"] | {"Content-Type": "application/json"}
            body = json.dumps(request["json"]).encode()
            with urlopen(Request(request["url"], body, headers), timeout=60) as response:
                for text in ssewire.ChatStream(response).iter_text():
                    print(text, end="")
        """,
        limits=("For a bad status it raises `HTTPError`, which is a response: hand that over to know why.",),
        broken="http.client.IncompleteRead",
        short="ssewire.IncompleteStreamError",
        reset=("builtins.ConnectionResetError", "http.client.IncompleteRead"),
        timeout="builtins.TimeoutError",
        encodings=(),
        follows=False,
    ),
    Client(
        name="aiohttp",
        open=with_async_aiohttp,
        bare=lambda response: response.content.iter_any(),
        backends=ASYNCIO,
        use="`async with session.post(...) as response: AsyncChatStream(response)`",
        example="""
            import aiohttp, asyncio, ssewire


            async def main() -> None:
                request = ssewire.Provider("https://host/v1").request(model="m", messages=[])
                timeout = aiohttp.ClientTimeout(total=None, sock_read=60)
                async with aiohttp.ClientSession(timeout=timeout) as session, session.request(**request) as response:
                    async for text in ssewire.AsyncChatStream(response).iter_text():
                        print(text, end="")


            asyncio.run(main())
        """,
        limits=(
            "Its default cuts every answer off after 300 seconds in all: give it "
            "`ClientTimeout(total=None, sock_read=60)`, which limits the silence.",
        ),
        broken="aiohttp.ClientPayloadError",
        reset="aiohttp.ClientPayloadError",
        timeout="aiohttp.SocketTimeoutError",
    ),
]
