"""Clients that are written in C or Rust, both kinds: curl_cffi, pyreqwest, wreq."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import curl_cffi
import wreq
import wreq.blocking
from pyreqwest.client import ClientBuilder, SyncClientBuilder

from tests.clients.client import ASYNCIO, Client
from tests.clients.served import Stream

CURL_LIMITS = (
    "Synchronously, it uses no connection again: each stream has one of its own.",
    "When a response is closed, it waits for the server's next bytes, or its end; the stream does not. So leave the "
    "stream first: give it a `with` block of its own inside that of the response.",
    "Its `timeout` for a stream is a lowest speed, and a silent server is noticed some seconds later. `idle_timeout` "
    "is exact.",
)
PYREQWEST_LIMITS = (
    "Without `streamed_read_buffer_limit(0)` it reads 64 KiB before it hands out the response.",
    "It waits for ever unless it is told a `read_timeout`.",
)
WREQ_LIMIT = "It waits for ever unless it is told a `read_timeout`."
DEAF_LIMIT = "Synchronously, Ctrl-C is not heard while it waits for bytes."


def curl_options(stream: Stream) -> dict[str, Any]:
    """What a session of curl_cffi is told, of both kinds."""
    return {
        "timeout": stream.timeout,
        "verify": stream.authority,
        "http_version": "v2" if stream.http2 else "v1",
    }


@contextmanager
def with_curl_cffi(stream: Stream) -> Iterator[Any]:
    with (
        curl_cffi.Session(**curl_options(stream)) as session,
        session.stream("POST", stream.address, json=stream.body) as response,
    ):
        yield response


@asynccontextmanager
async def with_async_curl_cffi(stream: Stream) -> AsyncIterator[Any]:
    async with (
        curl_cffi.AsyncSession(**curl_options(stream)) as session,
        session.stream("POST", stream.address, json=stream.body) as response,
    ):
        yield response


@contextmanager
def with_pyreqwest(stream: Stream) -> Iterator[Any]:
    builder = SyncClientBuilder().read_timeout(timedelta(seconds=stream.timeout)).http2(stream.http2)
    client = builder.add_root_certificate_pem(stream.pem).build()
    request = client.post(stream.address).body_json(stream.body).streamed_read_buffer_limit(0)
    with client, request.build_streamed() as response:
        yield response


@asynccontextmanager
async def with_async_pyreqwest(stream: Stream) -> AsyncIterator[Any]:
    builder = ClientBuilder().read_timeout(timedelta(seconds=stream.timeout)).http2(stream.http2)
    client = builder.add_root_certificate_pem(stream.pem).build()
    request = client.post(stream.address).body_json(stream.body).streamed_read_buffer_limit(0)
    async with client, request.build_streamed() as response:
        yield response


async def _until_none(read: Callable[[], Awaitable[Any]]) -> AsyncIterator[Any]:
    while (data := await read()) is not None:
        yield data


@contextmanager
def with_wreq(stream: Stream) -> Iterator[Any]:
    client = wreq.blocking.Client(
        read_timeout=timedelta(seconds=stream.timeout),
        tls_verify=Path(stream.authority),
        http1_only=not stream.http2,
        http2_only=stream.http2,
    )
    try:
        with client.post(stream.address, json=stream.body) as response:
            yield response
    finally:
        client.close()


@asynccontextmanager
async def with_async_wreq(stream: Stream) -> AsyncIterator[Any]:
    client = wreq.Client(
        read_timeout=timedelta(seconds=stream.timeout),
        tls_verify=Path(stream.authority),
        http1_only=not stream.http2,
        http2_only=stream.http2,
    )
    try:
        async with client.post(stream.address, json=stream.body) as response:
            yield response
    finally:
        client.close()


# What goes for both kinds.
CURL: dict[str, Any] = {
    "name": "curl_cffi",
    "broken": "curl_cffi.exceptions.IncompleteRead",
    "reset": ("curl_cffi.exceptions.ConnectionError", "curl_cffi.exceptions.HTTPError"),
    "timeout": "curl_cffi.exceptions.Timeout",
    "http2": True,
}
PYREQWEST: dict[str, Any] = {
    "name": "pyreqwest",
    "broken": "pyreqwest.exceptions.ReadError",
    "short": "pyreqwest.exceptions.RequestError",
    "reset": "pyreqwest.exceptions.RequestError",
    "timeout": "pyreqwest.exceptions.ReadTimeoutError",
    "http2": True,
    "lets_go": False,
    "wakes": False,
    "resets": False,
}
WREQ: dict[str, Any] = {
    "name": "wreq",
    "broken": ("wreq.exceptions.RequestError", "wreq.exceptions.DecodingError"),
    "reset": ("wreq.exceptions.ConnectionResetError", "wreq.exceptions.RequestError"),
    "timeout": "wreq.exceptions.BodyError",
    "http2": True,
    "follows": False,
}

CLIENTS = [
    Client(
        open=with_curl_cffi,
        bare=lambda response: response.iter_content(),
        use="`with session.stream(...) as response, ChatStream(response) as stream: ...`",
        example="""
            import curl_cffi, ssewire

            request = ssewire.Provider("https://host/v1").request(model="m", messages=[])
            with curl_cffi.Session() as session, session.stream(**request) as response:
                with ssewire.ChatStream(response) as stream:
                    for text in stream.iter_text():
                        print(text, end="")
        """,
        limits=CURL_LIMITS,
        **CURL,
    ),
    Client(
        open=with_async_curl_cffi,
        bare=lambda response: response.aiter_content(),
        backends=ASYNCIO,
        use="`async with session.stream(...) as response, AsyncChatStream(response) as stream: ...`",
        example="""
            import asyncio, curl_cffi, ssewire


            async def main() -> None:
                request = ssewire.Provider("https://host/v1").request(model="m", messages=[])
                async with curl_cffi.AsyncSession() as session, session.stream(**request) as response:
                    async with ssewire.AsyncChatStream(response) as stream:
                        async for text in stream.iter_text():
                            print(text, end="")


            asyncio.run(main())
        """,
        limits=CURL_LIMITS,
        **CURL,
    ),
    Client(
        open=with_pyreqwest,
        bare=lambda response: iter(response.body_reader.read_chunk, None),
        use="`with request.streamed_read_buffer_limit(0).build_streamed() as response: ...`",
        example="""
            import ssewire
            from datetime import timedelta
            from pyreqwest.client import SyncClientBuilder

            request = ssewire.Provider("https://host/v1").request(model="m", messages=[])
            with SyncClientBuilder().read_timeout(timedelta(seconds=60)).build() as client:
                asking = client.post(request["url"]).headers(request["headers"]).body_json(request["json"])
                with asking.streamed_read_buffer_limit(0).build_streamed() as response:
                    for text in ssewire.ChatStream(response).iter_text():
                        print(text, end="")
        """,
        limits=(
            *PYREQWEST_LIMITS,
            DEAF_LIMIT,
            "Synchronously, `drain=True` reads nothing more, and a connection is not used again.",
        ),
        **PYREQWEST,
    ),
    Client(
        open=with_async_pyreqwest,
        bare=lambda response: _until_none(response.body_reader.read_chunk),
        backends=ASYNCIO,
        use="`async with request.streamed_read_buffer_limit(0).build_streamed() as response: ...`",
        limits=(
            *PYREQWEST_LIMITS,
            "It raises a `CancelledError` of its own, which scopes of anyio do not take for theirs; `asyncio.timeout` "
            "does.",
            "A program that ends right behind its asynchronous client may be aborted by the interpreter (seen with "
            "0.15, also without this library): a thread of the client is not done by then.",
        ),
        **PYREQWEST,
    ),
    Client(
        open=with_wreq,
        bare=lambda response: response.stream(),
        use="`with client.post(...) as response: ChatStream(response)`",
        example="""
            import ssewire, wreq.blocking
            from datetime import timedelta

            request = ssewire.Provider("https://host/v1").request(model="m", messages=[])
            client = wreq.blocking.Client(read_timeout=timedelta(seconds=60))
            with client.post(request["url"], headers=request["headers"], json=request["json"]) as response:
                for text in ssewire.ChatStream(response).iter_text():
                    print(text, end="")
        """,
        limits=(WREQ_LIMIT, DEAF_LIMIT),
        **WREQ,
    ),
    Client(
        open=with_async_wreq,
        bare=lambda response: response.stream(),
        backends=ASYNCIO,
        use="`async with client.post(...) as response: AsyncChatStream(response)`",
        example="""
            import asyncio, ssewire, wreq
            from datetime import timedelta


            async def main() -> None:
                request = ssewire.Provider("https://host/v1").request(model="m", messages=[])
                client = wreq.Client(read_timeout=timedelta(seconds=60))
                async with client.post(request["url"], headers=request["headers"], json=request["json"]) as response:
                    async for text in ssewire.AsyncChatStream(response).iter_text():
                        print(text, end="")


            asyncio.run(main())
        """,
        limits=(WREQ_LIMIT,),
        **WREQ,
    ),
]
