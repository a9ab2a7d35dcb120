"""httpx and httpx2, both kinds: what is said of the one goes for the other."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager, contextmanager
from typing import Any

import httpx
import httpx2

from tests.clients.client import BOTH, TRIO_LIMITS, Client
from tests.clients.served import Stream

HTTPX_LIMITS = "It waits 5 seconds for bytes unless it is told a `timeout`, and a model may think for longer."

EXAMPLE = """
            import httpx, ssewire

            request = ssewire.Provider("https://host/v1").request(model="m", messages=[])
            with httpx.stream(**request, timeout=60) as response:
                for text in ssewire.ChatStream(response).iter_text():
                    print(text, end="")
        """

ASYNC_EXAMPLE = """
            import asyncio, httpx, ssewire


            async def main() -> None:
                request = ssewire.Provider("https://host/v1").request(model="m", messages=[])
                async with httpx.AsyncClient(timeout=60) as client, client.stream(**request) as response:
                    async for text in ssewire.AsyncChatStream(response).iter_text():
                        print(text, end="")


            asyncio.run(main())
        """


def opening(package: Any) -> Callable[[Stream], AbstractContextManager[Any]]:
    @contextmanager
    def opened(stream: Stream) -> Iterator[Any]:
        with (
            package.Client(timeout=stream.timeout, verify=stream.context, http2=stream.http2) as client,
            client.stream("POST", stream.address, json=stream.body) as response,
        ):
            yield response

    return opened


def async_opening(package: Any) -> Callable[[Stream], AbstractAsyncContextManager[Any]]:
    @asynccontextmanager
    async def opened(stream: Stream) -> AsyncIterator[Any]:
        async with (
            package.AsyncClient(timeout=stream.timeout, verify=stream.context, http2=stream.http2) as client,
            client.stream("POST", stream.address, json=stream.body) as response,
        ):
            yield response

    return opened


def rows(package: Any) -> list[Client]:
    name = package.__name__
    facts: dict[str, Any] = {
        "name": name,
        "broken": f"{name}.RemoteProtocolError",
        "reset": (f"{name}.ReadError", f"{name}.RemoteProtocolError"),
        "timeout": f"{name}.ReadTimeout",
        "http2": True,
        "resets": False,
        "follows": False,
    }
    return [
        Client(
            open=opening(package),
            bare=lambda response: response.iter_bytes(),
            use="`with client.stream(...) as response: ChatStream(response)`",
            example=EXAMPLE.replace("httpx", name),
            limits=(HTTPX_LIMITS,),
            **facts,
        ),
        Client(
            open=async_opening(package),
            bare=lambda response: response.aiter_bytes(),
            backends=BOTH,
            use="`async with client.stream(...) as response: AsyncChatStream(response)`",
            example=ASYNC_EXAMPLE.replace("httpx", name),
            limits=(HTTPX_LIMITS, TRIO_LIMITS),
            **facts,
        ),
    ]


CLIENTS = [*rows(httpx), *rows(httpx2)]
