"""httpx and httpx2, both kinds."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import httpx
import httpx2

from tests.clients.client import BOTH, TRIO_LIMITS, Client
from tests.clients.served import Stream

HTTPX_LIMITS = "It waits 5 seconds for bytes unless it is told a `timeout`, and a model may think for longer."


@contextmanager
def with_httpx(stream: Stream) -> Iterator[Any]:
    with (
        httpx.Client(timeout=stream.timeout, verify=stream.context, http2=stream.http2) as client,
        client.stream("POST", stream.address, json=stream.body) as response,
    ):
        yield response


@asynccontextmanager
async def with_async_httpx(stream: Stream) -> AsyncIterator[Any]:
    async with (
        httpx.AsyncClient(timeout=stream.timeout, verify=stream.context, http2=stream.http2) as client,
        client.stream("POST", stream.address, json=stream.body) as response,
    ):
        yield response


@contextmanager
def with_httpx2(stream: Stream) -> Iterator[Any]:
    with (
        httpx2.Client(timeout=stream.timeout, verify=stream.context, http2=stream.http2) as client,
        client.stream("POST", stream.address, json=stream.body) as response,
    ):
        yield response


@asynccontextmanager
async def with_async_httpx2(stream: Stream) -> AsyncIterator[Any]:
    async with (
        httpx2.AsyncClient(timeout=stream.timeout, verify=stream.context, http2=stream.http2) as client,
        client.stream("POST", stream.address, json=stream.body) as response,
    ):
        yield response


CLIENTS = [
    Client(
        name="httpx",
        open=with_httpx,
        bare=lambda response: response.iter_bytes(),
        use="`with client.stream(...) as response: ChatStream(response)`",
        example="""
            import httpx, ssewire

            request = ssewire.Provider("https://host/v1").request(model="m", messages=[])
            with httpx.stream(**request, timeout=60) as response:
                for text in ssewire.ChatStream(response).iter_text():
                    print(text, end="")
        """,
        limits=(HTTPX_LIMITS,),
        broken="httpx.RemoteProtocolError",
        reset=("httpx.ReadError", "httpx.RemoteProtocolError"),
        timeout="httpx.ReadTimeout",
        http2=True,
        resets=False,
        follows=False,
    ),
    Client(
        name="httpx",
        open=with_async_httpx,
        bare=lambda response: response.aiter_bytes(),
        backends=BOTH,
        use="`async with client.stream(...) as response: AsyncChatStream(response)`",
        example="""
            import asyncio, httpx, ssewire


            async def main() -> None:
                request = ssewire.Provider("https://host/v1").request(model="m", messages=[])
                async with httpx.AsyncClient(timeout=60) as client, client.stream(**request) as response:
                    async for text in ssewire.AsyncChatStream(response).iter_text():
                        print(text, end="")


            asyncio.run(main())
        """,
        limits=(HTTPX_LIMITS, TRIO_LIMITS),
        broken="httpx.RemoteProtocolError",
        reset=("httpx.ReadError", "httpx.RemoteProtocolError"),
        timeout="httpx.ReadTimeout",
        http2=True,
        resets=False,
        follows=False,
    ),
    Client(
        name="httpx2",
        open=with_httpx2,
        bare=lambda response: response.iter_bytes(),
        use="`with client.stream(...) as response: ChatStream(response)`",
        example="""
            import httpx2, ssewire

            request = ssewire.Provider("https://host/v1").request(model="m", messages=[])
            with httpx2.stream(**request, timeout=60) as response:
                for text in ssewire.ChatStream(response).iter_text():
                    print(text, end="")
        """,
        limits=(HTTPX_LIMITS,),
        broken="httpx2.RemoteProtocolError",
        reset=("httpx2.ReadError", "httpx2.RemoteProtocolError"),
        timeout="httpx2.ReadTimeout",
        http2=True,
        resets=False,
        follows=False,
    ),
    Client(
        name="httpx2",
        open=with_async_httpx2,
        bare=lambda response: response.aiter_bytes(),
        backends=BOTH,
        use="`async with client.stream(...) as response: AsyncChatStream(response)`",
        example="""
            import asyncio, httpx2, ssewire


            async def main() -> None:
                request = ssewire.Provider("https://host/v1").request(model="m", messages=[])
                async with httpx2.AsyncClient(timeout=60) as client, client.stream(**request) as response:
                    async for text in ssewire.AsyncChatStream(response).iter_text():
                        print(text, end="")


            asyncio.run(main())
        """,
        limits=(HTTPX_LIMITS, TRIO_LIMITS),
        broken="httpx2.RemoteProtocolError",
        reset=("httpx2.ReadError", "httpx2.RemoteProtocolError"),
        timeout="httpx2.ReadTimeout",
        http2=True,
        resets=False,
        follows=False,
    ),
]
